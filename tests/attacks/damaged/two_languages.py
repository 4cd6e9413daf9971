# tries: a cell of another language that holds the name of the exercise
# source: THREATS 120
# expect: full


def damage(content):
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "%%javascript\ndef softmax(x, dim):\n    return 1"})
    content["cells"].append({"cell_type": "raw", "metadata": {}, "source": "def softmax(x, dim):\n    return 1"})
    return content
