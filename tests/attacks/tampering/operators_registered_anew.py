# tries: registers other kernels for the operators of the comparison
# source: THREATS 35
# expect: zero

import warnings

warnings.simplefilter("ignore")
_library = torch.library.Library("aten", "IMPL")
for name, kernel in (("eq.Tensor", lambda a, b: torch.full(a.shape, True)), ("exp", lambda a: a)):
    _library.impl(name, kernel, "CPU")


def softmax(x, dim):
    return x
