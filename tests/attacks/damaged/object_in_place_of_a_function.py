# tries: the answer is an object that can be called
# source: THREATS 118
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    body = "".join(cell["source"]).replace("def softmax(", "def __call__(self, ")
    lines = "".join("    " + line for line in body.splitlines(True))
    cell["source"] = f"class Softmax:\n{lines}\n\nsoftmax: object = Softmax()"
    return content
