# tries: a check cell is text now
# source: THREATS 115; REPORTS R08
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "check_softmax")["cell_type"] = "markdown"
    return content
