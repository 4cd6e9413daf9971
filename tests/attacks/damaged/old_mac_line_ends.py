# tries: lone carriage returns in the cells
# source: THREATS 109
# expect: full


def damage(content):
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r")
    return content
