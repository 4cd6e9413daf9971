"""What a run writes: results.json and grades.csv, whole or not at all."""

import csv
import io
import json
import os
import platform
from dataclasses import asdict, dataclass, field

import torch

from grader import course, ladder, names

SCHEMA = 1


@dataclass
class Exercise:
    """The mark of one exercise, as results.json has it."""

    name: str
    status: str
    score: float
    max_score: float
    diagnosis: str | None = None
    checks: list = field(default_factory=list)

    @classmethod
    def of(cls, result):
        """From a grading.Result."""
        checks = [{"name": check.name, "passed": check.passed, "message": check.message} for check in result.checks]
        return cls(result.name, result.status, result.score, result.max_score, result.diagnosis, checks)


@dataclass
class Submission:
    """One line of results.json. status: graded, refused, grader_fault. score is None unless graded."""

    student: str
    notebook: str | None
    file: str
    sha256: str | None = None
    status: str = "graded"
    reason: str | None = None
    score: float | None = None
    max_score: float | None = None
    seconds: float = 0.0
    findings: list = field(default_factory=list)
    exercises: list = field(default_factory=list)

    def as_dict(self):
        return asdict(self)

    @classmethod
    def from_dict(cls, stored):
        return cls(**{**stored, "exercises": [Exercise(**each) for each in stored["exercises"]]})


def isolation_line(level):
    """The level of isolation and what it consists of, in words."""
    return f"level {level} ({ladder.detail(level)})"


def results(run, submissions):
    """The content of results.json."""
    return {
        "schema": SCHEMA,
        "course_version": course.VERSION,
        "seed": run.seed,
        "versions": {"python": platform.python_version(), "torch": torch.__version__},
        "isolation": {"level": run.level, "detail": ladder.detail(run.level)},
        "submissions": [each.as_dict() for each in submissions],
    }


def grades(submissions):
    """The content of grades.csv: a line per submission, a column per exercise of the course."""
    exercises = [each.name for notebook in course.notebooks() for each in notebook.exercises]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "notebook", "status", "score", "max_score", *exercises])
    for each in submissions:
        marks = {} if each.status != "graded" else {exercise.name: exercise.score for exercise in each.exercises}
        row = [names.for_spreadsheet(each.student), each.notebook, each.status, each.score, each.max_score]
        writer.writerow(["" if value is None else value for value in [*row, *(marks.get(name) for name in exercises)]])
    return text.getvalue()


def write(run, submissions):
    """Write results.json and grades.csv. What a regrade replaces is kept beside them, numbered."""
    results_path = run.out / "results.json"
    if run.regrade and results_path.exists():
        number = len(list(run.out.glob("results.before-*.json"))) + 1
        results_path.rename(run.out / f"results.before-{number}.json")
    write_whole(results_path, json.dumps(results(run, submissions), indent=1, ensure_ascii=False) + "\n")
    write_whole(run.out / "grades.csv", grades(submissions))


def write_whole(path, text):
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    part.write_text(text, "utf-8", errors="backslashreplace", newline="\n")
    os.replace(part, path)
