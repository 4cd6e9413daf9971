# tries: kills the process that started it
# source: THREATS 57
# expect: zero

import os


def softmax(x, dim):
    os.kill(os.getppid(), 9)
    return x
