# tries: an object that runs code where it is unpickled
# source: THREATS 44
# expect: zero
# says: expected a tensor, got a Payload


class Payload:
    def __reduce__(self):
        return exec, ("open('/tmp/left_by_an_attack_payload', 'w').close()",)


def softmax(x, dim):
    return Payload()
