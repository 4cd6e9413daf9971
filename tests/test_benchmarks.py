"""The benchmark grades what it says: its right submission gets full marks. In a process of its own, since it adds a notebook."""

import json
import subprocess
import sys

from grader import course

WRITE = """
import sys
from pathlib import Path
from benchmarks.fixture import STEM, class_of
(student, text), *_ = class_of(1)
folder = Path(sys.argv[1], student)
folder.mkdir(parents=True)
(folder / f"{STEM}.ipynb").write_text(text, "utf-8")
"""


def test_the_right_submission_of_the_benchmark_gets_full_marks(tmp_path):
    def run(*arguments):
        subprocess.run([sys.executable, *arguments], cwd=course.ROOT, check=True, capture_output=True, timeout=120)

    run("-c", WRITE, str(tmp_path / "class"))
    run("-m", "benchmarks.grade", "grade", str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--seed", "1")
    (graded,) = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["submissions"]
    assert len(graded["exercises"]) == 6 and graded["score"] == graded["max_score"]
