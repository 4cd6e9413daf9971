# tries: makes every warning an error and every log line an exception; the answer is right
# source: THREATS 42
# expect: full

import logging
import warnings

warnings.simplefilter("error")
logging.Handler.handle = logging.Logger.handle = lambda self, record: 1 / 0


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    return _right(x, dim)
