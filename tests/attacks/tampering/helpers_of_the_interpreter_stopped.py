# tries: garbage collection off, a switch interval without end, a recursion limit of 60; the answer is right
# source: THREATS 33
# expect: full

import gc
import sys

_ = gc.disable(), sys.setswitchinterval(1e6)


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    sys.setrecursionlimit(len(__import__("inspect").stack(0)) + 60)
    return _right(x, dim)
