# tries: an answer that needs a helper that needs a helper, two thousand times
# source: THREATS 117
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "".join(cell["source"]).replace("top = ", "unused = lambda: h0\n    top = ", 1)
    lines = [f"h{number} = lambda: h{number + 1}" for number in range(1000)]
    content["cells"] += [{"cell_type": "code", "metadata": {}, "source": line} for line in [*lines, "h1000 = 1"]]
    return content
