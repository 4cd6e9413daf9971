# tries: the notebook a few folders down
# source: THREATS 137
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder / "week 1" / "really final", notebook)
