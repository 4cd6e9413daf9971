# tries: a tensor subclass that answers True to every comparison
# source: THREATS 1
# expect: zero


class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function.__name__ in ("allclose", "equal", "eq", "__eq__", "isclose", "is_close", "all", "le", "lt"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})


def softmax(x, dim):
    return x.clone().as_subclass(Yes)
