"""What the course consists of: notebooks and exercises, read from course.json, which the release writes."""

import difflib
import json
from dataclasses import dataclass
from pathlib import Path

PATH = Path(__file__).with_name("course.json")


class BrokenCourse(RuntimeError):
    """course.json is missing or damaged: this copy of the course is not complete."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. `notebook` is the stem of its notebook, `checks` the module of course_utils.checks."""

    name: str
    points: float
    uses: tuple
    hidden_checks: int
    notebook: str
    checks: str


@dataclass(frozen=True)
class Notebook:
    """One notebook with its exercises, in order."""

    stem: str
    title: str
    exercises: tuple


@dataclass(frozen=True)
class Course:
    """The whole course, in order."""

    version: str
    notebooks: tuple

    @property
    def exercises(self):
        """All exercises by name, in course order."""
        return {exercise.name: exercise for notebook in self.notebooks for exercise in notebook.exercises}

    def find(self, name):
        """The exercise of this name. Raises ValueError, in one line with the names that come close."""
        if name in self.exercises:
            return self.exercises[name]
        near = difflib.get_close_matches(name, self.exercises)
        names = near or list(self.exercises)[:12]
        rest = "" if near or len(self.exercises) <= 12 else ", … (progress() lists all)"
        raise ValueError(f"no exercise is called {name!r}; expected {'one like ' if near else ''}{', '.join(names)}{rest}")


def load():
    """Read course.json. Raises BrokenCourse."""
    try:
        content = json.loads(PATH.read_text(encoding="utf-8"))
        return Course(content["version"], tuple(_notebook(entry) for entry in content["notebooks"]))
    except FileNotFoundError:
        raise BrokenCourse(f"{PATH} is missing: install the course again (it is written by `make notebooks`)") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        detail = f"{type(error).__name__}: {error}"
        raise BrokenCourse(f"{PATH} is damaged ({detail}): install the course again") from error


def _notebook(entry):
    exercises = tuple(
        Exercise(
            name=exercise["name"],
            points=exercise["points"],
            uses=tuple(exercise["uses"]),
            hidden_checks=exercise["hidden_checks"],
            notebook=entry["stem"],
            checks=entry["checks"],
        )
        for exercise in entry["exercises"]
    )
    return Notebook(entry["stem"], entry["title"], exercises)
