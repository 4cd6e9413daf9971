# tries: an answer cell is gone
# source: THREATS 116
# expect: not_attempted
# says: no cell defines softmax

from attacks.suite import cell_of


def damage(content):
    content["cells"].remove(cell_of(content, "softmax"))
    return content
