# tries: a loop that swallows every exception
# source: THREATS 86
# expect: zero
# says: time limit


def softmax(x, dim):
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
