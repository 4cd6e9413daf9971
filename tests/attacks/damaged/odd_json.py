# tries: keys twice, NaN, half letters, nulls and numbers where none belong
# source: THREATS 125
# expect: full

import json


def damage(content):
    content["metadata"]["x"] = float("nan")
    content["cells"][0]["source"] = "\ud800 half a letter"
    content["cells"] += [None, 3, [], {}, {"source": 7}, {"source": [1]}, {"metadata": 3, "source": "y = 1"}]
    text = json.dumps(content)
    return ('{"cells": [], "nbformat_minor": 1e400, "cells": [],' + text[1:]).encode()
