# tries: catches everything that its caller might raise, by being called in its place
# source: THREATS 61
# expect: zero


class Softmax:
    def __call__(self, x, dim):
        return x

    def __eq__(self, other):
        return True

    def __exit__(self, *args):
        return True


softmax = Softmax()
