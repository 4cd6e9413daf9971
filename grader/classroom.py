"""Grading a class: every hand-in once, whatever happens in between.

What is graded is stored at once under DIR/.graded, keyed by the file's hash, the seed and the course; a run that was stopped goes
on from there.
"""

import hashlib
import json
import os
import secrets
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path

from grader import course, pages, report, submission
from grader.grading import Grader
from grader.report import Exercise, Submission

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
    for handin in handins:
        groups[handin.student, _claimed_notebook(handin.path) or str(handin.path)].append(handin)
    return [tuple(group) for group in groups.values()]


def _claimed_notebook(path):
    try:
        return submission.read(path.read_bytes(), path.stem).notebook.stem
    except (submission.Refused, OSError):
        return None


def _graded(run, todo):
    """Grade what is left, in this process or in `jobs` others, in any order."""
    if run.jobs <= 1 or len(todo) <= 1:
        try:
            yield from (_grade(run, group) for group in todo)
        finally:
            _stop_grader()
        return
    with ProcessPoolExecutor(run.jobs, mp_context=get_context("spawn")) as pool:
        yield from (future.result() for future in [pool.submit(_grade, run, group) for group in todo])


@cache
def _grader(seed, level):
    import atexit

    grader = Grader(seed, level)
    atexit.register(grader.close)
    return grader


def _stop_grader():
    _grader.cache_clear()


def _grade(run, group):
    """Grade one hand-in, write its page, store the result."""
    started = time.perf_counter()
    handin = group[0]
    blank = Submission(handin.student, None, "/".join(handin.path.parts[-2:]))
    try:
        raw = handin.path.read_bytes()
        if len(group) > 1:
            raise submission.Refused(f"two files for one notebook: {', '.join(each.path.name for each in group)}")
        graded = _grade_bytes(run, blank, raw, handin)
    except OSError as error:
        graded = replace(blank, status="refused", reason=f"unreadable: {error.strerror}")
    except submission.Refused as reason:
        known = course.notebook(handin.path.stem)
        graded = replace(
            blank, sha256=hashlib.sha256(raw).hexdigest(), notebook=known and known.stem, max_score=known and known.max_score,
            status="refused", reason=str(reason),
        )  # fmt: skip
    graded = replace(graded, findings=[*graded.findings, *handin.findings], seconds=round(time.perf_counter() - started, 3))
    pages.write(run, graded)
    report.write_whole(_stored(run, group), json.dumps(graded.as_dict(), ensure_ascii=False))
    return graded


def _grade_bytes(run, blank, raw, handin):
    read = submission.read(raw, handin.path.stem)
    exercises = []
    for exercise in read.notebook.exercises:
        answer = read.answers[exercise.name]
        if answer.attempted:
            exercises.append(Exercise.of(_grader(run.seed, run.level).grade(exercise, answer.source, answer.helpers)))
        else:
            exercises.append(Exercise(exercise.name, "not_attempted", 0.0, exercise.points))
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
