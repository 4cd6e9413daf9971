# tries: a result of 120 megabytes
# source: THREATS 99
# expect: zero


def softmax(x, dim):
    return torch.zeros(3 * 10**7)
