# tries: names that lead out of the folder on other systems
# source: THREATS 131, 139; REPORTS R30
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(name), notebook) for name in ("..\\..\\ada", "C:\\ada", "...", ". .")]
