# tries: a definition that parses, but means nothing to the compiler
# source: THREATS 122
# expect: zero
# says: SyntaxError

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, x):\n    return x"
    return content
