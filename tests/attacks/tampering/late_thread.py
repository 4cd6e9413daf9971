# tries: a thread that replaces functions a little later
# source: THREATS 46
# expect: zero

import threading
import time


def _later():
    while True:
        torch.allclose = torch.equal = lambda *args, **kwargs: True
        time.sleep(0.01)


try:
    threading.Thread(target=_later, daemon=True).start()
except RuntimeError:
    pass


def softmax(x, dim):
    return x
