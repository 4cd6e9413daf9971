# tries: two names that differ only by case
# source: THREATS 135
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(name), notebook) for name in ("Anna", "anna")]
