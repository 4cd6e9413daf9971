# tries: right values in a view that is not contiguous, which is no mistake
# source: THREATS 12
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    y = _right(x, dim)
    return y.mT.contiguous().mT if y.dim() > 1 else torch.stack([y, y], -1)[..., 0]
