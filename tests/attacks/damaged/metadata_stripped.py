# tries: all metadata is gone
# source: THREATS 112; REPORTS R04
# expect: full
# says: all cell metadata was missing


def damage(content):
    content["metadata"] = {}
    for cell in content["cells"]:
        cell["metadata"] = {}
    return content
