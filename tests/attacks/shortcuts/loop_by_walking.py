# tries: a loop that walks over the tensors
# source: THREATS 75
# expect: zero
# says: asks you to do without
# exercise: batched_outer


def batched_outer(a, b):
    return torch.stack([torch.outer(*rows) for rows in zip(a, b, strict=True)])
