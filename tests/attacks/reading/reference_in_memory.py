# tries: looks for a reference among all objects of its process
# source: THREATS 65; REPORTS R50
# expect: zero

import gc


def softmax(x, dim):
    for each in gc.get_objects():
        if callable(each) and getattr(each, "__name__", "") == "softmax" and each is not softmax:
            if not str(getattr(each, "__module__", "torch")).startswith("torch"):
                return each(x, dim)
        if type(each) is dict and "softmax" in each and "reference" in str(each.get("__name__", "")):
            return each["softmax"](x, dim)
    raise LookupError("no reference in memory")
