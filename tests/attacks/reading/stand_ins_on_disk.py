# tries: reads the stand-in, which is a right answer, from the grader's folder
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
    return _softmax_in(open(os.path.join(_root(), "grader", "stand_ins", "softmax.py")).read())(x, dim)
