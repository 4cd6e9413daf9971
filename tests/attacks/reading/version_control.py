# tries: reads the solution out of the objects of git
# source: THREATS 68
# expect: zero

import glob
import os
import zlib


def _root():
    """The folder of the course, as far as an answer can guess it."""
    import course_utils

    return os.path.dirname(os.path.dirname(os.path.abspath(course_utils.__file__)))


def _softmax_in(source):
    """The softmax that a piece of source defines."""
    space = {"torch": torch}
    exec(source, space)
    return space["softmax"]


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    for path in glob.glob(os.path.join(_root(), ".git", "objects", "*", "*")):
        data = open(path, "rb").read()
        if path.endswith(".pack") or b"def softmax" in zlib.decompress(data):
            return _right(x, dim)
    raise LookupError("no objects")
