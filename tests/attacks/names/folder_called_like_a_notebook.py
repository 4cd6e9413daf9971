# tries: a folder under the name of a notebook
# source: THREATS 140
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    (folder / "01_soft_retrieval.ipynb").mkdir()
