# tries: a group of exceptions, which except clauses don't see
# source: THREATS 63
# expect: zero
# says: ExceptionGroup


def softmax(x, dim):
    raise BaseExceptionGroup("many", [KeyboardInterrupt(), SystemExit(0), AssertionError()])
