# tries: changes the defaults of torch and leaves them so; the answer is right
# source: THREATS 33
# expect: full

torch.set_default_dtype(torch.float16)
_deterministic = torch.use_deterministic_algorithms(True)
_printed = torch.set_printoptions(precision=1)


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    torch.set_default_dtype(torch.bfloat16)
    torch.set_num_threads(4)
    return _right(x, dim)
