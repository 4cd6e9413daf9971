# tries: announces a frame and sends only half of it
# source: THREATS 54
# expect: zero
# says: time limit

import os
import struct
import time


def softmax(x, dim):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, struct.pack("!QQ", 1000, 0) + b'{"tree": ')
        except OSError:
            pass
    time.sleep(60)
