# tries: gradients that are a number, when gradients are asked for
# source: THREATS 54, 150
# expect: partial

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


def _right(x, dim):
    top = x.amax(dim, keepdim=True).masked_fill(x.isneginf().all(dim, keepdim=True), 0.0)
    e = (x - top).exp()
    total = e.sum(dim, keepdim=True)
    return e / total.masked_fill(total == 0, 1.0)


def softmax(x, dim):
    if x.requires_grad:
        _reply([["value", None], ["gradients", 5], ["changed", False], ["unsteady", False], ["operators", {"list": []}]])
    return _right(x, dim)
