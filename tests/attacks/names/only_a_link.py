# tries: nothing but a link to another student's notebook
# source: THREATS 132; REPORTS R29
# expect: refused
# says: link


def arrange(folder, notebook):
    folder.mkdir()
    (folder / "00_start_here.ipynb").symlink_to("../000 good/00_start_here.ipynb")
