# tries: sources as one text each, with tabs
# source: THREATS 127
# expect: full


def damage(content):
    for cell in content["cells"]:
        cell["source"] = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell["source"] = cell["source"].replace("    ", "\t")
    return content
