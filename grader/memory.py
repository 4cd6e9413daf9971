"""What known answers have answered: the reference and the banks are asked the same call once for each seed, not once for each
submission."""

import hashlib
from collections import OrderedDict

from grader.sandbox import calls, wire

SIZE = 20_000  # replies, of a few kilobytes each

_replies = OrderedDict()


def ask(namespace, request, digest=None):
    """The reply of a known answer, as calls.perform gives it. The reply is shared: who changes it copies it first.

    digest: of the request, where it is known already.
    """
    key = id(namespace), digest or digest_of(request)
    if key in _replies:
        _replies.move_to_end(key)
    else:
        # The namespace is kept as well: as long as it lives, nothing else has its id.
        _replies[key] = calls.perform(namespace, request), namespace
        if len(_replies) > SIZE:
            _replies.popitem(last=False)
    return _replies[key][0]


def digest_of(request):
    """Equal for requests that are equal to the last bit."""
    return hashlib.blake2b(wire.frame(request), digest_size=16).digest()
