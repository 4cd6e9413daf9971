# tries: a folder that is a link to another student's folder
# source: THREATS 132
# expect: refused
# says: link


def arrange(folder, notebook):
    folder.symlink_to("000 good")
