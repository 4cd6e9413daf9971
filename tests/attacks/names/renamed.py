# tries: the notebook under another name
# source: THREATS 137; REPORTS R15
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook, "Copy of 00_start_here (1) FINAL.ipynb")
