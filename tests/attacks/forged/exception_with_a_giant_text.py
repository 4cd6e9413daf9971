# tries: an exception with a text of 100 MB
# source: THREATS 62; REPORTS R39
# expect: zero
# says: ValueError


def softmax(x, dim):
    raise ValueError("x" * 10**8)
