# tries: stops itself, so that it neither runs nor ends
# source: THREATS 88
# expect: zero
# says: time limit

import os
import signal


def softmax(x, dim):
    os.kill(os.getpid(), signal.SIGSTOP)
