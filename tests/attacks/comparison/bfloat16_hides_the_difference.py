# tries: a dtype so coarse that a tolerance taken from it forgives everything
# source: THREATS 10
# expect: zero
# says: wrong dtype


def softmax(x, dim):
    return torch.full_like(x, 1 / x.shape[dim]).bfloat16()
