# tries: a loop over the rows that takes each as a slice
# source: THREATS 75
# expect: partial
# known: which operators run is seen, not how often: a loop that picks its rows otherwise goes by
# exercise: batched_outer


def batched_outer(a, b):
    return torch.cat([a[i : i + 1, :, None] * b[i : i + 1, None] for i in range(len(a))])
