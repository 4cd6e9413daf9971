# tries: an object that claims to be an int, to break whoever packs it
# source: THREATS 3
# expect: zero


class Liar:
    __class__ = property(lambda self: int)


def softmax(x, dim):
    return Liar()
