# tries: half a letter in a comment of the answer
# source: THREATS 125
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "# \ud800\n" + "".join(cell["source"]) + "\n_note = '\udfff'"
    return content
