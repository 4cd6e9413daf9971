# tries: spaces as word processors make them
# source: THREATS 127
# expect: zero
# says: U+00A0

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, dim):\n\u00a0\u00a0\u00a0\u00a0return x.softmax(dim)"
    return content
