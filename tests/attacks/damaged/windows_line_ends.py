# tries: line ends of Windows, in the file and in the cells
# source: THREATS 109
# expect: full

import json


def damage(content):
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return json.dumps(content, indent=1).replace("\n", "\r\n").encode()
