# tries: a folder whose name begins with a dot
# source: THREATS 141
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(".hidden student"), notebook)]
