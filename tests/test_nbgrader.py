"""The same judge inside nbgrader gives the same marks as `grade`."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from grader.__main__ import main

STEM = "01_soft_retrieval"
STUDENTS = ("ada", "boris", "chen", "dana", "emil", "farida", "greta", "hugo")


def nbgrader(folder, *arguments):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *arguments], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A course folder in which nbgrader has graded the example submissions."""
    folder = tmp_path_factory.mktemp("nbgrader")
    assert main(["nbgrader", str(folder)]) == 0
    for student in STUDENTS:
        shutil.copytree(ROOT / "examples" / "submissions" / student, folder / "submitted" / student / STEM)
    for command in ("generate_assignment", "autograde", "generate_feedback"):
        nbgrader(folder, command, STEM)
    nbgrader(folder, "export")
    return folder


@pytest.mark.slow
def test_nbgrader_and_grade_give_the_same_marks(graded, tmp_path):
    submissions = ROOT / "examples" / "submissions"
    main(["grade", *(str(submissions / student) for student in STUDENTS), "--out", str(tmp_path)])
    ours = {each["student"]: each["score"] for each in json.loads((tmp_path / "results.json").read_text("utf-8"))["submissions"]}
    rows = list(csv.DictReader((graded / "grades.csv").read_text("utf-8").splitlines()))
    theirs = {row["student_id"]: float(row["score"]) for row in rows if row["assignment"] == STEM}
    assert set(theirs) == set(ours) == set(STUDENTS)
    assert theirs == pytest.approx(ours, abs=0.005)


@pytest.mark.slow
def test_feedback_names_the_mistake_and_shows_no_hidden_check(graded):
    page = (graded / "feedback" / "chen" / STEM / f"{STEM}.html").read_text("utf-8")
    assert "divide by its square root" in page
    checks = (ROOT / "grader" / "hidden" / f"test_{STEM}.py").read_text("utf-8")
    assert not [line for line in checks.splitlines() if len(line.strip()) > 40 and line.strip() in page]


def test_a_course_is_never_written_over_another(tmp_path, capsys):
    (tmp_path / "nbgrader_config.py").write_text("mine")
    assert main(["nbgrader", str(tmp_path)]) == 2
    assert (tmp_path / "nbgrader_config.py").read_text() == "mine" and "exists already" in capsys.readouterr().err
