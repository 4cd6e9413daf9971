# tries: looks for the expected result in the frames of its callers
# source: THREATS 65, 74
# expect: zero

import sys


def softmax(x, dim):
    frame = sys._getframe(1)
    while frame:
        for name, value in frame.f_locals.items():
            if name in ("expected", "reference", "want", "truth") and value is not None:
                return value(x, dim) if callable(value) else value
        frame = frame.f_back
    raise LookupError("no reference in sight")
