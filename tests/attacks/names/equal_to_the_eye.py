# tries: two names that look the same and are written with other code points
# source: THREATS 135
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(name), notebook) for name in ("Ren\u00e9", "Rene\u0301")]
