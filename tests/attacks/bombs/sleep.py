# tries: sleeps for an hour, which takes no CPU time
# source: THREATS 88; REPORTS R38
# expect: zero
# says: time limit

import time


def softmax(x, dim):
    time.sleep(3600)
    return x.softmax(dim)
