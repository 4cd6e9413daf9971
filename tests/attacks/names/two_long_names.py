# tries: two long names that differ only at their ends
# source: THREATS 136
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("y" * 240 + end), notebook) for end in ("one", "two")]
