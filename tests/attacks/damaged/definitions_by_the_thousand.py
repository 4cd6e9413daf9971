# tries: the right definition, three thousand times
# source: THREATS 113
# expect: refused
# says: more than

from attacks.suite import cell_of


def damage(content):
    content["cells"] += [dict(cell_of(content, "softmax"))] * 3000
    return content
