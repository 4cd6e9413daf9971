# tries: twenty thousand cells
# source: THREATS 125
# expect: refused
# says: more than


def damage(content):
    scratch = [{"cell_type": "code", "metadata": {}, "source": f"x{number} = {number}"} for number in range(20_000)]
    return {**content, "cells": [*scratch, *content["cells"]]}
