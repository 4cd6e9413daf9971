# tries: a byte order mark before the JSON
# source: THREATS 109
# expect: full

import json


def damage(content):
    return b"\xef\xbb\xbf" + json.dumps(content).encode()
