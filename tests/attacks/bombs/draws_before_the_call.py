# tries: a right answer that draws random numbers for itself
# source: REPORTS R64
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_noise = torch.randn(3)


def softmax(x, dim):
    torch.manual_seed(0)
    torch.rand(5)
    return _right(x, dim)
