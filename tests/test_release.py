"""What is released is what the sources give, and holds nothing that must stay hidden."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from grader import bank, course, release

ROOT = course.ROOT


def test_the_committed_release_is_what_the_sources_give():
    assert release.differences() == []


def test_two_builds_under_different_locales_are_equal_to_the_byte():
    program = "import hashlib; from grader import release; print(hashlib.sha256(repr(sorted((str(p), t) for p, t in release.build().items())).encode()).hexdigest())"
    sums = set()
    for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0"}, {"LC_ALL": "C.UTF-8"}):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=os.environ | locale,
            capture_output=True,
            text=True,
            check=True,
        )
        sums.add(done.stdout)
    assert len(sums) == 1


def test_check_says_which_file_differs(tmp_path, monkeypatch):
    monkeypatch.setattr(release, "NOTEBOOKS", tmp_path)
    names = {path.name for path in release.differences()}
    assert names == {f"{notebook.stem}.ipynb" for notebook in course.notebooks()}


def test_a_released_file_without_source_is_a_difference(tmp_path, monkeypatch):
    shutil.copytree(release.NOTEBOOKS, tmp_path / "notebooks")
    (tmp_path / "notebooks" / "99_old.ipynb").write_text("{}")
    monkeypatch.setattr(release, "NOTEBOOKS", tmp_path / "notebooks")
    assert [path.name for path in release.differences()] == ["99_old.ipynb"]


@pytest.mark.parametrize("missing", ["public check", "three hints", "hidden check", "answer in right"])
def test_an_incomplete_exercise_stops_the_build(monkeypatch, missing):
    notebook = course.notebook("00_start_here")
    if missing == "hidden check":
        monkeypatch.setattr(release, "hidden_checks", lambda stem, name: [])
    elif missing == "answer in right":
        monkeypatch.setattr(bank, "of_exercise", lambda kind, exercise: [] if kind == "right" else [1])
    else:
        find = "def softmax" if missing == "public check" else "HINTS"
        tree = release._tree
        spoiled = lambda path, stem: ast.parse(ast.unparse(tree(path, stem)).replace(find, find + "_"))
        monkeypatch.setattr(release, "_tree", spoiled)
    with pytest.raises(course.CourseError, match=missing) as error:
        release.complete(notebook)
    assert "\n" not in str(error.value)


def hidden_lines():
    """Lines that give something away: of reference answers and hidden checks.

    The code of the banks is left out: a right answer may be one call into PyTorch, which the learner's package makes too, and a
    lesson shows some wrong answers on purpose.
    """
    stubs = "\n".join(each.stub for notebook in course.notebooks() for each in notebook.exercises)
    exercises = [each for notebook in course.notebooks() for each in notebook.exercises]
    texts = [match for each in exercises for match in re.findall(r"### BEGIN SOLUTION\n(.*?)### END", each.source, re.S)]
    texts += [path.read_text("utf-8") for path in course.HIDDEN.glob("test_*.py")]
    lines = {line.strip() for text in texts for line in text.splitlines()}
    telling = re.compile(r"^(def test_|return .{25,}|\w+ = .{30,})")
    return {line for line in lines if telling.match(line) and line not in stubs}


def leaks(text):
    return [line for line in hidden_lines() if line in text] + [
        word for word in ("BEGIN SOLUTION", "BEGIN HIDDEN", "caught_by=") if word in text
    ]


def test_no_notebook_holds_an_answer_or_an_output():
    for path in release.NOTEBOOKS.glob("*.ipynb"):
        content = json.loads(path.read_text("utf-8"))
        text = "\n".join("".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == "code")
        assert leaks(text) == [], path.name
        assert all(not cell.get("outputs") for cell in content["cells"]), path.name


def test_the_wheel_holds_the_learners_package_alone(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT / "course_utils", source / "course_utils", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
        assert {top for top in tops if not top.endswith(".dist-info")} == {"course_utils"}
        assert "course_utils/course.json" in archive.namelist()
        for name in archive.namelist():
            assert leaks(without_hints(archive.read(name).decode("utf-8", "replace"))) == [], name


def without_hints(text):
    """A module without its hints: the third is meant to be nearly the answer."""
    return re.sub(r"^HINTS = \{.*?^\}", "", text, flags=re.M | re.S)


def test_the_leak_test_can_fail():
    answer = next(line for line in hidden_lines() if line.startswith("return"))
    assert leaks(f"x = 1\n{answer}\n") == [answer]
