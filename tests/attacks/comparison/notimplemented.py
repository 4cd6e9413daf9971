# tries: NotImplemented, which Python's own comparisons treat as "ask the other"
# source: THREATS 15
# expect: zero
# says: expected a tensor


def softmax(x, dim):
    return NotImplemented
