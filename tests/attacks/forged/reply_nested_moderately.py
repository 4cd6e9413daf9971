# tries: a reply of three hundred lists, which can be read and then has to be walked through
# source: THREATS 54, 124
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
    fields = [["value", "HERE"], ["gradients", None], ["changed", False], ["unsteady", False], ["operators", {"list": []}]]
    _reply(fields)


json.dumps = lambda value: json.JSONEncoder().encode(value).replace('"HERE"', '{"list": [' * 300 + "]}" * 300)
