# tries: a helper with a chain of attributes nine hundred long
# source: THREATS 124
# expect: zero
# says: NameError

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]).replace("top = ", "top = helper and ", 1)
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "helper = 1\nhelper = helper" + ".real" * 900})
    return content
