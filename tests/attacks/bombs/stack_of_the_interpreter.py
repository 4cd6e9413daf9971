# tries: overflows the stack of the interpreter itself
# source: THREATS 94
# expect: zero
# says: SIGSEGV

import sys


def softmax(x, dim):
    sys.setrecursionlimit(2**31 - 1)
    return list(map(lambda _: softmax(x, dim), [0]))
