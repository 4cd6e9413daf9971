"""Feedback pages: one HTML file per hand-in, light and dark, without scripts, everything from a student escaped."""

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from grader import course, names, report

WORDS = {
    "passed": ("✓", "passed"),
    "failed": ("✗", "not yet"),
    "not_attempted": ("○", "not attempted"),
    "grader_fault": ("!", "not graded"),
}


def path_of(run, submission):
    """Where the page of a hand-in goes."""
    notebook = submission.notebook or names.for_path(Path(submission.file).stem)
    return run.out / "feedback" / names.for_path(submission.student) / f"{notebook}.html"


def write(run, submission):
    """Write the page of one hand-in."""
    notebook = course.notebook(submission.notebook)
    page = _template().render(
        submission=submission, title=notebook.title if notebook else submission.file, words=WORDS, seed=run.seed,
        version=course.VERSION, isolation=report.isolation_line(run.level),
    )  # fmt: skip
    report.write_whole(path_of(run, submission), page)


def exercise_card(exercise):
    """The part of a page about one exercise, as HTML. exercise: a report.Exercise."""
    return _environment().get_template("card.html").render(exercise=exercise, words=WORDS)


def _template():
    return _environment().get_template("feedback.html")


@cache
def _environment():
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = lambda name: name.replace("_", " ")
    environment.filters["points"] = lambda value: f"{round(value, 2):g}"
    environment.filters["clean"] = names.for_terminal
    return environment
