# tries: hands in half a file
# source: THREATS 108
# expect: refused
# says: JSON is broken

import json


def damage(content):
    raw = json.dumps(content).encode()
    return raw[: len(raw) // 2]
