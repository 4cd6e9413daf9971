# tries: a name in letters that Python itself reads as the plain ones
# source: THREATS 126
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    name = "".join(chr(ord(letter) - 97 + 0x1D5BA) for letter in "softmax")
    cell["source"] = "".join(cell["source"]).replace("def softmax", f"def {name}")
    return content
