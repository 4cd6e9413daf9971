"""The course as its sources tell it: notebooks, exercises, points. The only reader of solutions/."""

import ast
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import jupytext

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
HIDDEN = ROOT / "grader" / "hidden"
BANKS = ROOT / "grader" / "banks"
STAND_INS = ROOT / "grader" / "stand_ins"
VERSION = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)[1]

REGION = re.compile(r"^([ \t]*)### BEGIN SOLUTION\n.*?^[ \t]*### END SOLUTION$", re.M | re.S)


class CourseError(Exception):
    """The sources of the course are wrong. The message is one line for the author."""


@dataclass(frozen=True)
class Exercise:
    """One exercise. `source` is the reference answer's cell, `stub` what the learner starts from."""

    name: str
    notebook: str
    points: float
    uses: tuple[str, ...]
    source: str = field(repr=False)
    stub: str = field(repr=False)
    hands_in: str | None = None  # a file of trained weights beside the notebook
    budget: int = 0  # seconds of CPU for training where that file is missing
    along: tuple[str, ...] = ()  # exercises of this notebook whose answers by the same learner are there as well

    @property
    def shapes(self):
        """The shape line of the docstring, such as `query (..., T, D), key (..., S, D) -> (..., T, D)`, or None."""
        lines = (ast.get_docstring(definition_of(self.stub, self.name)) or "").splitlines()
        return next((line for line in lines if "->" in line and "(" in line), None)


@dataclass(frozen=True)
class Notebook:
    """One notebook. `cells` are those of the source, in order, as nbformat nodes."""

    stem: str
    title: str
    setup: str = field(repr=False)
    exercises: tuple[Exercise, ...]
    cells: tuple = field(repr=False)

    @property
    def max_score(self):
        return sum(exercise.points for exercise in self.exercises)

    @property
    def topic(self):
        """The stem without its number: the name of the module with the public checks."""
        return self.stem.split("_", 1)[1]

    def exercise(self, name):
        return next((exercise for exercise in self.exercises if exercise.name == name), None)


@cache
def notebooks(folder=SOLUTIONS):
    """All notebooks of the course, in order. Raises CourseError where a source breaks the rules."""
    found = tuple(read(path) for path in sorted(Path(folder).glob("[0-9][0-9]_*.py")))
    owners = {}
    for exercise in (exercise for notebook in found for exercise in notebook.exercises):
        if exercise.name in owners:
            raise CourseError(f"{exercise.name} stands in {owners[exercise.name]} and in {exercise.notebook}")
        unknown = [name for name in exercise.uses if name not in owners]
        if unknown:
            raise CourseError(f"{exercise.notebook}: {exercise.name} uses {unknown[0]}, which no earlier cell asks for")
        owners[exercise.name] = exercise.notebook
    return found


def notebook(stem):
    """The notebook of this stem, or None."""
    return next((each for each in notebooks() if each.stem == stem), None)


def exercise(name):
    """The exercise of this name, or None."""
    return next((found for each in notebooks() if (found := each.exercise(name))), None)


def read(path):
    """Read one source. Raises CourseError with the file and the place."""
    cells = jupytext.read(path, fmt="py:percent").cells
    by_id = {}
    for position, cell in enumerate(cells, start=1):
        grade_id = _nbgrader(cell).get("grade_id")
        if grade_id in by_id:
            raise CourseError(f"{path.name}: grade_id {grade_id} stands at cell {by_id[grade_id][0]} and at cell {position}")
        if grade_id:
            by_id[grade_id] = position, cell
        _check_regions(path, position, cell)
    if "setup" not in by_id:
        raise CourseError(f"{path.name}: no cell with grade_id setup")
    exercises = tuple(
        _exercise(path, name, cell, by_id.get(f"check_{name}"))
        for name, (_, cell) in by_id.items()
        if _nbgrader(cell).get("solution")
    )
    for each in exercises:
        if strange := set(each.along) - {other.name for other in exercises}:
            raise CourseError(f"{path.name}: {each.name} takes {min(strange)} along, which is no exercise of this notebook")
    title = next((line[2:].strip() for cell in cells for line in cell.source.splitlines() if line.startswith("# ")), path.stem)
    return Notebook(path.stem, title, by_id["setup"][1].source, exercises, tuple(cells))


def definition_of(source, name):
    """The last top-level definition of `name` in a source: its syntax tree, or None."""
    found = None
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            found = node
    return found


def _nbgrader(cell):
    return cell.metadata.get("nbgrader", {})


def _check_regions(path, position, cell):
    begins, ends = cell.source.count("### BEGIN SOLUTION"), cell.source.count("### END SOLUTION")
    where = f"{path.name}: cell {position}"
    if begins != ends:
        raise CourseError(f"{where} has {begins} BEGIN SOLUTION and {ends} END SOLUTION")
    if begins and not _nbgrader(cell).get("solution"):
        raise CourseError(f"{where} holds a solution but is not marked as one")
    if _nbgrader(cell).get("solution") and not begins:
        raise CourseError(f"{where} is marked as a solution but has no BEGIN SOLUTION: the answer would be released")


def _exercise(path, name, cell, check):
    if check is None:
        raise CourseError(f"{path.name}: {name} has no cell check_{name}")
    if check[1].source.strip() != f"check({name})" or not _nbgrader(check[1]).get("grade"):
        raise CourseError(f"{path.name}: cell check_{name} must be a graded cell that says check({name})")
    stub = REGION.sub(lambda match: f"{match[1]}# YOUR CODE HERE\n{match[1]}raise NotImplementedError()", cell.source)
    for text in (cell.source, stub):
        if definition_of(text, name) is None:
            raise CourseError(f"{path.name}: cell {name} does not define {name}")
    points = float(_nbgrader(check[1])["points"])
    options = {key: cell.metadata[key] for key in ("hands_in", "budget") if key in cell.metadata}
    uses, along = (tuple(cell.metadata.get(key, ())) for key in ("uses", "along"))
    return Exercise(name, path.stem, points, uses, cell.source, stub, along=along, **options)
