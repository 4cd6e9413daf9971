# tries: a kernel whose start is a command
# source: THREATS 111; REPORTS R12
# expect: full


def damage(content):
    argv = ["sh", "-c", "touch /tmp/left_by_an_attack_kernel"]
    content["metadata"]["kernelspec"] = {"name": "../../evil", "display_name": "x", "language": "R", "argv": argv}
    content["metadata"]["language_info"] = {"name": "R"}
    return content
