# tries: a number that takes long to read
# source: THREATS 125
# expect: refused


def damage(content):
    return b'{"nbformat": 4, "cells": [' + b"9" * 100_000 + b"]}"
