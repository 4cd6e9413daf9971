# tries: a name with brackets, plus, dashes, percent and quotes
# source: THREATS 139; REPORTS R18, R19
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name('[red]O\'Neil[bold + "x" %s {0} $(id) --out; & *'), notebook)]
