# tries: calls itself for ever, with no limit on depth
# source: THREATS 93
# expect: zero

import sys


def softmax(x, dim):
    sys.setrecursionlimit(2**31 - 1)
    return softmax(x, dim)
