# tries: the ending of the file in capitals
# source: THREATS 137
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook, "00_START_HERE.IPYNB")
