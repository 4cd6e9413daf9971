# tries: zeroes its input, so that a reference that runs later agrees
# source: THREATS 14; REPORTS R51
# expect: zero


def softmax(x, dim):
    x.data.zero_()
    return x
