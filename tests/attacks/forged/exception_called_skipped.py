# tries: an exception that only has the name and the bases of a skip
# source: THREATS 51
# expect: zero
# says: Skipped


class Exit(BaseException):
    returncode = 0


class Skipped(Exit):
    pass


def softmax(x, dim):
    raise Skipped("passed")
