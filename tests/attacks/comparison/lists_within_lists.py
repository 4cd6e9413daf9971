# tries: a list that contains itself, to keep whoever walks through it walking
# source: THREATS 15
# expect: zero


def softmax(x, dim):
    circle = []
    circle.append(circle)
    return circle
