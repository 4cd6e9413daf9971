# tries: announces a frame of many gigabytes
# source: THREATS 54
# expect: zero
# says: malformed answer

import os
import struct


def softmax(x, dim):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", 1 << 40, 1 << 40))
        except OSError:
            pass
    return x
