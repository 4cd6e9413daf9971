# tries: makes all random numbers known, so that the inputs are
# source: THREATS 32
# expect: zero

torch.manual_seed = lambda seed: None
torch.randn = torch.rand = lambda *shape, **kwargs: torch.zeros(shape)
torch.default_generator.manual_seed(0)


def softmax(x, dim):
    return torch.full_like(x, 1 / x.shape[dim])
