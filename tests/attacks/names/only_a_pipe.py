# tries: nothing but a pipe under the notebook's name
# source: THREATS 134
# expect: refused

import os


def arrange(folder, notebook):
    folder.mkdir()
    os.mkfifo(folder / "00_start_here.ipynb")
