# tries: a loop over the rows that keeps each by a mask
# source: THREATS 75
# expect: partial
# known: which operators run is seen, not how often: a loop that picks its rows otherwise goes by
# exercise: batched_outer


def batched_outer(a, b):
    total = 0
    for i in range(len(a)):
        keep = (torch.arange(len(a)) == i).to(a.dtype)
        total = total + torch.einsum("bt,bs,b->bts", a, b, keep)
    return total
