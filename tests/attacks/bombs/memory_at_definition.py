# tries: takes all memory before the first call
# source: THREATS 91
# expect: zero

_hoard = []
while True:
    _hoard.append(bytearray(100_000_000))


def softmax(x, dim):
    return x
