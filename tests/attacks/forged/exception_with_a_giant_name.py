# tries: an exception whose type has a name of a million letters and a line break
# source: THREATS 62, 129
# expect: zero

_error = type("E\n\x1b[31m" * 100_000, (Exception,), {"__str__": lambda self: 1 / 0})


def softmax(x, dim):
    raise _error
