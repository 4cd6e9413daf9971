# tries: letters in the encoding of an old Windows
# source: THREATS 109; REPORTS R21
# expect: full
# says: are not text

import json


def damage(content):
    content["cells"][0]["source"] = "Schöne Grüße"
    return json.dumps(content, ensure_ascii=False).encode("latin-1", "replace")
