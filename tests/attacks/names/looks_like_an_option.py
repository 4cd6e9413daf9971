# tries: names that look like options
# source: THREATS 139
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    return [write(folder.with_name(name), notebook) for name in ("-rf", "--out", "--regrade")]
