# tries: a tensor of 400 gigabytes
# source: THREATS 91; REPORTS R33
# expect: zero
# says: memory limit


def softmax(x, dim):
    return torch.zeros(10**11) + x.sum()
