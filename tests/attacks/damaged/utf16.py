# tries: another encoding
# source: THREATS 109; REPORTS R21
# expect: full

import json


def damage(content):
    return json.dumps(content, ensure_ascii=False).encode("utf-16")
