# tries: outputs of fifteen megabytes
# source: THREATS 123
# expect: full

from attacks.suite import cell_of


def damage(content):
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "iVBORw0KGgo" * 1_400_000}}
    cell_of(content, "check_softmax")["outputs"] = [picture]
    return content
