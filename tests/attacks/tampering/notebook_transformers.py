# tries: has IPython empty the cells after this one, and strip assertions
# source: THREATS 27, 28
# expect: zero

try:
    get_ipython().input_transformers_cleanup.append(lambda lines: [])  # noqa: F821
    get_ipython().ast_transformers.append(type("Strip", (), {"visit": lambda self, node: node})())  # noqa: F821
except NameError:
    pass


def softmax(x, dim):
    return x
