# tries: a hundred processes that wait, as a bomb would go on making
# source: THREATS 89; REPORTS R95
# expect: zero

import os
import time

_made = []


def softmax(x, dim):
    for _ in range(0 if _made else 100):
        _made.append(1)
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
    return x
