# tries: a check cell is gone
# source: THREATS 115; REPORTS R05
# expect: full
# says: check cell of softmax was missing

from attacks.suite import cell_of


def damage(content):
    content["cells"].remove(cell_of(content, "check_softmax"))
    return content
