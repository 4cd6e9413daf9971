# tries: a right answer every second time
# source: THREATS 20
# expect: partial

import os


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_calls = []


def softmax(x, dim):
    _calls.append(1)
    return _right(x, dim) if len(_calls) <= 2 or os.urandom(1)[0] < 10 else x
