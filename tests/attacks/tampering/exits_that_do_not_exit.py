# tries: replaces os._exit and closes off signals, to be still there when the answer's time is over
# source: THREATS 56, 58
# expect: zero

import os
import signal

os._exit = lambda code: None
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def softmax(x, dim):
    return x
