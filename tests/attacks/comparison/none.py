# tries: returns nothing, which some comparisons skip
# source: THREATS 15
# expect: zero
# says: None (is a return missing?)


def softmax(x, dim):
    weights = x.exp() / x.exp().sum(dim, keepdim=True)  # noqa: F841
