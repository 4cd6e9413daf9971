# tries: another encoding that nothing announces
# source: THREATS 109
# expect: refused

import json


def damage(content):
    return json.dumps(content, ensure_ascii=False).encode("utf-16-le")
