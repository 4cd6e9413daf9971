# tries: the exception that ends generators quietly
# source: THREATS 63
# expect: zero
# says: GeneratorExit


def softmax(x, dim):
    raise GeneratorExit
