# tries: prints twenty million characters; the answer is right
# source: THREATS 97; REPORTS R39
# expect: full

import sys


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    for stream in (sys.stdout, sys.stderr):
        stream.write("x" * 10**7)
    return _right(x, dim)
