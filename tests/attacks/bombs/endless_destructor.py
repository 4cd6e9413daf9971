# tries: never ends when it is deleted
# source: THREATS 43, 85
# expect: zero


class Sticky:
    def __del__(self):
        while True:
            pass


def softmax(x, dim):
    return Sticky()
