# tries: a name whose bytes are no text
# source: THREATS 139
# expect: full

import os

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(os.fsdecode(b"caf\xe9 \xff\xfe")), notebook)]
