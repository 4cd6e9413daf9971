# tries: ends, while a child keeps the pipe open
# source: THREATS 101
# expect: zero

import os
import time


def softmax(x, dim):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    os._exit(0)
