# tries: scripts in texts, outputs and titles
# source: THREATS 128
# expect: full

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>"


def damage(content):
    content["metadata"]["title"] = EVIL
    content["metadata"]["transformers_from_scratch"]["version"] = EVIL
    for cell in content["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = EVIL
        else:
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": {"text/html": EVIL}}]
    return content
