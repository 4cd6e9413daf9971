"""Where hand-ins are graded: one judge, started when the first answer comes, and a store of what is graded.

Results are stored at once under DIR/.graded, keyed by the file, the student, the seed, the level and everything that decides a
mark.
"""

import contextlib
import hashlib
import json
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from grader import course, pages, report, submission
from grader.grading import Grader
from grader.judge import GraderFault
from grader.report import Exercise, Submission
from grader.worker import WorkerLost

GRADED_BY = ("solutions/*.py", "grader/**/*.py", "course_utils/compare.py", "pyproject.toml")


@dataclass(frozen=True)
class Run:
    """What one run of `grade` is about. level: of isolation; scheduler: the address of a Dask scheduler, or None."""

    out: Path
    seed: int
    level: int
    jobs: int = 1
    regrade: bool = False
    scheduler: str | None = None

    @property
    def store(self):
        return self.out / ".graded"


class Desk:
    """Where hand-ins are graded, one after another, by one judge that is started when the first answer comes."""

    def __init__(self, run):
        self.run = run
        self._grader = None

    def grade(self, group):
        """Grade one hand-in, write its page, store the result. Returns a report.Submission."""
        started = time.perf_counter()
        try:
            graded = self._graded(group)
        except Exception as error:  # ours: one submission without a mark, never a class without marks
            graded = replace(_blank(group), status="grader_fault", reason=f"{type(error).__name__}: {error}"[:200])
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
        path, blank = group[0].path, _blank(group)
        if path.is_dir():
            reason = "; ".join(group[0].findings) or "the folder holds no notebook"
            return replace(blank, status="refused", reason=reason)
        try:
            raw = submission.load(path)
        except OSError as error:
            return replace(blank, status="refused", reason=f"unreadable: {error.strerror}")
        except submission.Refused as reason:
            return replace(blank, status="refused", reason=str(reason))
        try:
            if len(group) > 1:
                raise submission.Refused(f"two files for one notebook: {', '.join(each.path.name for each in group)}")
            return self._report(blank, submission.read(raw, path.stem), path.parent)
        except submission.Refused as reason:
            known = course.notebook(path.stem)
            blank = replace(blank, sha256=hashlib.sha256(raw).hexdigest(), status="refused", reason=str(reason))
            return replace(blank, notebook=known.stem, max_score=known.max_score) if known else blank

    def marks(self, read, folder):
        """The marks of a submission.Submission: a report.Exercise for each exercise of its notebook.

        folder: where files that are handed in beside the notebook lie.
        """
        return [self._mark(exercise, read.answers[exercise.name], folder) for exercise in read.notebook.exercises]

    def _report(self, blank, read, folder):
        exercises = self.marks(read, folder)
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

    def _mark(self, exercise, answer, folder):
        if not answer.attempted:
            return Exercise(exercise.name, "not_attempted", 0.0, exercise.points)
        try:
            if self._grader is None:
                self._grader = Grader(self.run.seed, self.run.level)
        except (GraderFault, WorkerLost) as fault:
            check = {"name": "grader", "passed": False, "message": str(fault)}
            return Exercise(exercise.name, "grader_fault", 0.0, exercise.points, checks=[check])
        return Exercise.of(self._grader.grade(exercise, answer.source, answer.helpers, _beside(folder, exercise.hands_in)))


def _beside(folder, name):
    """The bytes of a file beside a notebook; None where there is none that may be read (a link is not followed)."""
    path = folder / name if name else None
    if path is None or path.is_symlink() or not path.is_file():
        return None
    return submission.load(path)


def _blank(group):
    return Submission(group[0].student, None, "/".join(group[0].path.parts[-2:]))


def load(run, group):
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
        with contextlib.suppress(OSError, submission.Refused):
            digest.update(submission.load(handin.path))
            for name in sorted({each.hands_in for notebook in course.notebooks() for each in notebook.exercises if each.hands_in}):
                digest.update(_beside(handin.path.parent, name) or b"")
    return run.store / f"{digest.hexdigest()[:32]}.json"


@cache
def course_digest():
    """A hash of everything that decides a mark."""
    digest = hashlib.sha256()
    for pattern in GRADED_BY:
        for path in sorted(course.ROOT.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()
