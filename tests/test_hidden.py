"""The hidden checks are plain pytest: they run alone too, against the reference."""

import re
import subprocess
import sys

from conftest import ROOT

from grader import course, release


def test_pytest_alone_runs_every_hidden_check_against_the_reference():
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "grader/hidden"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    passed = int(re.search(r"(\d+) passed", done.stdout)[1])
    assert passed == sum(
        len(release.hidden_checks(notebook.stem, each.name)) for notebook in course.notebooks() for each in notebook.exercises
    )


def test_the_judge_collects_as_many_checks_as_the_learner_is_told_of(grader):
    for notebook in course.notebooks():
        for exercise in notebook.exercises:
            assert len(grader.names(exercise)) == len(release.hidden_checks(notebook.stem, exercise.name))
