# tries: check cells say that all is well and is worth a hundred points; the answer is wrong
# source: THREATS 115
# expect: zero

from attacks.suite import cell_of


def damage(content):
    cell_of(content, "softmax")["source"] = "def softmax(x, dim):\n    return x"
    for name in ("check_softmax", "check_batched_outer"):
        cell_of(content, name)["source"] = "pass"
        cell_of(content, name)["metadata"]["nbgrader"]["points"] = 100
    cell_of(content, "softmax")["metadata"]["nbgrader"].update(grade=True, points=100, solution=False, locked=True)
    return content
