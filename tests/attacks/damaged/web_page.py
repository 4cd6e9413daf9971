# tries: hands in the page that shows the notebook
# source: THREATS 108
# expect: refused
# says: JSON is broken


def damage(content):
    return b"<!doctype html><html><script>alert(1)</script></html>"
