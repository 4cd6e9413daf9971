# tries: leaves the cell by sys.exit(0) after the definition
# source: THREATS 49
# expect: zero

import sys


def softmax(x, dim):
    return x


_ = sys.exit(0)
