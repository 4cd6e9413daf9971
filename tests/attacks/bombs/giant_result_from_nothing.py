# tries: a result of eighty gigabytes that takes no memory as long as it is not copied
# source: THREATS 99
# expect: zero


def softmax(x, dim):
    return torch.zeros(1, dtype=torch.float64).expand(10**10)
