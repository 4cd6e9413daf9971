"""Many hand-ins, several processes, a cluster: nothing is lost, whoever dies in the middle."""

import os
import signal
import threading
import time

import psutil
import pytest
from conftest import reference_of

from grader import classroom, desk, discover

STUDENTS = 8


@pytest.fixture
def run_over(released, handin, tmp_path):
    """A function that grades a small class and says what it got; `disturb` is called once, when two hand-ins are done."""
    answers = {name: reference_of(name) for name in ("softmax", "batched_outer")}
    for number in range(STUDENTS):
        handin(f"student {number}", released(**answers))
    handins = discover.discover([tmp_path / "submissions"])

    def grade(disturb=lambda: None, **options):
        run = desk.Run(tmp_path / "out", 1, 2, **options)
        seen = []

        def on_progress(submission):
            seen.append(submission)
            if len(seen) == 2:
                disturb()

        return classroom.grade_all(run, handins, on_progress), seen

    return grade


def all_full(graded):
    return [(each.status, each.score) for each in graded] == [("graded", 3.0)] * STUDENTS


def test_a_job_that_dies_is_replaced_and_nothing_is_lost(run_over):
    def kill_a_job():
        jobs = [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]
        jobs[0].kill()

    graded, seen = run_over(kill_a_job, jobs=2)
    assert all_full(graded) and len(seen) == STUDENTS


@pytest.fixture
def cluster():
    """A real Dask cluster: a scheduler and two worker processes."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50) as running:
        yield running


def test_a_cluster_gives_the_same_marks_and_survives_the_loss_of_a_worker(run_over, cluster):
    def kill_a_worker():
        pid = next(iter(cluster.workers.values())).pid
        threading.Thread(target=os.kill, args=(pid, signal.SIGKILL)).start()

    graded, seen = run_over(kill_a_worker, scheduler=cluster.scheduler_address)
    assert all_full(graded) and len(seen) == STUDENTS


def test_no_process_is_left_when_a_run_is_over(run_over):
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    run_over(jobs=2)
    deadline = time.monotonic() + 10
    left = {1}
    while left and time.monotonic() < deadline:
        left = {
            process.pid for process in psutil.Process().children(recursive=True) if "grader.sandbox" in " ".join(process.cmdline())
        } - before
        time.sleep(0.1)
    assert left == set()
