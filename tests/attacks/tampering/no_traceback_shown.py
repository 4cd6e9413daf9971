# tries: hides every error that would be shown
# source: THREATS 29, 30; REPORTS R48, R37
# expect: zero

import sys

sys.excepthook = sys.unraisablehook = sys.displayhook = lambda *args: None
try:
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.showtraceback = None
except ImportError:
    pass


def softmax(x, dim):
    raise ValueError("nobody sees this")
