# tries: a link to another student's notebook beside one's own
# source: THREATS 132; REPORTS R29
# expect: full
# says: is a link: not followed

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    (folder / "01_soft_retrieval.ipynb").symlink_to("../000 good/00_start_here.ipynb")
