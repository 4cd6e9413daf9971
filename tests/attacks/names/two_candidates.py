# tries: two files for one notebook
# source: THREATS 137; REPORTS R15
# expect: refused
# says: 00_start_here (1).ipynb, 00_start_here.ipynb

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    write(folder, notebook, "00_start_here (1).ipynb")
