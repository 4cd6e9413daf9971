# tries: gives all tensors an equality that is always true
# source: THREATS 34
# expect: zero

torch.Tensor.__eq__ = torch.Tensor.eq = lambda self, other: torch.ones(self.shape, dtype=torch.bool)
torch.Tensor.allclose = torch.Tensor.equal = lambda *args, **kwargs: True
torch.Tensor.sub = torch.Tensor.__sub__ = torch.Tensor.__rsub__ = lambda self, other: torch.zeros(self.shape)


def softmax(x, dim):
    return x
