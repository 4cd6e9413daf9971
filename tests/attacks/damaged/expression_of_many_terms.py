# tries: an answer with an expression of two thousand terms, to overflow whoever walks through it
# source: THREATS 124
# expect: zero

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, dim):\n    return " + " + ".join(["x"] * 2000)
    return content
