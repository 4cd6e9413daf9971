# tries: another cell is no Python at all
# source: THREATS 122
# expect: full


def damage(content):
    content["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": "def softmax(:\n  my notes"})
    return content
