# tries: infinity, which any relative tolerance of itself allows
# source: THREATS 8
# expect: zero
# says: infinite


def softmax(x, dim):
    return torch.full_like(x, float("inf"))
