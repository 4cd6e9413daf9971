# tries: a name that would move the cursor and change the title of the terminal
# source: THREATS 129
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("ada\x1b[31m\x1b]0;owned\x07\x1b[2J\r"), notebook)]
