# tries: a wrong copy of the answer stands above the right one
# source: THREATS 113, 119
# expect: full
# says: the last one counts

from attacks.suite import cell_of


def damage(content):
    content["cells"].insert(0, {**cell_of(content, "softmax"), "source": "def softmax(x, dim):\n    return x"})
    return content
