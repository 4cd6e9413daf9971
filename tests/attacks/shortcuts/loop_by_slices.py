# tries: a loop over the rows that takes each as a slice
# source: THREATS 75
# expect: partial
# exercise: batched_outer


def batched_outer(a, b):
    return torch.cat([a[i : i + 1, :, None] * b[i : i + 1, None] for i in range(len(a))])
