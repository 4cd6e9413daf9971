"""The code keeps the sizes that CONTRIBUTING.md names."""

import ast

import pytest
from conftest import ROOT

LONG_FILES = ("solutions/", "grader/hidden/test_", "grader/banks/", "course_utils/checks/")
MODULES = [path for top in ("course_utils", "grader", "tests", "examples") for path in sorted((ROOT / top).rglob("*.py"))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_are_short(path):
    text = path.read_text("utf-8")
    if not str(path.relative_to(ROOT)).startswith(LONG_FILES):
        assert len(text.splitlines()) <= 300
        functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
        assert [node.name for node in functions if node.end_lineno - node.lineno >= 40] == []


@pytest.mark.parametrize("path", sorted((ROOT / "solutions").glob("*.py")), ids=lambda path: path.stem)
def test_a_lesson_keeps_its_pace(path):
    import jupytext

    cells = jupytext.read(path, fmt="py:percent").cells
    code = [cell.source for cell in cells if cell.cell_type == "code"]
    paragraphs = [
        text
        for cell in cells
        if cell.cell_type == "markdown"
        for text in cell.source.split("\n\n")
        if not text.startswith(("|", "#", "-", "*", "$$"))
    ]
    assert 35 <= len(cells) <= 90
    assert max(len(source.splitlines()) for source in code) <= 40
    assert max(len(text.split()) for text in paragraphs) <= 150
