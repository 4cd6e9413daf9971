# tries: magics and shell lines in cells of their own and in the answer cell
# source: THREATS 120
# expect: full
# says: magics and shell lines were left out

from attacks.suite import cell_of

LINES = [
    "%%bash\ntouch /tmp/left_by_an_attack_shell",
    "!rm -rf ~",
    "%run evil.py",
    "%load_ext autoreload\n%autoreload 2",
    "softmax?",
]


def damage(content):
    cell = cell_of(content, "softmax")
    cell["source"] = "%matplotlib inline\n!touch /tmp/left_by_an_attack_line\n" + "".join(cell["source"]) + "\nsoftmax??"
    for line in LINES:
        content["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": line})
    return content
