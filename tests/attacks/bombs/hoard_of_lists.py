# tries: takes memory until there is none
# source: THREATS 91; REPORTS R32, R33
# expect: zero
# says: memory limit


_full = []


def softmax(x, dim):
    hoard = _full
    while True:
        hoard.append([0] * 100_000_000)
