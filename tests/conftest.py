"""What several tests share."""

import copy
import json
from pathlib import Path

import pytest

from grader import course

ROOT = course.ROOT


@pytest.fixture(scope="session")
def grader():
    """One running judge for all tests; that it may be shared is itself a promise."""
    from grader.grading import Grader

    with Grader(seed=7) as running:
        yield running


@pytest.fixture
def released():
    """A function that gives a released notebook as JSON, with answers put into the answer cells."""

    def build(stem="00_start_here", **answers):
        content = json.loads((ROOT / "notebooks" / f"{stem}.ipynb").read_text("utf-8"))
        for name, source in answers.items():
            cell_of(content, name)["source"] = source
        return copy.deepcopy(content)

    return build


def cell_of(content, grade_id):
    """The cell of a notebook with this grade_id."""
    return next(cell for cell in content["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def reference_of(name):
    """The reference answer's source."""
    return course.exercise(name).source


@pytest.fixture
def handin(tmp_path):
    """A function that writes a submission and returns its path."""

    def write(student, content, name="00_start_here.ipynb"):
        path = Path(tmp_path, "submissions", student, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return write
