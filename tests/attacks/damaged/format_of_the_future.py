# tries: a notebook format that does not exist yet
# source: THREATS 110
# expect: refused
# says: notebook format 5 is unknown


def damage(content):
    return {**content, "nbformat": 5}
