"""The ladder of isolation: what each level is, whether this machine offers it, and how a worker is started on it.

Level 3: a worker in namespaces of its own (by bubblewrap, or by itself) that sees only the Python installation, on top of level 2.
Level 2: Landlock (files, TCP, signals) and seccomp (no process, no thread, no socket, no debugger) on top of level 1.
Level 1: limits on resources, wall clock, a process group, a clean environment; orphans are adopted and killed.
"""

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

from grader.course import ROOT
from grader.sandbox import isolation

FOLDER_BYTES = 64 << 20
PROBE_SECONDS = 20
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime")
ENTER = "from grader.sandbox import namespaces; namespaces.enter({readable!r}, {folder!r}, {size})"
MAIN = "from grader.sandbox.worker import main; del sys.path[0]; main({control}, {level}, {folder!r}, {readable!r})"


class Unavailable(Exception):
    """A level that this machine does not offer. The message says why."""


def best():
    """The highest level that this machine offers, and why not a higher one (None at the top)."""
    reason = None
    for level in (3, 2, 1):
        try:
            probe(level)
            return level, reason
        except Unavailable as missing:
            reason = reason or str(missing)
    raise Unavailable(reason)


def probe(level):
    """Raise Unavailable, with the reason, where this machine does not offer `level`."""
    if not hasattr(os, "fork"):
        raise Unavailable(f"level {level} needs fork, which {sys.platform} does not have")
    if level >= 2:
        _probe_filters()
    if level >= 3:
        namespace_maker()


def detail(level):
    """What a level consists of on this machine, in a few words."""
    parts = [namespace_maker()] if level >= 3 else []
    parts += [f"landlock {isolation.landlock_version()}", "seccomp"] if level >= 2 else []
    return ", ".join([*parts, "resource limits"])


def command(level, control, folder):
    """The command line that starts a worker. control: its socket's descriptor; folder: the only place where it may write."""
    start = [sys.executable, "-I", "-c"]
    code = [f"import sys; sys.path.insert(0, {str(ROOT)!r})"]
    maker = namespace_maker() if level >= 3 else None
    if maker == "own namespaces":
        code.append(ENTER.format(readable=[*_readable(), *_sandbox()], folder=folder, size=FOLDER_BYTES))
    code.append(MAIN.format(control=control, level=level, folder=folder, readable=_readable()))
    return [*(_bubblewrap(folder) if maker == "bubblewrap" else []), *start, "; ".join(code)]


@cache
def namespace_maker():
    """Who makes the namespaces of level 3: "bubblewrap" or "own namespaces". Raises Unavailable with both reasons."""
    reasons = []
    with tempfile.TemporaryDirectory() as folder:
        probes = {
            "bubblewrap": [*_bubblewrap(folder), "/bin/true"] if shutil.which("bwrap") else None,
            "own namespaces": [sys.executable, "-I", isolation.__file__.replace("isolation", "namespaces"), folder, *_readable()],
        }
        for maker, program in probes.items():
            problem = "it is not installed" if program is None else _problem(program)
            if problem is None:
                return maker
            reasons.append(f"{maker}: {problem}")
    raise Unavailable(f"level 3 needs namespaces ({'; '.join(reasons)})")


def _problem(program):
    """None where the program ends well, else the last line of what it says."""
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=PROBE_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else said[-1] if said else f"it ended with {done.returncode}"


def _probe_filters():
    if sys.platform != "linux":
        raise Unavailable(f"level 2 needs Linux, this is {sys.platform}")
    if platform.machine() not in isolation.SYSCALLS:
        raise Unavailable(f"level 2 knows no system calls of {platform.machine()}")
    if isolation.landlock_version() < 1:
        raise Unavailable("level 2 needs Landlock, which this kernel does not offer")
    if not isolation.has_seccomp():
        raise Unavailable("level 2 needs seccomp, which this kernel does not offer")


def _bubblewrap(folder):
    """bwrap and its options: nothing shared, the readable paths at their places, an empty folder of limited size."""
    options = ["bwrap", "--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for path in [*_readable(), *_sandbox()]:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif not path.startswith("/dev/"):
            options += ["--ro-bind-try", path, path]
    return [*options, "--size", str(FOLDER_BYTES), "--tmpfs", folder, "--chdir", folder, "--"]


def _readable():
    """What a Python process needs: its own folders, the environment's, the system's libraries, the learners' package."""
    paths = {
        sys.prefix,
        sys.base_prefix,
        sysconfig.get_path("purelib"),
        str(ROOT / "course_utils"),
        *SYSTEM,
        "/dev/urandom",
        "/dev/zero",
    }
    inner = {path for path in paths for other in paths if path != other and Path(path).is_relative_to(other)}
    return sorted(paths - inner)


def _sandbox():
    """The worker's own code. Visible at level 3, where the rest of the grader is not; never readable for an answer."""
    return [str(ROOT / "grader" / "__init__.py"), str(ROOT / "grader" / "sandbox")]
