# tries: the setup cell replaces torch
# source: THREATS 31, 115
# expect: full

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "setup")["source"] = "import numpy as torch\nraise SystemExit"
    return content
