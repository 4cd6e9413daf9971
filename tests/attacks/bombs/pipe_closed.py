# tries: closes all its descriptors and waits
# source: THREATS 101
# expect: zero
# says: no answer came back

import os
import time


def softmax(x, dim):
    os.closerange(0, 64)
    time.sleep(60)
