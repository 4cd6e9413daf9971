# tries: a loop without end
# source: THREATS 85; REPORTS R35
# expect: zero
# says: time limit


def softmax(x, dim):
    while True:
        pass
