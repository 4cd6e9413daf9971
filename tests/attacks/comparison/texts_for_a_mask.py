# tries: a text in place of a mask
# source: THREATS 150
# expect: zero
# exercise: causal_mask


def causal_mask(length, device=None):
    return "True" * length
