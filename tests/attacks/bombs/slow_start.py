# tries: sleeps before the first call
# source: THREATS 103
# expect: zero
# says: starting took longer

import time

_ = time.sleep(60)


def softmax(x, dim):
    return x
