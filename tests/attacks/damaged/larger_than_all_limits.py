# tries: a file of more than a hundred megabytes
# source: THREATS 123
# expect: refused
# says: larger than 100 MiB


def damage(content):
    return b'{"cells": [], "nbformat": 4, "x": "' + b"x" * (101 << 20) + b'"}'
