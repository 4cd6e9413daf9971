# tries: an answer cell is empty
# source: THREATS 116
# expect: not_attempted

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = ["\n", "   \n"]
    return content
