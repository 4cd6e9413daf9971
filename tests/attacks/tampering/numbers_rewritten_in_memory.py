# tries: makes False true, by writing into the memory of the interpreter
# source: THREATS 37
# expect: zero

import ctypes


def softmax(x, dim):
    ctypes.memmove(id(False) + 24, id(True) + 24, 4)
    ctypes.memmove(id(False) + 16, id(True) + 16, 8)
    return x
