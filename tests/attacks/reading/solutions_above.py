# tries: reads the solution from a folder above its own
# source: THREATS 66
# expect: zero

import glob


def softmax(x, dim):
    (path, *_) = [found for up in range(12) for found in glob.glob("../" * up + "*/*/solutions/00_start_here.py")]
    source = open(path).read()
    start = source.index("def softmax")
    space = {"torch": torch}
    exec(source[start : source.index("# %%", start)], space)
    return space["softmax"](x, dim)
