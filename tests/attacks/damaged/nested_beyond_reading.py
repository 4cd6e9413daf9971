# tries: lists within lists, a hundred thousand deep
# source: THREATS 124
# expect: refused
# says: nested too deeply


def damage(content):
    return b'{"nbformat": 4, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
