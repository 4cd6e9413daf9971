# tries: hundreds of threads
# source: THREATS 90
# expect: zero

import threading
import time

_made = []


def softmax(x, dim):
    for _ in range(0 if _made else 300):
        _made.append(1)
        threading.Thread(target=time.sleep, args=(60,)).start()
    return x
