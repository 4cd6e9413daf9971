# tries: an answer with ninety brackets, one in the other, and a hundred nested calls
# source: THREATS 124
# expect: zero

from attacks.suite import cell_of


def damage(content):
    inner = "(" * 90 + "x" + ")" * 90
    cell_of(content, "softmax")["source"] = f"def softmax(x, dim):\n    return {'abs(' * 90}{inner}{')' * 90}" + ".abs()" * 800
    return content
