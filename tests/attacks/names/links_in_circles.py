# tries: links that lead to themselves, to nowhere and to the root
# source: THREATS 132
# expect: full
# says: is a link: not followed

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    for name, target in (("loop", "."), ("nowhere.ipynb", "/nowhere/x.ipynb"), ("self.ipynb", "self.ipynb"), ("root", "/")):
        (folder / name).symlink_to(target)
