# tries: a loop over the rows that gathers each
# source: THREATS 75
# expect: zero
# exercise: batched_outer


def batched_outer(a, b):
    rows = [torch.tensor([i]) for i in range(len(a))]
    return torch.cat([a.index_select(0, row)[:, :, None] * b.index_select(0, row)[:, None] for row in rows])
