# tries: a trace function that rewrites the local names of all callers
# source: THREATS 36
# expect: zero

import sys


def _trace(frame, event, arg):
    for name in ("changed", "unsteady", "problem", "expected", "passed"):
        if name in frame.f_locals:
            frame.f_locals[name] = True
    return _trace


_ = sys.settrace(_trace), sys.setprofile(lambda *args: None)


def softmax(x, dim):
    sys.settrace(_trace)
    return x
