# tries: one file without end
# source: THREATS 95
# expect: zero
# says: OSError


def softmax(x, dim):
    with open("big", "wb") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    return x.softmax(dim)
