# tries: leaves shared memory behind that outlives its process
# source: THREATS 107
# expect: zero

import ctypes


def softmax(x, dim):
    ctypes.CDLL(None).shmget(0x41545443, 1 << 20, 0o1666)
    return x
