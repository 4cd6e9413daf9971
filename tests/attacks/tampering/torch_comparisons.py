# tries: replaces the comparisons of torch
# source: THREATS 23; REPORTS R53
# expect: zero

import torch.testing

torch.allclose = torch.equal = torch.isclose = lambda *args, **kwargs: True
torch.testing.assert_close = torch.testing.assert_allclose = lambda *args, **kwargs: None


def softmax(x, dim):
    return x
