# tries: a loop that ignores all signals and cancels all alarms
# source: THREATS 58, 87
# expect: zero
# says: time limit

import signal


def softmax(x, dim):
    for number in (1, 2, 3, 13, 14, 15, 24, 26):
        signal.signal(number, signal.SIG_IGN)
    while True:
        signal.alarm(0)
