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
    """Right code for the earlier exercises that this one may call, never for itself."""
    names = dict.fromkeys([*parts_of(exercise.notebook), *exercise.uses])
    return [(course.STAND_INS / f"{name}.py").read_text("utf-8") for name in names if name != exercise.name]


@cache
def reference_namespace(stem):
    """The reference answers of one notebook, by name, run in this process."""
    return {each.name: known_namespace(each, each.source)[each.name] for each in course.notebook(stem).exercises}


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
