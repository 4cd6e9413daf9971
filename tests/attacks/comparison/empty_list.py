# tries: an empty list: nothing to compare, nothing wrong
# source: THREATS 15; REPORTS R46
# expect: zero
# says: expected a tensor, got a list


def softmax(x, dim):
    return []
