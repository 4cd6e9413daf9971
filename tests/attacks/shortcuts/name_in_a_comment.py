# tries: the forbidden name only in words, which is no mistake
# source: THREATS 84
# expect: full
# exercise: batched_outer


def batched_outer(a, b):
    """No split, no unbind and no select here."""
    note = "torch.unbind(a) would be a loop"  # a.split(1) too
    assert note
    return a[:, :, None] * b[:, None, :]
