# tries: an answer cell is text now
# source: THREATS 116; REPORTS R07
# expect: full
# says: read as code

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["cell_type"] = "markdown"
    return content
