"""What runs, and in which order, when one answer is graded: setup cell, stand-ins, helpers, the answer."""

import ast
from functools import cache

from grader import course
from grader.sandbox.worker import build


def sources(exercise, answer, helpers=()):
    """The sources that the worker runs for one exercise. answer, helpers: the learner's code as text."""
    return [setup(exercise.notebook), *stand_ins(exercise), *helpers, answer]


@cache
def setup(stem):
    """The setup cell without its imports from course_utils.parts: in grading, stand-ins take their place."""
    tree = ast.parse(course.notebook(stem).setup)
    tree.body = [node for node in tree.body if not _imports_parts(node)]
    return ast.unparse(tree)


@cache
def parts_of(stem):
    """The names that a notebook's setup cell imports from course_utils.parts."""
    tree = ast.parse(course.notebook(stem).setup)
    return tuple(alias.name for node in tree.body if _imports_parts(node) for alias in node.names)


def stand_ins(exercise):
    """Right code for the earlier exercises that this one may call, never for itself; and for_NOTEBOOK.py, if there is one: what its
    hidden checks put around an answer that takes what can't cross the pipe (an optimizer) or needs a peculiar model."""
    names = dict.fromkeys([*parts_of(exercise.notebook), *exercise.uses])
    beside = course.STAND_INS / f"for_{exercise.notebook}.py"
    paths = [course.STAND_INS / f"{name}.py" for name in names if name != exercise.name] + [beside] * beside.exists()
    return [path.read_text("utf-8") for path in paths]


@cache
def reference_namespace(stem):
    """The reference answers of one notebook, by name, run in this process."""
    return {each.name: known_namespace(each, each.source)[each.name] for each in course.notebook(stem).exercises}


@cache
def reference_for(exercise):
    """What the reference can be asked for one exercise: the answers of its notebook, and all that stands around its own."""
    return known_namespace(exercise, exercise.source) | reference_namespace(exercise.notebook)


@cache
def known_namespace(exercise, source):
    """A trusted answer (from a solution or a bank) as it stands in the worker, run in this process."""
    namespace = {"__name__": f"known_{exercise.name}"}
    problem = build(namespace, sources(exercise, source), exercise.name)
    if problem:
        raise course.CourseError(f"a known answer of {exercise.name} does not run: {problem}")
    return namespace


def _imports_parts(node):
    return isinstance(node, ast.ImportFrom) and node.module == "course_utils.parts"
