# tries: the answer stands in a cell of its own, below the untouched stub
# source: THREATS 118
# expect: full
# says: found by name

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": cell["source"], "outputs": []})
    cell["source"] = "def softmax(x, dim):\n    raise NotImplementedError()"
    return content
