# tries: reads the solution from the folder of the course
# source: THREATS 66
# expect: zero

import os


def _root():
    """The folder of the course, as far as an answer can guess it."""
    import course_utils

    return os.path.dirname(os.path.dirname(os.path.abspath(course_utils.__file__)))


def _softmax_in(source):
    """The softmax that a piece of source defines."""
    space = {"torch": torch}
    exec(source, space)
    return space["softmax"]


def softmax(x, dim):
    source = open(os.path.join(_root(), "solutions", "00_start_here.py")).read()
    start = source.index("def softmax")
    return _softmax_in(source[start : source.index("# %%", start)])(x, dim)
