# tries: the answer cell is timed
# source: THREATS 120
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "%%time\n" + "".join(cell["source"])
    return content
