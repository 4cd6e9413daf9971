# tries: waits for a lock that it holds itself
# source: THREATS 88
# expect: zero
# says: time limit

import threading

_lock = threading.Lock()


def softmax(x, dim):
    with _lock, _lock:
        return x
