"""Each limit ends a program that hits it, each door is closed, and the next answer is graded as if nothing had happened."""

import os
import shutil
import subprocess
import time
from dataclasses import replace

import pytest
import torch

from grader import course, ladder
from grader.limits import Limits
from grader.sandbox import isolation
from grader.worker import Ended, Worker

QUICK = Limits(start_seconds=5, call_seconds=1.5, exercise_seconds=4, cpu_seconds=3, memory_bytes=512 << 20, file_bytes=1 << 20)


def rungs():
    """Every way in which this machine can run a worker: a level, and for level 3 each maker of namespaces."""
    found = [(1, None), (2, None)] if ladder.best()[0] >= 2 else [(1, None)]
    makers = ["own namespaces", "bubblewrap"] if shutil.which("bwrap") else ["own namespaces"]
    return [(3, maker) for maker in makers] * (ladder.best()[0] == 3) + found


@pytest.fixture(scope="module", params=rungs(), ids=str)
def running(request):
    level, maker = request.param
    with pytest.MonkeyPatch.context() as patch:
        if maker:
            patch.setattr(ladder, "namespace_maker", lambda: maker)
        with Worker(level, QUICK) as one:
            yield one


@pytest.fixture(scope="module")
def sealed():
    with Worker(2, QUICK) as one:
        yield one


def ask(running, body, *args):
    """Run a function body in a worker. Returns what a call returned, or raises Ended."""
    attempt = running.fork(
        "f", ["import os, sys, torch", "def f(*args):\n" + "".join(f"    {line}\n" for line in body.splitlines())]
    )
    try:
        assert attempt.problem is None, attempt.problem
        return attempt.call(
            {"name": "f", "args": list(args), "kwargs": {}, "seed": 1, "wrt": None, "watch": False, "repeat": False}
        )
    finally:
        attempt.close()


def good_answer_works(running):
    assert ask(running, "return args[0] * 2", torch.ones(2))["value"].tolist() == [2.0, 2.0]


BOMBS = {
    "endless loop": ("while True: pass", "time limit"),
    "loop that ignores signals": (
        "import signal\n[signal.signal(s, signal.SIG_IGN) for s in (2, 14, 15, 24)]\nwhile True: pass",
        "time limit",
    ),
    "loop that catches everything": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "time limit",
    ),
    "sleep": ("import time\ntime.sleep(60)", "time limit"),
    "segmentation fault": ("import ctypes\nctypes.string_at(0)", "SIGSEGV"),
    "abort": ("os.abort()", "SIGABRT"),
    "exit": ("os._exit(0)", "exit code 0"),
    "closed pipe": ("os.closerange(3, 100)\nimport time\ntime.sleep(60)", "no answer"),
    "forged frame": (
        "for fd in range(3, 40):\n    try: os.write(fd, b'x' * 64)\n    except OSError: pass",
        "malformed",
    ),
}


@pytest.mark.parametrize("title", BOMBS)
def test_a_bomb_ends_within_its_limit_and_hurts_nobody_else(running, title):
    body, reason = BOMBS[title]
    with pytest.raises(Ended, match=reason):
        ask(running, body)
    good_answer_works(running)


ERRORS = {
    "huge tensor": ("return torch.zeros(10**11)", "RuntimeError"),
    "hoard of tensors": ("hoard = []\nwhile True: hoard.append(torch.ones(10**7))", "RuntimeError"),
    "deep recursion": ("def g(n): return g(n + 1)\nreturn g(0)", "RecursionError"),
    "one huge file": ("open('big', 'wb').write(b'x' * (2 << 20))", "OSError"),
    "many descriptors": ("kept = [open('/dev/null') for _ in range(1000)]", "OSError"),
    "input": ("return input()", "EOFError"),
    "sys.exit": ("sys.exit(0)", "SystemExit"),
    "keyboard interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "exception that can't be printed": ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E", "E"),
}


@pytest.mark.parametrize("title", ERRORS)
def test_what_goes_too_far_raises_in_the_answer_alone(running, title):
    body, error = ERRORS[title]
    assert ask(running, body)["raised"][0] == error
    good_answer_works(running)


def test_a_flood_of_output_is_dropped(running):
    assert ask(running, "print('x' * 10**7)\nsys.stderr.write('y' * 10**7)\nreturn 3")["value"] == 3


def test_a_result_too_large_is_an_error(running):
    assert ask(running, "return torch.zeros(10**7, dtype=torch.float64)")["raised"] == ["ValueError"]


def test_files_of_one_answer_are_gone_for_the_next(running):
    ask(running, "open('left', 'w').write('x')\nos.makedirs('deep/er')\nreturn 1")
    assert ask(running, "return os.listdir('.')")["value"] == []


def test_the_environment_is_clean(running, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    with Worker(running.level, QUICK) as fresh:
        names = ask(fresh, "return sorted(os.environ)")["value"]
    assert "SECRET_TOKEN" not in names and "PATH" in names


def test_a_process_that_outlives_its_answer_is_killed(running):
    """At level 2 it can't even start."""
    body = "pid = os.fork()\nif pid == 0:\n    os.setsid()\n    import time\n    time.sleep(600)\nreturn pid"
    answer = ask(running, body)
    if running.level >= 2:
        assert answer["raised"][0] == "PermissionError"
    else:
        deadline = time.monotonic() + 5
        while os.path.exists(f"/proc/{answer['value']}") and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not os.path.exists(f"/proc/{answer['value']}")
    good_answer_works(running)


CLOSED_DOORS = {
    "solutions": f"return os.listdir({str(course.SOLUTIONS)!r})",
    "hidden checks": f"return open({str(course.HIDDEN / 'test_00_start_here.py')!r}).read()",
    "stand-ins": f"return os.listdir({str(course.STAND_INS)!r})",
    "another folder for files": "open('/tmp/mine', 'w')",
    "processes": "return os.listdir('/proc')",
    "shared memory": "open('/dev/shm/mine', 'w')",
    "the worker's parent": "os.kill(os.getppid(), 9)",
    "everybody": "os.kill(-1, 9)",
    "debugging": "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nif libc.ptrace(16, os.getppid(), 0, 0) < 0: raise PermissionError",
    "a program": "import subprocess\nsubprocess.run(['true'])",
    "a socket": "import socket\nsocket.socket()",
    "a process": "os.fork()",
}


@pytest.mark.parametrize("title", CLOSED_DOORS)
def test_at_level_2_a_door_is_closed(sealed, title):
    assert ask(sealed, CLOSED_DOORS[title])["raised"][0] == "PermissionError"
    good_answer_works(sealed)


def test_at_level_2_no_thread_starts(sealed):
    assert ask(sealed, "import threading\nthreading.Thread(target=print).start()")["raised"][0] == "RuntimeError"


def test_at_level_3_there_is_no_grader_to_find():
    probe = f"return [os.path.exists(path) for path in {[str(course.SOLUTIONS), str(course.HIDDEN), str(course.BANKS)]!r}]"
    with Worker(3, QUICK) as fresh:
        assert ask(fresh, probe)["value"] == [False, False, False]
        assert ask(fresh, "return os.getpid() < 100")["value"] is True


def test_why_level_3_is_missing_is_told(monkeypatch):
    monkeypatch.setattr(ladder, "_problem", lambda program: "refused")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    ladder.namespace_maker.cache_clear()
    level, reason = ladder.best()
    ladder.namespace_maker.cache_clear()
    assert level == 2 and "bubblewrap: it is not installed; own namespaces: refused" in reason


def test_at_level_2_no_memory_but_its_own_can_be_read(sealed):
    for pid in ("os.getppid()", str(os.getpid())):
        assert ask(sealed, f"open(f'/proc/{{{pid}}}/mem', 'rb')")["raised"][0] == "PermissionError"


def test_a_level_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(isolation, "landlock_version", lambda: 0)
    with pytest.raises(ladder.Unavailable, match="Landlock"):
        ladder.probe(2)
    level, reason = ladder.best()
    assert level == 1 and "Landlock" in reason


def test_an_answer_that_takes_long_to_define_is_ended():
    with Worker(limits=replace(QUICK, start_seconds=1)) as fresh:
        attempt = fresh.fork("f", ["while True: pass", "def f(): pass"])
        assert "time limit: starting took longer than 1 s" in attempt.problem
        attempt.close()
        good_answer_works(fresh)


def test_a_worker_leaves_nothing_behind():
    before = set(os.listdir("/proc"))
    with Worker(limits=QUICK) as fresh:
        folder, pid = fresh._folder, fresh._process.pid
        good_answer_works(fresh)
    assert not os.path.exists(folder) and not os.path.exists(f"/proc/{pid}")
    stray = [pid for pid in set(os.listdir("/proc")) - before if pid.isdigit()]
    commands = subprocess.run(
        ["ps", "-o", "args=", *(["-p", ",".join(stray)] if stray else ["-p", "1"])], capture_output=True, text=True
    ).stdout
    assert folder not in commands
