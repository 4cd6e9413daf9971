# tries: sends one byte a second, so that a limit on silence never ends it
# source: THREATS 54, 101
# expect: zero
# says: time limit

import os
import struct
import time


def softmax(x, dim):
    for byte in struct.pack("!QQ", 1000, 0) + b" " * 1000:
        for descriptor in range(3, 10):
            try:
                os.write(descriptor, bytes([byte]))
            except OSError:
                pass
        time.sleep(0.5)
