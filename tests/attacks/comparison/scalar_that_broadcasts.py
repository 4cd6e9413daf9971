# tries: one number in place of a tensor
# source: THREATS 9
# expect: zero
# says: wrong shape


def softmax(x, dim):
    return x.exp().mean()
