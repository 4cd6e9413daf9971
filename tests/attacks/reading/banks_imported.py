# tries: imports the bank of right answers
# source: THREATS 66, 67
# expect: zero

import os
import sys


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
    sys.path.insert(0, _root())
    from grader.banks import right_00_start_here as bank

    return next(each for each in bank.ANSWERS if each.exercise == "softmax").function(x, dim)
