"""The same judge inside nbgrader: a course folder ready for its commands, and a preprocessor in place of its Execute.

nbgrader keeps its gradebook, formgrader, manual grades, late penalties and feedback pages. It reads the score of a check cell from
the cell's output, as `float(text/plain)`: that output is written here, and no cell of a submission is run.
"""

import atexit
import json
import secrets
from functools import cache
from pathlib import Path

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Int

from grader import course, desk, ladder, pages, release, submission

CONFIG = '''\
"""Made by `python -m grader nbgrader`. Run nbgrader's commands in this folder, with the environment of the course."""

import sys

sys.path.insert(0, {root!r})

c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "transformers_from_scratch"
c.Autograde.autograde_preprocessors = [
    "grader.nbgrader_course.JudgeCells",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.JudgeCells.seed = {seed}
'''


class GraderFault(Exception):
    """The judge failed. nbgrader then drops this submission and says so; nobody gets a zero for it."""


class JudgeCells(NbGraderPreprocessor):
    """Grades every exercise of a submitted notebook and writes score and feedback into its check cell."""

    seed = Int(0, help="seed of the hidden inputs").tag(config=True)

    def preprocess(self, nb, resources):
        """nb: the submitted notebook, its check cells restored by nbgrader. Returns it with the verdicts as outputs."""
        name = resources["nbgrader"]["notebook"]
        read = submission.read(nbformat.writes(nb).encode(), name)
        marks = {each.name: each for each in _desk(self.seed).marks(read, Path(resources["metadata"]["path"]))}
        for cell in nb.cells:
            if is_grade(cell) and cell.cell_type == "code":
                cell.outputs = [_output(marks[cell.metadata.nbgrader["grade_id"].removeprefix("check_")])]
            elif cell.cell_type == "code":
                cell.outputs = []
        return nb, resources


@cache
def _desk(seed):
    """One judge for all submissions of a batch."""
    opened = desk.Desk(desk.Run(Path(), seed, ladder.best()[0]))
    atexit.register(opened.close)
    return opened


def _output(mark):
    """The output that nbgrader reads as the score of a check cell, and shows in its feedback."""
    if mark.status == "grader_fault":
        raise GraderFault(f"{mark.name}: {mark.checks[0]['message']}")
    score = min(max(float(mark.score), 0.0), mark.max_score)
    data = {"text/plain": repr(score), "text/html": pages.exercise_card(mark)}
    return nbformat.v4.new_output("execute_result", data, execution_count=1)


def write(folder):
    """Write the course folder: source/, one assignment per notebook, and nbgrader_config.py. Returns the paths.

    Raises FileExistsError where the folder holds a course already.
    """
    config = folder / "nbgrader_config.py"
    if config.exists():
        raise FileExistsError(f"{config} exists already")
    paths = [config]
    for notebook in course.notebooks():
        release.complete(notebook)
        paths.append(folder / "source" / notebook.stem / f"{notebook.stem}.ipynb")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(json.dumps(release.node_of(notebook), indent=1, ensure_ascii=False) + "\n", "utf-8")
    config.write_text(CONFIG.format(root=str(course.ROOT), seed=secrets.randbelow(2**31)), "utf-8")
    return paths
