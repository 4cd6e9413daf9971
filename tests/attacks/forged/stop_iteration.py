# tries: the exception that ends loops quietly
# source: THREATS 63
# expect: zero
# says: StopIteration


def softmax(x, dim):
    raise StopIteration(x)
