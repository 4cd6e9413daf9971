# tries: the files that Jupyter and macOS leave beside a notebook
# source: THREATS 141; REPORTS R25
# expect: full

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    write(folder / ".ipynb_checkpoints", b"{", "00_start_here-checkpoint.ipynb")
    write(folder / "__MACOSX" / "x", b"\x00\x05\x16\x07", "._00_start_here.ipynb")
    write(folder, b"\x00\x05\x16\x07", "._00_start_here.ipynb")
    write(folder, b"\x00\x00\x00\x01Bud1", ".DS_Store")
    write(folder, b"<html>", "00_start_here.html")
