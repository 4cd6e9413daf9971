# tries: an object that claims to be a tensor and answers every question for itself
# source: THREATS 3; REPORTS R49
# expect: zero


class Liar:
    __class__ = property(lambda self: torch.Tensor)
    layout, is_quantized, is_nested, device = torch.strided, False, False, torch.device("cpu")
    __getattr__ = lambda self, name: lambda *args, **kwargs: self
    __eq__ = lambda self, other: True
    __hash__ = None


def softmax(x, dim):
    return Liar()
