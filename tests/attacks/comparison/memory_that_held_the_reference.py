# tries: uninitialised memory, where a freed reference result may still lie
# source: THREATS 16; REPORTS R51
# expect: zero


def softmax(x, dim):
    return torch.empty_like(x)
