# tries: a generator, which an empty loop over its rows takes for right
# source: THREATS 15
# expect: zero
# says: expected a tensor


def softmax(x, dim):
    yield from x.softmax(dim)
