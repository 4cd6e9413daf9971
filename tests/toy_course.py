"""A small course in an empty folder, for the tests of what a learner's notebook does."""

import json
import sys
from types import ModuleType

import pytest
import torch

from course_utils import feedback, manifest, parts
from course_utils.compare import close


def _exercise(name, points, hidden_checks):
    return {"name": name, "points": points, "uses": [], "hidden_checks": hidden_checks}


COURSE = {
    "version": "0.1.0",
    "notebooks": [
        {
            "stem": "00_toys",
            "title": "Toys",
            "checks": "toys",
            "exercises": [_exercise("softmax", 2, 6), _exercise("double", 1, 1), _exercise("Scale", 1.5, 0)],
        },
        {"stem": "01_more", "title": "More", "checks": "toys", "exercises": [_exercise("quadruple", 1, 4)]},
    ],
}


def _doubles(factor):
    def checks(answer, case):
        with case("a vector"):
            close(answer(torch.tensor([1.0, 2.0])), factor * torch.tensor([1.0, 2.0]))
        with case("a matrix"):
            close(answer(torch.ones(2, 3)), factor * torch.ones(2, 3))

    return checks


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Work in an empty folder, with the toy course and its checks. Yields the module of the checks."""
    toys = ModuleType("course_utils.checks.toys")
    toys.double, toys.quadruple, toys.softmax = _doubles(2), _doubles(4), _doubles(2)
    toys.Scale = lambda answer, case: _doubles(3)(lambda x: answer(3)(x), case)
    toys.HINTS = {"softmax": ("look", "think", "write")}
    (tmp_path / "package").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "package" / "course.json").write_text(json.dumps(COURSE))
    monkeypatch.setattr(manifest, "PATH", tmp_path / "package" / "course.json")
    monkeypatch.setitem(sys.modules, toys.__name__, toys)
    monkeypatch.delitem(sys.modules, "my_transformer", raising=False)
    monkeypatch.setattr(feedback, "_hints_shown", type(feedback._hints_shown)())
    monkeypatch.setattr(feedback, "_passed_here", set())
    monkeypatch.setattr(parts, "_told", set())
    monkeypatch.setattr(parts, "_loaded", {})
    monkeypatch.chdir(tmp_path / "work")
    yield toys
    sys.modules.pop("my_transformer", None)


@pytest.fixture
def shell(course):
    """An IPython shell whose cells are run by `shell("source")`, which returns the value of the last line."""
    from IPython.core.interactiveshell import InteractiveShell

    main = sys.modules["__main__"]
    interactive = InteractiveShell(user_module=ModuleType("__main__"))
    # Classes of a notebook look for their module under this name.
    sys.modules["__main__"] = interactive.user_module

    def run(source):
        result = interactive.run_cell(source, store_history=True)
        result.raise_error()
        return result.result

    run("import torch\nfrom course_utils import check, hint, needs, progress")
    yield run
    sys.modules["__main__"] = main
    interactive.history_manager.end_session()
