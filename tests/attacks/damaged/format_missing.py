# tries: no word about the notebook format
# source: THREATS 110
# expect: full


def damage(content):
    return {"cells": content["cells"], "metadata": content["metadata"]}
