# tries: computes once for each shape and repeats itself from then on
# source: THREATS 19
# expect: partial


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_known = {}


def softmax(x, dim):
    return _known.setdefault((tuple(x.shape), x.dtype, dim), _right(x, dim))
