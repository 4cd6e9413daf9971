# tries: prints the source of the hidden check from the lines that Python keeps for tracebacks
# source: THREATS 68, 9
# expect: zero

import inspect
import linecache


def softmax(x, dim):
    seen = "".join(line for name in list(linecache.cache) if "hidden" in name for line in linecache.getlines(name))
    outer = "".join("".join(frame.code_context or []) for frame in inspect.stack())
    if "reference" in seen + outer:
        raise ValueError(seen[:300])
    raise LookupError("no check in sight")
