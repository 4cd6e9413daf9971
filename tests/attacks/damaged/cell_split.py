# tries: an answer cell is split behind its first line
# source: THREATS 114; REPORTS R02
# expect: full
# says: its halves were joined

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    first, rest = "".join(cell["source"]).split("\n", 1)
    cell["source"] = first
    content["cells"].insert(content["cells"].index(cell) + 1, {**cell, "source": rest})
    return content
