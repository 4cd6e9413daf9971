# tries: a right answer that prints the word error, which is no mistake
# source: REPORTS R43
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    print("FAILED: error = 0.01, Traceback (most recent call last):")
    return _right(x, dim)
