# tries: an empty folder
# source: THREATS 140
# expect: refused


def arrange(folder, notebook):
    folder.mkdir()
