# tries: ends the process with exit code 0 when it is asked
# source: THREATS 47
# expect: zero
# says: no answer came back: the process ended itself (exit code 0)

import os


def softmax(x, dim):
    os._exit(0)
