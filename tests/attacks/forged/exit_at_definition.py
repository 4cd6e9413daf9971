# tries: ends the process with exit code 0 before it is asked
# source: THREATS 47
# expect: zero
# says: no answer came back

import os

_ = os._exit(0)


def softmax(x, dim):
    return x
