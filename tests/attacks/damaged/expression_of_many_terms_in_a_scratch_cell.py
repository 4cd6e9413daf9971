# tries: an unused cell with an expression of two thousand terms
# source: THREATS 124
# expect: full


def damage(content):
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "total = " + " + ".join(["1"] * 2000)})
    return content
