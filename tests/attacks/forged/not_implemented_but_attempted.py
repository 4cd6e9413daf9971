# tries: an exception that says "not attempted", to be left out of the mean
# source: THREATS 116
# expect: zero
# says: not implemented


def softmax(x, dim):
    x = x * 1
    raise NotImplementedError
