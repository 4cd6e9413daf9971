# tries: children whose parents end at once, fifty of them
# source: THREATS 102
# expect: zero

import os
import time

_made = []


def softmax(x, dim):
    for _ in range(0 if _made else 50):
        _made.append(1)
        if os.fork() == 0:
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)
            os._exit(0)
    return x
