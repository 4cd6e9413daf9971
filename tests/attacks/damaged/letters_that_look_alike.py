# tries: a name with a Cyrillic letter in it
# source: THREATS 126
# expect: not_attempted

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]).replace("def softmax", "def s\N{CYRILLIC SMALL LETTER O}ftmax")
    return content
