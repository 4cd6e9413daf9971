"""The command `grade`: what it writes, how it ends, and that a stopped run goes on."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import ROOT, reference_of

from grader import course, desk, names
from grader.__main__ import main
from grader.worker import WorkerLost

GOOD = {"softmax": reference_of("softmax"), "batched_outer": reference_of("batched_outer")}
LOOP = "def softmax(x, dim):\n    while True: pass"


def results_of(out):
    return json.loads((out / "results.json").read_text("utf-8"))


def marks_of(out):
    return {each["student"]: (each["status"], each["score"]) for each in results_of(out)["submissions"]}


def test_the_reference_gets_full_marks_and_the_release_none_in_every_notebook(released, handin, tmp_path):
    for notebook in course.notebooks():
        answers = {each.name: each.source for each in notebook.exercises}
        handin("full", released(notebook.stem, **answers), f"{notebook.stem}.ipynb")
        handin("none", released(notebook.stem), f"{notebook.stem}.ipynb")
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 0
    found = results_of(tmp_path / "out")["submissions"]
    assert len(found) == 2 * len(course.notebooks())
    for each in found:
        assert each["score"] == (each["max_score"] if each["student"] == "full" else 0), each["notebook"]
        assert each["max_score"] == course.notebook(each["notebook"]).max_score


def test_what_is_written_is_what_the_contract_says(released, handin, tmp_path, capsys):
    handin("ada", released(**GOOD))
    handin(
        "=HYPERLINK(1)",
        released(softmax="def softmax(x, dim):\n    e = x.exp()\n    return e / e.sum(dim, keepdim=True)"),
    )
    handin("ines", b"{")
    out = tmp_path / "out"
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(out), "--seed", "5"]) == 1
    found = results_of(out)
    assert (found["schema"], found["course_version"], found["seed"]) == (1, course.VERSION, 5)
    assert set(found["versions"]) == {"python", "torch"} and set(found["isolation"]) == {"level", "detail"}
    formula, ada, ines = sorted(found["submissions"], key=lambda each: each["student"])
    assert list(ada) == [
        "student",
        "notebook",
        "file",
        "sha256",
        "status",
        "reason",
        "score",
        "max_score",
        "seconds",
        "findings",
        "exercises",
    ]
    assert (ada["notebook"], ada["file"], ada["status"], ada["score"], ada["max_score"]) == (
        "00_start_here",
        "ada/00_start_here.ipynb",
        "graded",
        3.0,
        3.0,
    )
    softmax = ada["exercises"][0]
    assert list(softmax) == ["name", "status", "score", "max_score", "diagnosis", "checks"]
    assert list(softmax["checks"][0]) == ["name", "passed", "message"] and softmax["diagnosis"] is None
    assert formula["exercises"][0]["diagnosis"] and formula["exercises"][1]["status"] == "not_attempted"
    assert (ines["status"], ines["score"]) == ("refused", None) and "JSON" in ines["reason"]


def test_the_other_files_of_a_run_say_the_same(released, handin, tmp_path, capsys):
    handin("ada", released(**GOOD))
    handin("=HYPERLINK(1)", released())
    handin("ines", b"{")
    out = tmp_path / "out"
    main(["grade", str(tmp_path / "submissions"), "--out", str(out)])
    rows = list(csv.reader((out / "grades.csv").read_text("utf-8").splitlines()))
    assert rows[0][:7] == ["student", "notebook", "status", "score", "max_score", "softmax", "batched_outer"]
    assert "'=HYPERLINK(1)" in [row[0] for row in rows]
    page = out / "feedback" / "ada" / "00_start_here.html"
    assert "3 <small>of 3 points" in page.read_text("utf-8")
    printed = capsys.readouterr().out
    assert "3 / 3" in printed and "refused" in printed and str(page.parent.parent) in printed


def test_feedback_shows_no_script_and_no_hidden_check(released, handin, tmp_path):
    evil = "<script>alert(1)</script>"
    handin(
        evil.replace("/", "_"),
        released(softmax=f"def softmax(x, dim):\n    raise ValueError({evil!r} + chr(27) + '[31m')"),
    )
    out = tmp_path / "out"
    main(["grade", str(tmp_path / "submissions"), "--out", str(out)])
    (page,) = out.glob("feedback/*/*.html")
    text = page.read_text("utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "\x1b" not in text
    checks = (course.HIDDEN / "test_00_start_here.py").read_text("utf-8")
    assert not [line for line in checks.splitlines() if len(line.strip()) > 30 and line.strip() in text]


def test_marks_depend_neither_on_neighbours_nor_on_order_nor_on_jobs(released, handin, tmp_path):
    half = released(softmax="def softmax(x, dim):\n    return torch.softmax(x, -1)")
    paths = {
        "ada": handin("ada", released(**GOOD)),
        "ben": handin("ben", half),
        "cy": handin("cy", released(softmax=LOOP)),
        "dee": handin("dee", half),
    }
    outs = {}
    for title, students, jobs in (("one", "ada ben cy dee", 1), ("two", "dee cy ben ada", 2), ("alone", "ben", 1)):
        outs[title] = tmp_path / title
        chosen = [str(paths[student].parent) for student in students.split()]
        assert main(["grade", *chosen, "--out", str(outs[title]), "--seed", "3", "--jobs", str(jobs)]) == 0
    assert marks_of(outs["one"]) == marks_of(outs["two"])
    assert marks_of(outs["alone"])["ben"] == marks_of(outs["one"])["ben"] == marks_of(outs["one"])["dee"]
    assert marks_of(outs["one"])["ada"] == ("graded", 3.0)


def test_a_repeated_run_takes_the_stored_seed_and_grades_nothing_twice(released, handin, tmp_path, monkeypatch):
    handin("ada", released(**GOOD))
    command = ["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]
    main(command)
    first = results_of(tmp_path / "out")
    monkeypatch.setattr(desk.Desk, "grade", lambda *a: pytest.fail("graded twice"))
    main(command)
    assert results_of(tmp_path / "out") == first


def test_a_regrade_keeps_what_it_replaces(released, handin, tmp_path):
    handin("ada", released(**GOOD))
    command = ["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]
    main(command)
    first = results_of(tmp_path / "out")
    main([*command, "--regrade"])
    kept = json.loads((tmp_path / "out" / "results.before-1.json").read_text("utf-8"))
    assert kept == first and marks_of(tmp_path / "out") == {"ada": ("graded", 3.0)}


def test_a_killed_run_goes_on(released, handin, tmp_path):
    for number in range(4):
        handin(f"student {number}", released(**GOOD))
    handin("zoe", released(softmax=LOOP))
    out = tmp_path / "out"
    command = [sys.executable, "-m", "grader", "grade", str(tmp_path / "submissions"), "--out", str(out)]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while len(list(out.glob(".graded/*.json"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (out / "results.json").exists()
    stored = {path.name: path.stat().st_mtime_ns for path in out.glob(".graded/*.json")}
    assert len(stored) >= 3
    assert subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0
    assert {path.name: path.stat().st_mtime_ns for path in out.glob(".graded/*.json")}.items() >= stored.items()
    assert len(results_of(out)["submissions"]) == 5


def test_two_files_for_one_notebook_are_refused_with_both_names(released, handin, tmp_path):
    handin("ada", released(**GOOD))
    handin("ada", released(**GOOD), "00_start_here (1).ipynb")
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 1
    (refused,) = results_of(tmp_path / "out")["submissions"]
    assert "00_start_here (1).ipynb, 00_start_here.ipynb" in refused["reason"]


def test_links_and_strange_files_are_not_followed(released, handin, tmp_path):
    path = handin("ada", released(**GOOD))
    (path.parent / "solutions.ipynb").symlink_to(handin("ben", released(**GOOD)))
    (path.parent / "torch.py").write_text("raise SystemExit")
    (path.parent / "conftest.py").write_text("raise SystemExit")
    (path.parent / ".ipynb_checkpoints").mkdir()
    (path.parent / ".ipynb_checkpoints" / "00_start_here.ipynb").write_text("{")
    assert main(["grade", str(path.parent), "--out", str(tmp_path / "out")]) == 0
    (ada,) = results_of(tmp_path / "out")["submissions"]
    assert ada["score"] == 3.0 and ada["findings"] == ["solutions.ipynb is a link: not followed"]


def test_a_grader_fault_is_no_zero_and_outranks_a_refusal(released, handin, tmp_path, monkeypatch):
    handin("ada", released(**GOOD))
    handin("ines", b"{")
    monkeypatch.setattr("grader.judge.subjects_for", lambda *a: 1 / 0)
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 3
    assert marks_of(tmp_path / "out")["ada"] == ("grader_fault", None)


def test_a_judge_that_does_not_start_is_a_fault_and_no_zero(released, handin, tmp_path, monkeypatch):
    def lost(*arguments):
        raise WorkerLost("the worker did not start")

    handin("ada", released(**GOOD))
    monkeypatch.setattr("grader.grading.Worker", lost)
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 3
    (ada,) = results_of(tmp_path / "out")["submissions"]
    assert (ada["status"], ada["score"]) == ("grader_fault", None) and "did not start" in ada["reason"]


def test_what_nobody_thought_of_is_one_line_and_a_fault(released, handin, tmp_path, monkeypatch, capsys):
    handin("ada", released(**GOOD))
    monkeypatch.setattr("grader.classroom.grade_all", lambda *a: 1 / 0)
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 3
    assert "grader: ZeroDivisionError" in capsys.readouterr().err


def test_a_folder_that_can_not_be_written_is_wrong_usage(released, handin, tmp_path, capsys):
    handin("ada", released(**GOOD))
    (tmp_path / "out").write_text("a file")
    assert main(["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]) == 2
    assert "can't write to" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade"],
        ["grade", "x", "--out", "y", "--jobs", "0"],
        ["grade", "/nowhere", "--out", "OUT"],
        ["grade", "EMPTY", "--out", "OUT"],
        ["prove", "softmix"],
        ["sing"],
    ],
)
def test_wrong_usage_ends_with_2_and_one_line(arguments, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    arguments = [{"OUT": str(tmp_path / "out"), "EMPTY": str(tmp_path / "empty")}.get(each, each) for each in arguments]
    try:
        code = main(arguments)
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert len([line for line in capsys.readouterr().err.splitlines() if "error:" in line or line.startswith("grader:")]) == 1


def test_no_mark_at_weaker_isolation_unless_it_is_asked_for(released, handin, tmp_path, monkeypatch, capsys):
    handin("ada", released(**GOOD))
    monkeypatch.setattr("grader.ladder.best", lambda: (1, "forced"))
    command = ["grade", str(tmp_path / "submissions"), "--out", str(tmp_path / "out")]
    assert main(command) == 3
    assert "forced" in capsys.readouterr().err and not (tmp_path / "out" / "results.json").exists()
    assert main([*command, "--allow-weaker-isolation"]) == 0
    assert results_of(tmp_path / "out")["isolation"]["level"] == 1


ODD = ["O'Neil, Jr", "josé 李", "a/b", "..", "x" * 300, "con", "-rf", "ends with dot.", "\u202egpj", "tab\tbed", ""]


def test_odd_names_become_paths_that_are_short_plain_and_distinct():
    paths = [names.for_path(name) for name in ODD]
    assert len(set(paths)) == len(ODD)
    for path in paths:
        assert len(path.encode()) <= 100 and path not in ("", ".", "..") and not set(path) & set('/\\:*?"<>|\t\n')
    assert names.for_path("O'Neil, Jr") != names.for_path("O_Neil, Jr")
    assert names.for_path("josé 李") == "josé 李"


def test_formulas_are_defused_and_controls_are_not_printed():
    assert (
        names.for_spreadsheet("=1+1") == "'=1+1"
        and names.for_spreadsheet(" @x") == "' @x"
        and names.for_spreadsheet("ada") == "ada"
    )
    assert names.for_terminal("a\x1b[31mb\n") == "a\ufffd[31mb\ufffd"
