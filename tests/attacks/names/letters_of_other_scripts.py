# tries: a name in other scripts
# source: THREATS 139; REPORTS R20
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("josé 李 Ωμέγα 😀"), notebook)]
