# tries: metadata whose values have other types than anybody expects
# source: THREATS 110
# expect: full


def damage(content):
    content["metadata"]["transformers_from_scratch"] = {"notebook": ["00_start_here"], "version": {"a": 1}}
    for number, cell in enumerate(content["cells"]):
        if number % 2:
            cell["metadata"] = [cell["metadata"]]
    return content
