"""One run of the command `grade` over the class of attacks, and what can be seen of it from outside."""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from grader import course

MARK = "left_by_an_attack"
HELP_PORT, LISTENING_PORT, SHARED_MEMORY_KEY = 47821, 47822, 0x41545443
TOKENS = {"ATTACKED_TOKEN": "x", "JUPYTERHUB_API_TOKEN": "x", "NBGRADER_EXECUTION": "autograde"}
SECONDS = 900
DRIVER = """\
import sys
from grader import ladder
from grader.__main__ import main
level = {level!r}
if level:
    ladder.best = lambda: (level, "forced by a test")
sys.exit(main(sys.argv[1:]))
"""
PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Run:
    """What a run gave: its exit code, what it printed, its results, what it left, and how long it took."""

    level: object
    code: int
    printed: str
    out: Path
    left: list[str]
    seconds: float

    @property
    def results(self):
        return json.loads((self.out / "results.json").read_text("utf-8"))


def grade(level, submissions, folder):
    """Run `grade` over a folder of submissions at a level (None: the best one). Returns a Run."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # whatever outlives the run becomes a child of this process
    children, files = _children(), _contents(submissions)
    out, started = folder / "out", time.monotonic()
    with helper_outside():
        code, printed = _command(level, submissions, folder, out)
    seconds = time.monotonic() - started
    left = [*_strays(children), *marked_files(folder), *_leftovers(folder / "tmp"), *_doors()]
    left += ["the submissions were changed"] if _contents(submissions) != files else []
    left += [f"{path.name} in the folder of results" for path in out.glob("*") if path.name not in KNOWN]
    return Run(level, code, printed, out, left, seconds)


KNOWN = {"results.json", "grades.csv", "feedback", ".graded"}


def _command(level, submissions, folder, out):
    environment = (
        os.environ | TOKENS | {"TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "PYTHONPATH": str(course.ROOT)}
    )
    for name in ("tmp", "home"):
        (folder / name).mkdir(parents=True)
    command = [sys.executable, "-c", DRIVER.format(level=level), "grade", str(submissions), "--out", str(out), "--jobs", "2"]
    command += ["--seed", "11", *(["--allow-weaker-isolation"] if level == 1 else [])]
    with open(folder / "printed.txt", "wb") as printed:
        done = subprocess.run(
            command, cwd=course.ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=printed, stderr=printed, timeout=SECONDS
        )
    return done.returncode, (folder / "printed.txt").read_text("utf-8", errors="backslashreplace")


@contextlib.contextmanager
def helper_outside():
    """Somebody on the network who knows the answer and tells everyone who asks, by TCP and by UDP."""
    answer = course.exercise("softmax").source.encode()
    with socket.create_server(("127.0.0.1", HELP_PORT)) as calls, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
        packets.bind(("127.0.0.1", HELP_PORT))
        for serve in (_serve_calls, _serve_packets):
            threading.Thread(target=serve, args=(calls if serve is _serve_calls else packets, answer), daemon=True).start()
        yield
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):  # wake both, so that they end
            with socket.socket(socket.AF_INET, kind) as last:
                last.connect(("127.0.0.1", HELP_PORT))
                last.sendall(b"end")


def _serve_calls(door, answer):
    while True:
        visitor, _ = door.accept()
        with visitor, contextlib.suppress(OSError):
            visitor.settimeout(0.2)
            visitor.sendall(answer)
            if visitor.recv(3) == b"end":
                return


def _serve_packets(door, answer):
    while True:
        asked, sender = door.recvfrom(100)
        if asked == b"end":
            return
        door.sendto(answer, sender)


def _children():
    listed = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return {int(pid) for pids in listed for pid in pids}


def _strays(before, patience=3.0):
    """Processes that outlived the run, as texts. They are ended."""
    deadline = time.monotonic() + patience
    while (strays := {pid for pid in _children() - before if not _is_zombie(pid)}) and time.monotonic() < deadline:
        time.sleep(0.05)
    said = [f"process {pid}: {_command_line(pid)}" for pid in sorted(strays)]
    for pid in _children() - before:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return said


def _is_zombie(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def _command_line(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120]
    return "?"


def marked_files(folder):
    """Files that an attack made outside the places where it may write."""
    tops = {Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path.home(), course.ROOT, folder}
    found = {path for top in tops for path in _walk(top) if MARK in path.name}
    for flat in {sysconfig.get_path("purelib"), sys.prefix, sys.base_prefix, "/etc", *filter(os.path.isdir, sys.path)}:
        found |= {Path(flat, name) for name in os.listdir(flat) if MARK in name}
    return [f"file {path}" for path in sorted(found)]


def _walk(top):
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name not in (".git", ".venv", "node_modules", "proc")]
        yield from (Path(folder, name) for name in [*folders, *files])


def _leftovers(folder):
    return [f"temporary {path.name}" for path in folder.glob("*")]


def _doors():
    """A port that somebody still listens on, shared memory that nobody removed."""
    with socket.socket() as visitor:
        doors = [f"port {LISTENING_PORT}"] if visitor.connect_ex(("127.0.0.1", LISTENING_PORT)) == 0 else []
    shared = Path("/proc/sysvipc/shm")
    keys = [line.split()[0] for line in shared.read_text().splitlines()[1:]] if shared.exists() else []
    return [*doors, *(["shared memory"] if str(SHARED_MEMORY_KEY) in keys else [])]


def _contents(folder):
    """All names under a folder with the sizes and times of the files; nothing is opened."""
    found = []
    for path in sorted(_walk(folder), key=os.fsencode):
        status = path.lstat()
        found.append((os.fsencode(path), status.st_size, status.st_mtime_ns))
    return found
