# tries: a tensor subclass that, in any operation, turns into the other operand
# source: THREATS 2
# expect: zero


class Mirror(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        others = [each for each in args if isinstance(each, torch.Tensor) and type(each) is not Mirror]
        with torch._C.DisableTorchFunctionSubclass():
            return function(*[others[0] if others and type(each) is Mirror else each for each in args], **(kwargs or {}))


def softmax(x, dim):
    return x.clone().as_subclass(Mirror)
