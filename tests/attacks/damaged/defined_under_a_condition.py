# tries: the definition stands inside an if
# source: THREATS 118
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "if True:\n" + "".join("    " + line for line in "".join(cell["source"]).splitlines(True))
    return content
