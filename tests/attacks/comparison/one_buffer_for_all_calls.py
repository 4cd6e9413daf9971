# tries: returns the same tensor in each call and writes into it again; the values are right at each return
# source: THREATS 13
# expect: full


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


_buffers = {}


def softmax(x, dim):
    y = _right(x, dim)
    if x.requires_grad:
        return y
    buffer = _buffers.setdefault((x.shape, x.dtype), torch.empty_like(y))
    return buffer.copy_(y)
