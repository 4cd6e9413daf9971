# tries: a reply whose operators are numbers, where the operators are looked at
# source: THREATS 54, 150
# expect: partial
# exercise: batched_outer

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


def batched_outer(a, b):
    frame = sys._getframe()
    while "request" not in frame.f_locals:
        frame = frame.f_back
    if frame.f_locals["request"]["watch"]:
        _reply([["value", None], ["gradients", None], ["changed", False], ["unsteady", False], ["operators", {"list": [1, None]}]])
    return a[:, :, None] * b[:, None, :]
