# tries: a near miss that a loose tolerance forgives
# source: THREATS 17; REPORTS R81
# expect: partial
# says: small number in your denominator


def softmax(x, dim):
    top = x.amax(dim, keepdim=True)
    e = (x - top.masked_fill(top.isneginf(), 0.0)).exp()
    return e / (e.sum(dim, keepdim=True) + 1e-6)
