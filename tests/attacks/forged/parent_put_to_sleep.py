# tries: stops the process that started it, so that nobody counts the time
# source: THREATS 57
# expect: zero

import os


def softmax(x, dim):
    os.kill(os.getppid(), 19)
    return x
