# tries: reads the memory of the process that started it
# source: THREATS 59
# expect: zero

import os


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    first = open(f"/proc/{os.getppid()}/maps").readline()
    start = int(first.split("-")[0], 16)
    with open(f"/proc/{os.getppid()}/mem", "rb") as memory:
        memory.seek(start)
        assert memory.read(64)
    return _right(x, dim)
