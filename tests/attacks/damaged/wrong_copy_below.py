# tries: a wrong copy stands below the right one, and Run All would leave that
# source: THREATS 119
# expect: zero
# says: the last one counts

from attacks.suite import cell_of


def damage(content):
    content["cells"].append({**cell_of(content, "softmax"), "source": "def softmax(x, dim):\n    return x"})
    return content
