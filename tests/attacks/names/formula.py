# tries: a name that a spreadsheet would compute
# source: THREATS 130
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    names = ('=HYPERLINK("http:example","x")', "+1+1", "-2", "@SUM(1)", "\t=1")
    return [write(folder.with_name(name), notebook) for name in names]
