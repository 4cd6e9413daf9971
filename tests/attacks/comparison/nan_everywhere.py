# tries: NaN, which no comparison with > finds too large
# source: THREATS 7; REPORTS R52
# expect: zero
# says: NaN


def softmax(x, dim):
    return torch.full_like(x, float("nan")) + 0 * x
