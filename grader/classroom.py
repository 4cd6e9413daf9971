"""Grading a class: every hand-in once, whatever happens in between.

What is graded is stored at once under DIR/.graded, keyed by the file's hash, the seed and the course; a run that was stopped goes
on from there.
"""

import atexit
import hashlib
import json
import os
import secrets
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from grader import course, pages, report, submission
from grader.grading import Grader
from grader.report import Exercise, Submission

POOL_TRIES = 5
GRADED_BY = ("solutions/*.py", "grader/**/*.py", "course_utils/compare.py", "pyproject.toml")


@dataclass(frozen=True)
class Run:
    """What one run of `grade` is about. level: of isolation."""

    out: Path
    seed: int
    level: int
    jobs: int = 1
    regrade: bool = False

    @property
    def store(self):
        return self.out / ".graded"


def choose_seed(out, wanted=None):
    """The seed of a run: the wanted one, else that of an earlier run into the same folder, else a fresh one. Stored."""
    stored = out / ".graded" / "seed"
    if wanted is None and stored.exists():
        return int(stored.read_text())
    seed = secrets.randbelow(2**31) if wanted is None else wanted
    report.write_whole(stored, f"{seed}\n")
    return seed


def grade_all(run, handins, on_progress=lambda submission: None):
    """Grade all hand-ins. Returns a list of report.Submission, in the order of students and notebooks."""
    done, todo = [], []
    for group in _by_notebook(handins):
        kept = None if run.regrade else _load(run, group)
        if kept:
            done.append(kept)
            on_progress(kept)
        else:
            todo.append(group)
    for graded in _graded(run, todo):
        done.append(graded)
        on_progress(graded)
    return sorted(done, key=lambda each: (each.student, each.notebook or "", each.file))


def _by_notebook(handins):
    """Hand-ins of one student that claim to be the same notebook belong together: neither can be preferred."""
    groups = defaultdict(list)
    files = Counter(handin.student for handin in handins)
    for handin in handins:
        claim = _claimed_notebook(handin.path) if files[handin.student] > 1 else None
        groups[handin.student, claim or str(handin.path)].append(handin)
    return [tuple(group) for group in groups.values()]


def _claimed_notebook(path):
    try:
        return submission.read(path.read_bytes(), path.stem).notebook.stem
    except (submission.Refused, OSError):
        return None


def _graded(run, todo):
    """Grade what is left, in this process or in `jobs` others, in any order. A job that dies is replaced; nothing is lost."""
    if run.jobs <= 1 or len(todo) <= 1:
        with Desk(run) as desk:
            yield from map(desk.grade, todo)
        return
    for _ in range(POOL_TRIES):
        with ProcessPoolExecutor(run.jobs, get_context("spawn"), _open_desk, (run,)) as pool:
            futures = {pool.submit(_grade_at_desk, group): group for group in todo}
            for future in as_completed(futures):
                if not future.exception():
                    todo.remove(futures[future])
                    yield future.result()
        if not todo:
            return
    raise BrokenProcessPool(f"{len(todo)} submissions brought down {POOL_TRIES} pools of jobs, the first is {todo[0][0].path}")


def _open_desk(run):
    """In a job: the desk that grades all its submissions."""
    global _desk
    _desk = Desk(run)
    atexit.register(_desk.close)


def _grade_at_desk(group):
    return _desk.grade(group)


class Desk:
    """Where hand-ins are graded, one after another, by one judge that is started when the first answer comes."""

    def __init__(self, run):
        self.run = run
        self._grader = None

    def grade(self, group):
        """Grade one hand-in, write its page, store the result. Returns a report.Submission."""
        started = time.perf_counter()
        graded = self._graded(group)
        graded.findings.extend(group[0].findings)
        graded.seconds = round(time.perf_counter() - started, 3)
        pages.write(self.run, graded)
        report.write_whole(_stored(self.run, group), json.dumps(graded.as_dict(), ensure_ascii=False))
        return graded

    def close(self):
        if self._grader:
            self._grader.close()
            self._grader = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _graded(self, group):
        path = group[0].path
        blank = Submission(group[0].student, None, "/".join(path.parts[-2:]))
        try:
            raw = path.read_bytes()
        except OSError as error:
            return replace(blank, status="refused", reason=f"unreadable: {error.strerror}")
        try:
            if len(group) > 1:
                raise submission.Refused(f"two files for one notebook: {', '.join(each.path.name for each in group)}")
            return self._marks(blank, submission.read(raw, path.stem))
        except submission.Refused as reason:
            known = course.notebook(path.stem)
            blank = replace(blank, sha256=hashlib.sha256(raw).hexdigest(), status="refused", reason=str(reason))
            return replace(blank, notebook=known.stem, max_score=known.max_score) if known else blank

    def _marks(self, blank, read):
        exercises = [self._mark(exercise, read.answers[exercise.name]) for exercise in read.notebook.exercises]
        fault = next((each for each in exercises if each.status == "grader_fault"), None)
        return replace(
            blank,
            notebook=read.notebook.stem,
            sha256=read.sha256,
            status="grader_fault" if fault else "graded",
            reason=f"{fault.name}: {fault.checks[0]['message']}" if fault else None,
            score=None if fault else round(sum(each.score for each in exercises), 4),
            max_score=read.notebook.max_score,
            findings=read.findings,
            exercises=exercises,
        )

    def _mark(self, exercise, answer):
        if not answer.attempted:
            return Exercise(exercise.name, "not_attempted", 0.0, exercise.points)
        if self._grader is None:
            self._grader = Grader(self.run.seed, self.run.level)
        return Exercise.of(self._grader.grade(exercise, answer.source, answer.helpers))


def _load(run, group):
    """The stored result of an earlier run with the same file, seed and course, or None. A fault of the grader is tried again."""
    try:
        stored = Submission.from_dict(json.loads(_stored(run, group).read_text("utf-8")))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return None if stored.status == "grader_fault" else stored


def _stored(run, group):
    digest = hashlib.sha256(f"{run.seed} {run.level} {course_digest()}".encode())
    for handin in group:
        digest.update(f"\0{handin.student}\0{handin.path}\0".encode("utf-8", "surrogatepass"))
        digest.update(handin.path.read_bytes() if os.access(handin.path, os.R_OK) else b"")
    return run.store / f"{digest.hexdigest()[:32]}.json"


@cache
def course_digest():
    """A hash of everything that decides a mark."""
    digest = hashlib.sha256()
    for pattern in GRADED_BY:
        for path in sorted(course.ROOT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()
