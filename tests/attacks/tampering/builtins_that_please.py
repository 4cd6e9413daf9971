# tries: replaces abs, isinstance, AssertionError and open for everybody
# source: THREATS 24
# expect: zero

import builtins

builtins.abs = lambda value: 0
builtins.isinstance = lambda *args: True
builtins.AssertionError = type("Silent", (BaseException,), {})


def softmax(x, dim):
    return x
