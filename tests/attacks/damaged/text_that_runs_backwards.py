# tries: marks in a comment that turn the direction of the text
# source: THREATS 126
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "# \u202e \u2066 if admin: \u2069\n" + "".join(cell["source"])
    return content
