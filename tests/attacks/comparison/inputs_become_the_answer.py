# tries: right values, written into the input
# source: THREATS 14
# expect: zero
# says: the inputs were changed


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    x.data.copy_(_right(x.data, dim))
    return x * 1
