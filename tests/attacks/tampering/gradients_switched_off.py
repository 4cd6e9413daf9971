# tries: switches gradients off for everybody who comes later
# source: THREATS 33
# expect: partial
# says: gradient


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_off = torch.set_grad_enabled(False)


def softmax(x, dim):
    torch.set_grad_enabled(False)
    return _right(x, dim)
