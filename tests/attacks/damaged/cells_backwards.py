# tries: the cells stand in the opposite order
# source: THREATS 117
# expect: full


def damage(content):
    content["cells"].reverse()
    return content
