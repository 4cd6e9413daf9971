# tries: leaves the call by sys.exit(0)
# source: THREATS 49
# expect: zero
# says: SystemExit

import sys


def softmax(x, dim):
    sys.exit(0)
