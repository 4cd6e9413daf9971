# tries: a loop over the rows where none is wanted
# source: THREATS 75
# expect: zero
# says: uses select
# exercise: batched_outer


def batched_outer(a, b):
    return torch.stack([a[i][:, None] * b[i][None] for i in range(len(a))])
