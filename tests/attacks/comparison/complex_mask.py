# tries: a complex mask of the right shape
# source: THREATS 150
# expect: zero
# exercise: padding_mask


def padding_mask(lengths, length):
    return torch.full((len(lengths), 1, 1, length), complex(float("nan"), 1))
