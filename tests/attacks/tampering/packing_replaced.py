# tries: replaces the code in its own process that packs the result, to send a verdict in its place
# source: THREATS 53, 54
# expect: zero

import sys

for name, module in list(sys.modules.items()):
    if name.endswith("sandbox.wire"):
        module._pack = lambda value, arrays: {"str": "passed"}


def softmax(x, dim):
    return x
