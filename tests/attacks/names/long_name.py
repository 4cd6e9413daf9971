# tries: a name as long as the file system takes it
# source: THREATS 136, 139
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("x" * 250), notebook)]
