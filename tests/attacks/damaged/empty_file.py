# tries: hands in nothing
# source: THREATS 108
# expect: refused
# says: the file is empty


def damage(content):
    return b""
