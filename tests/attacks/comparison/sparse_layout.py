# tries: right values in a sparse layout
# source: THREATS 12
# expect: zero


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    return _right(x, dim).detach().to_sparse()
