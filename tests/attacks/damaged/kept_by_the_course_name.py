# tries: a wrong answer in a cell that claims to be the setup, and the right one above
# source: THREATS 115
# expect: full

from attacks.suite import cell_of


def damage(content):
    fake = {**cell_of(content, "setup"), "source": "def softmax(x, dim):\n    return x"}
    content["cells"].append(fake)
    return content
