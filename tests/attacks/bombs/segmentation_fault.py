# tries: reads from where no memory is
# source: THREATS 106; REPORTS R36
# expect: zero
# says: SIGSEGV

import ctypes


def softmax(x, dim):
    return ctypes.string_at(0)
