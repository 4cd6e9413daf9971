# tries: both answers stand in one cell
# source: THREATS 114
# expect: full

from attacks.suite import cell_of


def damage(content):
    one, other = cell_of(content, "softmax"), cell_of(content, "batched_outer")
    one["source"] = "".join(one["source"]) + "\n\n" + "".join(other["source"])
    content["cells"].remove(other)
    return content
