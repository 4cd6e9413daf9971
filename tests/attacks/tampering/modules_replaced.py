# tries: import hooks and modules of its own in the place of the real ones
# source: THREATS 38
# expect: zero

import sys
import types


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        raise ImportError("nothing more is imported")


for name in ("json", "struct", "course_utils.compare", "course_utils.checks", "numpy", "numpy.testing", "pytest"):
    sys.modules[name] = types.ModuleType(name)
_ = sys.meta_path.insert(0, Finder)


def softmax(x, dim):
    return x
