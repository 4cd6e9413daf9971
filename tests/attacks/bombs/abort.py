# tries: aborts its process
# source: THREATS 106
# expect: zero
# says: SIGABRT

import os


def softmax(x, dim):
    os.abort()
