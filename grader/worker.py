"""The judge's handle on a worker: start it, ask it for a process per exercise, end that process."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from grader import ladder
from grader.limits import Limits
from grader.sandbox import wire

BOOT_SECONDS = 120
END_SECONDS = 10
CLEAN_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MPLBACKEND": "Agg", "PYTHONUTF8": "1",
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

    def fork(self, name, sources):
        """Start the process of one exercise. Returns an Attempt. Raises WorkerLost."""
        ours, theirs = socket.socketpair()
        with theirs:
            reply = self._ask(b"f", [theirs.fileno()], BOOT_SECONDS)
        return Attempt(self, int(reply), ours, name, sources)

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
        shutil.rmtree(self._folder, ignore_errors=True)

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

    def __init__(self, worker, pid, connection, name, sources):
        self.worker, self.pid, self.name = worker, pid, name
        self.connection = connection
        self.ended = None
        limits = worker.limits
        self.deadline = time.monotonic() + limits.start_seconds + limits.exercise_seconds
        job = {"name": name, "sources": list(sources), "limits": limits.as_dict()}
        try:
            self.problem = self._exchange(job, limits.start_seconds, "starting").get("problem")
        except Ended as reason:
            self.problem = str(reason)

    def call(self, request):
        """Make one call in the learner's process. Returns its answer as calls.perform does. Raises Ended."""
        return self._exchange(request, self.worker.limits.call_seconds, "a call")

    def close(self, patient=False):
        """End the process; where patient, after a moment to finish by itself. Safe to call twice. Returns how it ended."""
        if self.connection:
            self.connection.close()
            self.connection = None
            return self.worker.end(self.pid, patient)
        return None

    def _exchange(self, message, seconds, what):
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
            return reply
        except wire.TimedOut:
            self.close()
            self.ended = f"time limit: {what} took longer than {seconds:g} s"
        except wire.Malformed:
            self.close()
            self.ended = "malformed answer: what came back is not what a call returns"
        except wire.Closed:
            self.ended = f"no answer came back: {_reason(self.close(patient=True))}"
        raise Ended(self.ended)


def _reason(how):
    kind, _, number = (how or "").partition(" ")
    if kind == "signal" and int(number) == signal.SIGKILL:
        return "the process was killed (CPU time or memory limit)"
    if kind == "signal":
        return f"the process died ({signal.Signals(int(number)).name})"
    if kind == "exit":
        return f"the process ended itself (exit code {number})"
    return "the process closed its pipe"
