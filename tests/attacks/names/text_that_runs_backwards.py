# tries: a name with marks that turn the direction of the text, and letters without width
# source: THREATS 139
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("ada\u202ebpyni.\u200b\u2066"), notebook)]
