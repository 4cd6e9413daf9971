# tries: leaves a start file that a later Python would run
# source: THREATS 39
# expect: zero

import os
import sys


def softmax(x, dim):
    for folder in [*sys.path, os.path.expanduser("~root"), os.path.expanduser("~"), sys.prefix, "/etc"]:
        for name in ("left_by_an_attack.pth", "left_by_an_attack_sitecustomize.py"):
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write("\n")
            except OSError:
                pass
    return x
