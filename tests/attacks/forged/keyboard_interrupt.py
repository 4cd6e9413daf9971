# tries: the interrupt of a person at the keyboard
# source: THREATS 63
# expect: zero
# says: KeyboardInterrupt


def softmax(x, dim):
    raise KeyboardInterrupt
