# tries: tells the hidden inputs in its error message
# source: THREATS 69, 70
# expect: zero


def softmax(x, dim):
    raise ValueError(f"the input was {x.tolist()}")
