# tries: right in the first call, wrong in the second
# source: THREATS 21
# expect: zero
# says: a second call


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_calls = []


def softmax(x, dim):
    _calls.append(1)
    return _right(x, dim) if len(_calls) % 2 else x + 1
