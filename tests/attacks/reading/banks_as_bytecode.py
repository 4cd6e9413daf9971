# tries: runs the bytecode that Python left beside the bank of right answers
# source: THREATS 68
# expect: zero

import glob
import marshal
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
    (path, *_) = glob.glob(os.path.join(_root(), "grader", "**", "__pycache__", "right_00*.pyc"), recursive=True)
    code = marshal.loads(open(path, "rb").read()[16:])
    body = next(each for each in code.co_consts if getattr(each, "co_name", "") == "library_call_with_nan_replaced")
    return type(softmax)(body, {"torch": torch})(x, dim)
