# tries: leaves links, pipes and folders without rights in its folder; the answer is right
# source: THREATS 107, 132, 134
# expect: full

import contextlib
import os


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    if not os.path.lexists("link"):
        os.symlink("/", "link")
        os.makedirs("locked/inner")
        os.symlink("..", "locked/up")
        for resist in (lambda: os.mkfifo("pipe"), lambda: os.chmod("locked", 0)):
            with contextlib.suppress(PermissionError):
                resist()
    return _right(x, dim)
