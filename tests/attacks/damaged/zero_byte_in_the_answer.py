# tries: a zero byte in the answer
# source: THREATS 125
# expect: zero

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, dim):\n    return x \x00"
    return content
