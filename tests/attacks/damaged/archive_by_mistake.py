# tries: hands in a zip file under the notebook's name
# source: THREATS 108
# expect: refused

import io
import json
import zipfile


def damage(content):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("00_start_here.ipynb", json.dumps(content))
    return raw.getvalue()
