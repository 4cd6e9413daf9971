# tries: the answer is no Python
# source: THREATS 122
# expect: zero
# says: SyntaxError

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, dim)\n    return x"
    return content
