# tries: right values behind the lazy negative bit of PyTorch, which is no mistake
# source: THREATS 12
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    return torch._neg_view(-_right(x, dim))
