"""What check() and progress() answer with: plain text for a terminal, HTML for a notebook. Never colour alone."""

import functools
import html
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from course_utils import journal, side_by_side


@dataclass(repr=False)
class Feedback:
    """The outcomes of the public checks on one answer, and notes on what became of it.

    Without outcomes it was not attempted. `waits_for` names another unfinished function that stopped it, if any.
    """

    name: str
    outcomes: list = field(default_factory=list)
    hidden_checks: int = 0
    waits_for: str = ""
    notes: list = field(default_factory=list)

    @property
    def passed(self):
        """True where there were checks and all of them passed."""
        return bool(self.outcomes) and all(outcome.passed for outcome in self.outcomes)

    @property
    def title(self):
        """The result in one line."""
        if not self.outcomes:
            reason = f": it calls {self.waits_for}, and that is not filled in yet" if self.waits_for else ""
            return f"{self.name}: not attempted yet" if not reason else f"{self.name} can't be checked yet{reason}"
        count = sum(outcome.passed for outcome in self.outcomes)
        title = f"{self.name}: {count} of {len(self.outcomes)} public checks passed"
        if self.passed and self.hidden_checks:
            title += f"; {self.hidden_checks} more {'runs' if self.hidden_checks == 1 else 'run'} at grading"
        return title

    def __repr__(self):
        lines = [self.title]
        for outcome in self.outcomes:
            lines.append(f"  {_sign(outcome)}  {outcome.title}")
            if outcome.message:
                lines.append(textwrap.indent(outcome.message, " " * 12))
            numbers = side_by_side.pair(outcome.got, outcome.expected)
            if numbers:
                lines.append(textwrap.indent(side_by_side.as_text(numbers), " " * 12))
        return "\n".join(lines + [f"  {note}" for note in self.notes])

    def _repr_html_(self):
        items = "".join(f"<li>{_item(outcome)}</li>" for outcome in self.outcomes)
        state = ("passed" if self.passed else "failed") if self.outcomes else "open"
        symbol = {"passed": "✓", "failed": "✗", "open": "○"}[state]
        return _box(state, f"{symbol} {self.title}", f"<ul>{items}</ul>" if items else "", self.notes)


@dataclass(repr=False)
class Progress:
    """A table of all exercises: course is a manifest.Course, entries what journal.read gives."""

    course: object
    entries: dict
    notes: list = field(default_factory=list)

    @property
    def title(self):
        """How many exercises and points have passed, in one line."""
        exercises = self.course.exercises.values()
        done = [exercise for exercise in exercises if self.entries.get(exercise.name, {}).get("passed")]
        points, most = (sum(exercise.points for exercise in group) for group in (done, exercises))
        passed = f"{len(done)} of {len(exercises)} exercises pass their public checks"
        return f"{passed}, worth {points:g} of {most:g} points"

    def __repr__(self):
        width = max(map(len, self.course.exercises), default=0)
        lines = [self.title]
        for notebook in self.course.notebooks:
            lines += ["", f"{notebook.stem}  {notebook.title}"]
            for exercise in notebook.exercises:
                state = _state(self.entries.get(exercise.name))
                lines.append(f"  {exercise.name:<{width}}  {exercise.points:>4g}  {state}")
        return "\n".join(lines + self.notes)

    def _repr_html_(self):
        rows = []
        for notebook in self.course.notebooks:
            heading = html.escape(f"{notebook.stem}  {notebook.title}")
            rows.append(f'<tr><th scope="colgroup">{heading}</th><th class="points">points</th><th>public checks</th></tr>')
            for exercise in notebook.exercises:
                state = _state(self.entries.get(exercise.name))
                rows.append(
                    f'<tr><td><code>{html.escape(exercise.name)}</code></td><td class="points">{exercise.points:g}</td>'
                    f"<td>{html.escape(state)}</td></tr>"
                )
        return _box("open", self.title, f"<table>{''.join(rows)}</table>", self.notes)


def _state(entry):
    if entry is None:
        return "○ not yet"
    if not entry["passed"]:
        return "✗ tried"
    return "✓ passed" + ("" if entry["newest"] == journal.PASSED else " earlier, the newest try does not")


def _sign(outcome):
    return "✓ passed" if outcome.passed else "✗ failed"


def _item(outcome):
    parts = [f'<span class="word">{_sign(outcome)}</span>{html.escape(outcome.title)}']
    if outcome.message:
        parts.append(f'<div class="message">{html.escape(outcome.message)}</div>')
    numbers = side_by_side.pair(outcome.got, outcome.expected)
    if numbers:
        part = f"; {numbers.part}" if numbers.part else ""
        parts.append(
            f'<div class="numbers">{side_by_side.as_svg(numbers)}'
            f'<div class="small">outline and corner: differs{html.escape(part)}</div></div>'
        )
    return "".join(parts)


def _box(state, title, body, notes):
    notes = "".join(f'<div class="small">{html.escape(note)}</div>' for note in notes)
    return (
        f'<style>{_style()}</style><div class="course-box {state}"><div class="title">{html.escape(title)}</div>{body}{notes}</div>'
    )


@functools.cache
def _style():
    return Path(__file__).with_name("style.css").read_text(encoding="utf-8")
