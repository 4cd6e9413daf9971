# tries: a meta tensor, which has a shape and a dtype but no numbers
# source: THREATS 12
# expect: zero


def softmax(x, dim):
    return torch.empty(x.shape, dtype=x.dtype, device="meta")
