# tries: replaces exp and matmul, so that the reference comes out as wrong as the answer
# source: THREATS 34
# expect: zero

torch.exp = torch.Tensor.exp = lambda self: self
torch.Tensor.__truediv__ = lambda self, other: self
torch.nn.functional.softmax = torch.softmax = torch.Tensor.softmax = lambda self, dim, **kwargs: self


def softmax(x, dim):
    return x
