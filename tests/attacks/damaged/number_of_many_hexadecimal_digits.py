# tries: a number in the answer that Python reads but does not write
# source: THREATS 125
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]) + "\n\n_mine = 0x" + "f" * 20_000
    return content
