# tries: a tensor with attributes and a pickling of its own
# source: THREATS 44
# expect: zero


class Carrier(torch.Tensor):
    def __reduce_ex__(self, protocol):
        return exec, ("open('/tmp/left_by_an_attack_carrier', 'w').close()",)


def softmax(x, dim):
    result = x.clone().as_subclass(Carrier)
    result.payload = Carrier
    return result
