# tries: a notebook that has nothing to do with the course, under another name
# source: THREATS 138; REPORTS R16
# expect: refused
# says: none of its exercises is here


def damage(content):
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "metadata": {}, "source": "x = 1"}]}
