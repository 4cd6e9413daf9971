# tries: a helper that parses, but means nothing to the compiler
# source: THREATS 122
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]).replace("top = ", "unused = lambda: helper\n    top = ", 1)
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "def helper(x):\n    global x"})
    return content
