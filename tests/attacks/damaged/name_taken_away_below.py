# tries: a later cell makes the name something else
# source: THREATS 119
# expect: zero
# says: the last one counts


def damage(content):
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "softmax = None"})
    return content
