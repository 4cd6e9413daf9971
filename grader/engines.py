"""Who does the work: this process, other processes on this machine, or a cluster. All give the same marks, in any order."""

import atexit
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from grader.desk import Desk, load

TRIES = 5  # how often the loss of a job's process is made good


def choose(run):
    """The engine for a run: a function of the run and the groups of hand-ins that yields a report.Submission for each."""
    return on_cluster if run.scheduler else in_jobs if run.jobs > 1 else here


def here(run, todo):
    """One after another in this process."""
    with Desk(run) as desk:
        yield from map(desk.grade, todo)


def in_jobs(run, todo):
    """In `run.jobs` processes. A process that dies is replaced; what it had not stored is graded again."""
    for _ in range(TRIES):
        with ProcessPoolExecutor(run.jobs, get_context("spawn")) as pool:
            futures = {pool.submit(_at_desk, run, group): group for group in todo}
            for future in as_completed(futures):
                if isinstance(future.exception(), BrokenProcessPool):
                    continue
                todo.remove(futures[future])
                yield future.result()
        if not todo:
            return
    raise BrokenProcessPool(f"{len(todo)} hand-ins brought down {TRIES} pools of jobs; the first is {todo[0][0].path}")


def on_cluster(run, todo):
    """On the workers of a Dask scheduler. They need this project, its environment and the same folders."""
    from distributed import Client
    from distributed import as_completed as cluster_completed

    with Client(run.scheduler) as client:
        futures = [client.submit(_at_desk, run, group, pure=False, retries=TRIES) for group in todo]
        for future in cluster_completed(futures):
            yield future.result()


_desks, _lock = {}, threading.Lock()


def _at_desk(run, group):
    """In another process: grade at its desk for this run. One hand-in at a time, whatever number of threads calls."""
    with _lock:
        if run not in _desks:
            _desks[run] = Desk(run)
            atexit.register(_desks[run].close)
        stored = None if run.regrade else load(run, group)  # by a process that died right after it
        return stored or _desks[run].grade(group)
