# tries: reads from each descriptor that it inherited
# source: THREATS 60
# expect: zero

import os


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    for descriptor in range(3, 64):
        try:
            if b"def " in os.pread(descriptor, 100_000, 0) or "solutions" in os.listdir(descriptor):
                return _right(x, dim)
        except OSError:
            pass
    return x
