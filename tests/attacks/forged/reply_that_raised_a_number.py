# tries: a reply that says a number was raised
# source: THREATS 54, 150
# expect: zero

import json
import os
import struct
import sys


def _reply(fields, arrays=(), raw=b""):
    """Send the judge a reply with the nonce that it waits for, and be silent from then on."""
    frame = sys._getframe()
    while "connection" not in frame.f_locals:
        frame = frame.f_back
    asked = frame.f_locals.get("request") or frame.f_locals["job"]
    text = json.dumps({"tree": {"dict": [["nonce", asked["nonce"]], *fields]}, "arrays": list(arrays)}).encode()
    frame.f_locals["connection"].sendall(struct.pack("!QQ", len(text), len(raw)) + text + raw)
    os._exit(0)


def softmax(x, dim):
    _reply([["raised", 5], ["message", 7]])
