# tries: the answer needs a helper and a constant of other cells, and the helper needs an import
# source: THREATS 117
# expect: full
# known: helpers run in the order of the notebook, as Run All would, and the constant stands above its import

from attacks.suite import cell_of


def damage(content):
    cell = cell_of(content, "softmax")
    helper = "".join(cell["source"]).replace("def softmax", "def _mine").replace('float("-inf")', "NOTHING")
    cell["source"] = "def softmax(x, dim):\n    return _mine(x, dim)"
    content["cells"] += [
        {"cell_type": "code", "metadata": {}, "source": text} for text in (helper, "NOTHING = -np.inf", "import numpy as np")
    ]
    return content
