# tries: opens files until no more can be opened
# source: THREATS 100; REPORTS R95
# expect: zero
# says: OSError


def softmax(x, dim):
    kept = []
    while True:
        kept.append(open("/dev/null"))
