"""The judge's handle on a worker: start it, ask it for a process per exercise, end that process."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import tempfile
import time

import torch

from grader import ladder
from grader.limits import Limits
from grader.sandbox import isolation, wire

BOOT_SECONDS = 120
END_SECONDS = 10
TEXT_LIMIT = 500
CLEAN_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1",
    "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONUTF8": "1",
    "CUDA_VISIBLE_DEVICES": "", "PATH": os.defpath, "LANG": "C.UTF-8", "TORCH_CPP_LOG_LEVEL": "ERROR",
}  # fmt: skip


class WorkerLost(Exception):
    """The worker's parent is gone or silent. The caller may start another; this is never the learner's mark."""


class Ended(Exception):
    """The process of an exercise gave no answer. The message is the reason that the learner reads."""


class Worker:
    """A running worker. Use as a context manager, or call close()."""

    def __init__(self, level=None, limits=None):
        self.level = ladder.best()[0] if level is None else level
        ladder.probe(self.level)
        self.limits = limits or Limits()
        self._process = None
        self._start()

    def fork(self, name, sources, limits=None):
        """Start the process of one exercise, under its own limits where given. Returns an Attempt. Raises WorkerLost."""
        ours, theirs = socket.socketpair()
        with theirs:
            reply = self._ask(b"f", [theirs.fileno()], BOOT_SECONDS)
        return Attempt(self, int(reply), ours, name, sources, limits or self.limits)

    def end(self, pid, patient=False):
        """End the process of an exercise and everything it left. Returns how it ended: "stopped", "signal N" or "exit N"."""
        return self._ask((b"w" if patient else b"e") + str(pid).encode(), [], END_SECONDS)

    def restart(self):
        """Throw this worker away and start a fresh one."""
        self.close()
        self._start()

    def close(self):
        """End the worker, what it started, and its folder."""
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        with contextlib.suppress(OSError):
            isolation.clear(self._folder)
            os.rmdir(self._folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        self._folder = tempfile.mkdtemp(prefix="answer-")
        self._control, theirs = socket.socketpair()
        environment = CLEAN_ENVIRONMENT | {"HOME": self._folder, "TMPDIR": self._folder, "MPLCONFIGDIR": self._folder}
        with theirs:
            self._process = subprocess.Popen(
                ladder.command(self.level, theirs.fileno(), self._folder),
                pass_fds=[theirs.fileno()],
                env=environment,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        if self._receive(BOOT_SECONDS) != "ready":
            raise WorkerLost("the worker did not start")

    def _ask(self, message, descriptors, seconds):
        try:
            socket.send_fds(self._control, [message], descriptors)
        except OSError as error:
            raise WorkerLost("the worker is gone") from error
        return self._receive(seconds)

    def _receive(self, seconds):
        self._control.settimeout(seconds)
        try:
            reply = self._control.recv(64)
        except OSError as error:
            raise WorkerLost("the worker is silent") from error
        if not reply:
            raise WorkerLost("the worker is gone")
        return reply.decode()


class Attempt:
    """One exercise of one submission, running in a process of its own."""

    def __init__(self, worker, pid, connection, name, sources, limits):
        self.worker, self.pid, self.name, self.limits = worker, pid, name, limits
        self.connection = connection
        self.ended = None
        self.deadline = time.monotonic() + limits.start_seconds + limits.exercise_seconds
        job = {"name": name, "sources": list(sources), "limits": limits.as_dict()}
        try:
            self.problem = self._exchange(job, limits.start_seconds, "starting", _plain_start)["problem"]
        except Ended as reason:
            self.problem = str(reason)

    def call(self, request):
        """Make one call in the learner's process. Returns its answer as calls.perform does. Raises Ended."""
        return self._exchange(request, self.limits.call_seconds, "a call", _plain_reply)

    def close(self, patient=False):
        """End the process; where patient, after a moment to finish by itself. Safe to call twice. Returns how it ended."""
        if self.connection:
            self.connection.close()
            self.connection = None
            return self.worker.end(self.pid, patient)
        return None

    def _exchange(self, message, seconds, what, plain):
        if self.ended:
            raise Ended(self.ended)
        nonce = secrets.token_hex(8)
        now = time.monotonic()
        try:
            self.connection.settimeout(seconds)
            wire.send(self.connection, {**message, "nonce": nonce})
            reply = wire.receive(self.connection, min(now + seconds, self.deadline))
            if not isinstance(reply, dict) or reply.pop("nonce", None) != nonce:
                raise wire.Malformed
            return plain(reply)
        except wire.TimedOut:
            self.close()
            self.ended = f"time limit: {what} took longer than {seconds:g} s"
        except wire.Malformed:
            self.close()
            self.ended = "malformed answer: what came back is not what a call returns"
        except wire.Closed:
            self.ended = f"no answer came back: {_reason(self.close(patient=True))}"
        raise Ended(self.ended)


def _plain_start(reply):
    """What a worker says at the start, as an honest one says it. Raises Malformed."""
    problem = reply.get("problem")
    if not (problem is None or isinstance(problem, str)):
        raise wire.Malformed
    return {"problem": problem and problem[:TEXT_LIMIT]}


def _plain_reply(reply):
    """What a worker says to a call, as an honest one says it: all fields, each of its type, texts cut. Raises Malformed."""
    if "raised" in reply:
        names, message = reply["raised"], reply.get("message")
        if not (isinstance(names, list) and names and all(isinstance(each, str) for each in [*names, message])):
            raise wire.Malformed
        return {"raised": [name[:TEXT_LIMIT] for name in names[:TEXT_LIMIT]], "message": message[:TEXT_LIMIT]}
    gradients, operators = reply.get("gradients"), reply.get("operators")
    if not (gradients is None or isinstance(gradients, list) and all(isinstance(each, torch.Tensor) for each in gradients)):
        raise wire.Malformed
    if not (isinstance(operators, list) and all(isinstance(each, str) for each in operators)):
        raise wire.Malformed
    if not ("value" in reply and all(isinstance(reply.get(each), bool) for each in ("changed", "unsteady"))):
        raise wire.Malformed
    return {name: reply[name] for name in ("value", "gradients", "changed", "unsteady", "operators")}


def _reason(how):
    kind, _, number = (how or "").partition(" ")
    if kind == "signal" and int(number) == signal.SIGKILL:
        return "the process was killed (CPU time or memory limit)"
    if kind == "signal":
        return f"the process died ({signal.Signals(int(number)).name})"
    if kind == "exit":
        return f"the process ended itself (exit code {number})"
    return "the process closed its pipe"
