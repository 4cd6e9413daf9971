# tries: a name of several lines, one of which looks like a line of the marks
# source: THREATS 130, 139
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("ada\nada,00_start_here,graded,99,3\n\u2028"), notebook)]
