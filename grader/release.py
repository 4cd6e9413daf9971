"""Sources to what learners get: solutions/*.py → notebooks/*.ipynb and course_utils/course.json."""

import ast
import json

import nbformat
from nbconvert.exporters import NotebookExporter
from nbgrader.preprocessors import CheckCellMetadata, ClearOutput, ClearSolutions, ComputeChecksums, LockCells
from traitlets.config import Config

from grader import bank, course

NOTEBOOKS = course.ROOT / "notebooks"
MANIFEST = course.ROOT / "course_utils" / "course.json"
PIPELINE = [LockCells, ClearSolutions, ClearOutput, CheckCellMetadata, ComputeChecksums]
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def build():
    """All released files: a dict from path to text. Raises course.CourseError with one line for the author."""
    exporter = NotebookExporter(config=Config(NotebookExporter={"preprocessors": PIPELINE}))
    files = {}
    for notebook in course.notebooks():
        complete(notebook)
        files[NOTEBOOKS / f"{notebook.stem}.ipynb"] = _released(notebook, exporter)
    files[MANIFEST] = json.dumps(manifest(), indent=1, ensure_ascii=False) + "\n"
    return files


def write():
    """Build and write. Returns the paths that changed."""
    return [path for path, text in build().items() if _differs(path, text) and _write(path, text)]


def differences():
    """The released files that are not what the sources give; a released file without a source is one too."""
    files = build()
    stale = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if path not in files]
    return [path for path, text in files.items() if _differs(path, text)] + stale


def manifest():
    """What the learner's package may know of the course: names, points, and how many hidden checks there are."""
    return {
        "version": course.VERSION,
        "notebooks": [
            {
                "stem": notebook.stem,
                "title": notebook.title,
                "checks": notebook.topic,
                "exercises": [
                    {
                        "name": each.name,
                        "points": each.points,
                        "uses": list(each.uses),
                        "hidden_checks": len(hidden_checks(notebook.stem, each.name)),
                    }
                    for each in notebook.exercises
                ],
            }
            for notebook in course.notebooks()
        ],
    }


def complete(notebook):
    """Fail unless every exercise of the notebook has hidden checks, public checks, hints, and both banks."""
    public = course.ROOT / "course_utils" / "checks" / f"{notebook.topic}.py"
    tree = _tree(public, notebook.stem)
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    hints = next(
        (ast.literal_eval(node.value) for node in tree.body if isinstance(node, ast.Assign) and _names(node) == {"HINTS"}),
        {},
    )
    for exercise in notebook.exercises:
        where = f"{notebook.stem}: {exercise.name}"
        if exercise.name not in functions:
            raise course.CourseError(f"{where} has no public check in {public.name}")
        if len(hints.get(exercise.name, ())) != 3:
            raise course.CourseError(f"{where} needs three hints in HINTS of {public.name}")
        if not hidden_checks(notebook.stem, exercise.name):
            raise course.CourseError(f"{where} has no hidden check in test_{notebook.stem}.py")
        for kind in ("wrong", "right"):
            _tree(course.BANKS / f"{kind}_{notebook.stem}.py", notebook.stem)
            if not bank.of_exercise(kind, exercise):
                raise course.CourseError(f"{where} has no answer in {kind}_{notebook.stem}.py")


def hidden_checks(stem, name):
    """The names of the hidden tests of one exercise, read from the source; a parameter list counts each of its values."""
    tree = _tree(course.HIDDEN / f"test_{stem}.py", stem)
    tests = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(f"test_{name}__")]
    return [node.name for node in tests for _ in range(_cases(node))]


def _cases(node):
    """How many times pytest runs a test: the product of its parameter lists."""
    count = 1
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "parametrize":
            count *= len(mark.args[1].elts)
    return count


def _tree(path, stem):
    if not path.exists():
        raise course.CourseError(f"{stem}: {path.relative_to(course.ROOT)} is missing")
    return ast.parse(path.read_text("utf-8"))


def _names(assignment):
    return {target.id for target in assignment.targets if isinstance(target, ast.Name)}


def node_of(notebook):
    """A notebook's source as a notebook node, answers included, with fixed cell ids."""
    cells = []
    for position, cell in enumerate(notebook.cells):
        cell = nbformat.from_dict(cell)
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell["id"] = grade_id or f"cell-{position:03d}"  # fixed, so that the same source gives the same bytes
        cell.metadata.pop("lines_to_next_cell", None)
        cells.append(cell)
    identity = {"notebook": notebook.stem, "version": course.VERSION}
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}, "transformers_from_scratch": identity}
    return nbformat.v4.new_notebook(cells=cells, metadata=metadata)


def _released(notebook, exporter):
    text, _ = exporter.from_notebook_node(node_of(notebook))
    return text if text.endswith("\n") else text + "\n"


def _differs(path, text):
    return not path.exists() or path.read_text("utf-8") != text


def _write(path, text):
    path.parent.mkdir(exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(text, "utf-8", newline="\n")
    part.replace(path)
    return True
