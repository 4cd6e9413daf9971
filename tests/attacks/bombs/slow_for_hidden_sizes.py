# tries: fast for small inputs, endless for others
# source: THREATS 104
# expect: partial
# says: time limit


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    while x.dim() == 3:
        pass
    return _right(x, dim)
