# tries: a name that a browser would run, for the folder and for the file
# source: THREATS 128
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name("<img src=x onerror=alert(1)>"), notebook, "<script>alert(1)<script>.ipynb")]
