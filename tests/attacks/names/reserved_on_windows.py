# tries: names that Windows keeps for itself, and names that end with a dot
# source: THREATS 136
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(name), notebook) for name in ("con", "NUL.txt", "ends with a dot.", "com1")]
