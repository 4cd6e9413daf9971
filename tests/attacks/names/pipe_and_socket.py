# tries: a pipe and a socket under the names of notebooks, which block whoever opens them
# source: THREATS 134
# expect: full

import os
import socket

from attacks.suite import write


def arrange(folder, notebook):
    write(folder, notebook)
    os.mkfifo(folder / "01_soft_retrieval.ipynb")
    here = os.open(folder, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(f"/proc/self/fd/{here}/02_why_sqrt_dk.ipynb")
    os.close(here)
