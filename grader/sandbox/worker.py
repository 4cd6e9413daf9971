"""The only module that runs a learner's code.

A worker's parent imports torch once, takes its place on the ladder of isolation and then forks one process for each exercise.
That process gets the setup cell, stand-ins for earlier exercises, the learner's helpers and one answer, and serves calls on it.
"""

import ast
import contextlib
import gc
import os
import signal
import socket
import sys
import time

from grader.sandbox import calls, isolation, wire


def main(control_fd, level, folder, readable):
    """Serve the judge on the control socket.

    "f" with a descriptor asks for a fork, "e" with a process number for its end, "w" for its end after a moment to finish by
    itself.
    """
    control = socket.socket(fileno=control_fd)
    _warm_up()
    isolation.adopt_orphans()
    rules = isolation.file_rules(readable, [folder, os.devnull]) if level >= 2 else None
    os.chdir(folder)
    gc.collect()
    gc.freeze()  # what is here now is never looked at again by a collection, so that forks go on sharing its memory
    control.sendall(b"ready")
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 64, 1)
        if not message:
            _kill_descendants()
            return
        command, argument = message[:1], message[1:].decode()
        if command == b"f":
            control.sendall(str(_fork(control, socket.socket(fileno=descriptors[0]), rules)).encode())
        else:
            control.sendall(_end(int(argument), folder, patience=1.0 if command == b"w" else 0.0).encode())


def _warm_up():
    """Load whatever the first call of an answer would load (some of it is out of reach later), and start no thread: a fork copies
    only one."""
    import matplotlib
    import torch

    import course_utils.checks  # noqa: F401

    matplotlib.use("Agg")
    torch.set_num_threads(1)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        square = torch.ones(4, 4, dtype=dtype)
        (torch.einsum("ij,jk->ik", square, square) @ square).softmax(-1).float().exp().sum().item()
    request = {"name": "rehearsal", "kwargs": {}, "seed": 1, "repeat": True, "args": [torch.randn(2, 3, 4, 5)] * 3}
    for wrt, watch in (([0], False), (None, True)):
        calls.perform({"rehearsal": _rehearsal}, request | {"wrt": wrt, "watch": watch})
    if sys.platform == "linux" and len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("the worker's parent has more than one thread")


def _rehearsal(query, key, value):
    """Many of the operators that answers use: each is slow the first time."""
    import torch

    scores = query @ key.transpose(-2, -1) / 5**0.5
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = torch.where(mask, weights / weights.sum(-1, keepdim=True), 0.0)
    x = torch.nn.functional.layer_norm(torch.nn.functional.dropout(weights @ value, 0.1), (5,))
    return torch.nn.functional.linear(x.relu() + x.sin() * x.var(-1, keepdim=True).sqrt(), torch.eye(5)), weights.argmax(-1)


def _fork(control, connection, rules):
    pid = os.fork()
    if pid:
        connection.close()
        return pid
    try:
        isolation.die_with_parent()
        control.close()
        os.setsid()
        _serve(connection, rules)
    finally:
        os._exit(0)


def _serve(connection, rules):
    """In the process of one exercise: take the job, build the namespace, answer calls until the judge hangs up."""
    job = wire.receive(connection)
    with open(os.devnull, "r+b", buffering=0) as nothing:
        for standard in (0, 1, 2):
            os.dup2(nothing.fileno(), standard)
    for module in ("course_utils.parts", "course_utils.pytorch_parts"):
        sys.modules[module] = None  # stand-ins take their place, and theirs would be an answer to some exercises
    isolation.limit_resources(job["limits"])
    if sys.platform == "linux":
        isolation.drop_capabilities()
    if rules is not None:
        isolation.restrict_files(rules)
        isolation.restrict_calls()
    namespace = {"__name__": "__main__"}
    problem = build(namespace, job["sources"], job["name"])
    with contextlib.suppress(wire.Closed):
        wire.send(connection, {"nonce": job["nonce"], "problem": problem})
        while True:
            request = wire.receive(connection)
            answer = calls.perform(namespace, request)
            try:
                wire.send(connection, {"nonce": request["nonce"], **answer})
            except wire.Malformed as error:
                wire.send(connection, {"nonce": request["nonce"], "raised": ["ValueError"], "message": str(error)})


def build(namespace, sources, name):
    """Run the sources in order, statement by statement.

    A statement that fails is left out, as long as `name` is there in the end. Returns None, or one line that says what is wrong.
    """
    first_problem = None
    for source in sources:
        try:
            statements = ast.parse(source).body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            first_problem = first_problem or _one_line(error)
            continue
        for statement in statements:
            try:
                exec(compile(ast.Module([statement], []), f"<{name}>", "exec"), namespace)
            except BaseException as error:  # sys.exit() included: it would end this process before an answer came back
                first_problem = first_problem or _one_line(error)
    if name in namespace:
        return None
    return first_problem or f"{name} is not defined"


def _one_line(error):
    where = f" in line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    return f"{type(error).__name__}{where}: {calls.message_of(error)}".strip()


def _end(pid, folder, patience):
    """End an exercise: its process, whatever it started and left, and its files. Says how the process had ended."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    while not ended and patience > 0:
        time.sleep(0.01)
        patience -= 0.01
        ended, status = os.waitpid(pid, os.WNOHANG)
    if not ended:
        for victim in (os.killpg, os.kill):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                victim(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    _kill_descendants()
    isolation.clear(folder)
    if not ended:
        return "stopped"
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"exit {os.waitstatus_to_exitcode(status)}"


def _kill_descendants():
    """Kill until nobody is left: orphans become children of this process, one round after the other."""
    while children := _children():
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for _ in children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, 0)


def _children():
    try:
        with open("/proc/thread-self/children") as listed:
            return [int(pid) for pid in listed.read().split()]
    except OSError:
        return []
