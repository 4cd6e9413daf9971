"""The example submissions are those of this release, and show what they are meant to show."""

import json

from conftest import ROOT

from examples import build
from grader.__main__ import main

SUBMISSIONS = ROOT / "examples" / "submissions"


def test_the_committed_examples_are_what_build_gives():
    here = {path.parent.name: path.read_text("utf-8") for path in SUBMISSIONS.glob("*/*.ipynb")}
    assert here == build.submissions()


def test_the_examples_get_the_marks_they_are_made_for(tmp_path, capsys):
    assert main(["grade", str(SUBMISSIONS), "--out", str(tmp_path)]) == 1
    found = {each["student"]: each for each in json.loads((tmp_path / "results.json").read_text("utf-8"))["submissions"]}
    full = {name for name, each in found.items() if each["score"] == each["max_score"]}
    assert full == {"ada", "boris", "josé 李"}
    assert found["ines"]["status"] == "refused" and found["greta"]["score"] == 0
    named = {
        name: [exercise["diagnosis"] for exercise in each["exercises"] if exercise["diagnosis"]] for name, each in found.items()
    }
    assert {name: len(sentences) for name, sentences in named.items() if sentences} == {"chen": 1, "dana": 2, "emil": 2}
    assert "time limit" in found["hugo"]["exercises"][1]["checks"][0]["message"]
    assert "time limit" in capsys.readouterr().out
