# tries: a search that takes for ever inside one call of the interpreter
# source: THREATS 85
# expect: zero
# says: time limit

import re


def softmax(x, dim):
    return re.match("(a+)+$", "a" * 60 + "b")
