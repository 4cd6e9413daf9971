# tries: a process in a session of its own that acts after grading
# source: THREATS 56
# expect: zero

import os
import time


def softmax(x, dim):
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        open("/tmp/left_by_an_attack_survivor", "w").close()
        os._exit(0)
    return x
