# tries: an answer cell whose kind is a long text with an escape in it
# source: THREATS 116, 129
# expect: full
# says: read as code

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["cell_type"] = "\x1b[31m<script>alert(1)</script>" * 1000
    return content
