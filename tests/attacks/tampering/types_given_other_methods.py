# tries: writes other methods into built-in types, through the interpreter's own dictionaries
# source: THREATS 37
# expect: zero

import ctypes
import gc


def softmax(x, dim):
    inside = gc.get_referents(dict.__dict__)[0]
    inside["__getitem__"] = lambda self, key: True
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(dict))
    return x
