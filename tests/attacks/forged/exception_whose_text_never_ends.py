# tries: an exception whose text takes for ever
# source: THREATS 62
# expect: zero
# says: time limit


class Slow(Exception):
    def __str__(self):
        while True:
            pass


def softmax(x, dim):
    raise Slow
