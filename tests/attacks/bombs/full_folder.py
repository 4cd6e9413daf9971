# tries: forty files of ten megabytes
# source: THREATS 96
# expect: zero


def softmax(x, dim):
    for number in range(40):
        with open(f"file {number}", "wb") as file:
            file.write(bytes(10 << 20))
    return x
