# tries: the notebook format of 2014
# source: THREATS 110
# expect: full


def damage(content):
    cells = [{**cell, "input": "".join(cell["source"])} for cell in content["cells"]]
    for cell in cells:
        del cell["source"]
    return {"nbformat": 3, "metadata": content["metadata"], "worksheets": [{"cells": cells}]}
