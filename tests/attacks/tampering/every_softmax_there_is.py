# tries: replaces each function called softmax in all modules, the reference among them
# source: THREATS 25; REPORTS R50
# expect: zero

import sys


def softmax(x, dim):
    return x * 2


for module in list(sys.modules.values()):
    for name in ("softmax", "reference", "expected", "solution"):
        if name in getattr(module, "__dict__", {}):
            try:
                setattr(module, name, softmax)
            except Exception:
                pass
