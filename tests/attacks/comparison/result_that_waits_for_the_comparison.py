# tries: a result that computes only when someone looks, and then looks for the expected one in the caller's frame
# source: THREATS 6
# expect: zero

import sys


class Lazy:
    def __getattr__(self, name):
        frame = sys._getframe(1)
        expected = frame.f_locals.get("expected", frame.f_locals.get("reference"))
        return getattr(expected, name)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        others = [each for each in args if isinstance(each, torch.Tensor)]
        return function(*[others[0] if type(each) is Lazy and others else each for each in args], **(kwargs or {}))


def softmax(x, dim):
    return Lazy()
