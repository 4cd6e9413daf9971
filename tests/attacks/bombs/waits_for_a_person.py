# tries: asks the person at the keyboard
# source: THREATS 88; REPORTS R60
# expect: zero
# says: EOFError


def softmax(x, dim):
    return eval(input("the weights? "))
