# tries: cell ids that are missing, equal, too long, and no text at all
# source: THREATS 110; REPORTS R09, R10
# expect: full


def damage(content):
    content["nbformat_minor"] = 4
    for cell, wrong in zip(content["cells"], [None, "same", "same", "x" * 100, 7, ["list"], "ümläut/..", ""] * 50, strict=False):
        cell["id"] = cell["metadata"]["id"] = wrong
        if wrong is None:
            del cell["id"]
    return content
