# tries: calls itself for ever
# source: THREATS 93
# expect: zero
# says: RecursionError


def softmax(x, dim):
    return softmax(x, dim)
