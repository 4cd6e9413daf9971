# tries: ten thousand files
# source: THREATS 96
# expect: zero


def softmax(x, dim):
    for number in range(10_000):
        with open(f"file {number}", "w"):
            pass
    return x
