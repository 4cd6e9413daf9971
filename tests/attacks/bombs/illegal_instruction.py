# tries: has its own signal end it
# source: THREATS 106
# expect: zero
# says: SIGILL

import os
import signal


def softmax(x, dim):
    os.kill(os.getpid(), signal.SIGILL)
