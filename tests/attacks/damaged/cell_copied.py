# tries: an answer cell stands there twice, with one id
# source: THREATS 113; REPORTS R03
# expect: full
# says: softmax is defined in 2 cells

from attacks.suite import cell_of


def damage(content):
    content["cells"].append(dict(cell_of(content, "softmax")))
    return content
