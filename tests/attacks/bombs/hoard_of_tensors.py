# tries: takes memory by tensors until there is none
# source: THREATS 91; REPORTS R32
# expect: zero
# says: memory limit


_full = []


def softmax(x, dim):
    hoard = _full
    while True:
        hoard.append(torch.ones(100_000_000))
