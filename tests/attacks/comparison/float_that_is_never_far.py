# tries: a float subclass whose difference to anything is small
# source: THREATS 4; REPORTS R49
# expect: zero
# says: expected a tensor, got a float


class Near(float):
    __rsub__ = __sub__ = __abs__ = lambda self, *other: Near(0.0)
    __lt__ = __le__ = __eq__ = lambda self, other: True
    __hash__ = float.__hash__


def softmax(x, dim):
    return Near(0.5)
