# tries: complex numbers whose real part is right
# source: THREATS 10
# expect: zero
# says: wrong dtype


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    return torch.complex(_right(x, dim).double(), torch.ones(x.shape, dtype=torch.float64))
