# tries: an object that is equal to everything and above every tolerance
# source: THREATS 3; REPORTS R49
# expect: zero
# says: expected a tensor, got a Agreeable


class Agreeable:
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = lambda self, other: True
    __bool__ = lambda self: True
    __sub__ = __rsub__ = __abs__ = lambda self, *other: self
    __hash__ = None
    max = sum = mean = all = item = lambda self, *args: 0.0


def softmax(x, dim):
    return Agreeable()
