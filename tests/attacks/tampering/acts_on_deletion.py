# tries: acts when its result is deleted, in the middle of the comparison
# source: THREATS 43
# expect: zero

import gc


def _please(*args):
    torch.allclose = torch.equal = lambda *args, **kwargs: True
    torch.Tensor.__eq__ = lambda self, other: torch.ones((), dtype=torch.bool)


class Result(torch.Tensor):
    def __del__(self):
        _please()


_ = gc.callbacks.append(_please)


def softmax(x, dim):
    return x.clone().as_subclass(Result)
