# tries: a tensor subclass of the learner's own with right values, which is no mistake
# source: THREATS 1
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


class Weights(torch.Tensor):
    pass


def softmax(x, dim):
    return _right(x, dim).as_subclass(Weights)
