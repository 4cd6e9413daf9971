# tries: takes the answer out of another student's notebook
# source: THREATS 66; REPORTS R31
# expect: zero

import json
import os


def softmax(x, dim):
    for top in ("/tmp", "/home", "/root", "/work", "/var/tmp"):
        for folder, _, names in os.walk(top):
            for name in names:
                if name == "00_start_here.ipynb":
                    for cell in json.load(open(os.path.join(folder, name)))["cells"]:
                        if "return e /" in "".join(cell["source"]):
                            space = {"torch": torch}
                            exec("".join(cell["source"]), space)
                            return space["softmax"](x, dim)
    raise LookupError("nobody to copy from")
