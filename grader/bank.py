"""The banks: answers whose verdict is known. They prove the hidden checks and name a learner's mistake."""

import ast
import importlib
import inspect
import textwrap
from dataclasses import dataclass
from functools import cache, cached_property

from grader import course


@dataclass(frozen=True)
class Answer:
    """One entry of a bank. `caught_by` and `says` are None for a right answer."""

    exercise: str
    title: str
    function: object
    caught_by: str | None = None
    says: str | None = None
    hands_in: str | None = None  # a file of grader/banks/weights; without, that of the exercise's own name

    def weights(self):
        """The bytes of the file that is handed in with this answer."""
        return weights_of(self.exercise, self.hands_in)

    @cached_property
    def source(self):
        """This answer as a learner would hand it in: helpers of its bank, then the definition under the exercise's name."""
        module = inspect.getmodule(self.function)
        definition = _definition(inspect.getsource(self.function), self.function.__name__, self.exercise)
        return f"{_helpers(module)}\n\n{definition}\n"


def wrong(exercise, *, caught_by, says, hands_in=None):
    """Register a wrong answer: the hidden check that must fail, and the sentence that names the mistake."""
    return lambda function: _register(Answer(exercise, function.__name__, function, caught_by, says, hands_in))


def right(exercise, *, hands_in=None):
    """Register another right answer: it must get full marks and no diagnosis."""
    return lambda function: _register(Answer(exercise, function.__name__, function, hands_in=hands_in))


def weights_of(exercise, file=None):
    """The bytes of a file of trained weights, the one under the exercise's name where none is named; None where there is none."""
    path = course.BANKS / "weights" / (file or f"{exercise}.npz")
    return path.read_bytes() if path.exists() else None


def _register(answer):
    module = inspect.getmodule(answer.function)
    if not hasattr(module, "ANSWERS"):
        module.ANSWERS = []
    if any(other.exercise == answer.exercise and other.title == answer.title for other in module.ANSWERS):
        raise ValueError(f"{module.__name__}: {answer.title} stands twice for {answer.exercise}")
    module.ANSWERS.append(answer)
    return answer.function


@cache
def bank(kind, stem):
    """All answers of one bank. kind: "wrong" or "right"; stem: of the notebook, such as "00_start_here"."""
    return tuple(importlib.import_module(f"grader.banks.{kind}_{stem}").ANSWERS)


def of_exercise(kind, exercise):
    """The answers of one bank for one exercise, in the order of the file."""
    return [answer for answer in bank(kind, exercise.notebook) if answer.exercise == exercise.name]


def _definition(source, title, exercise):
    """The definition without its decorators, under the name of the exercise."""
    tree = ast.parse(textwrap.dedent(source))
    node = tree.body[0]
    node.decorator_list = []
    lines = textwrap.dedent(source).splitlines()[node.lineno - 1 :]
    keyword = "class" if isinstance(node, ast.ClassDef) else "def"
    lines[0] = lines[0].replace(f"{keyword} {title}", f"{keyword} {exercise}", 1)
    return "\n".join(lines)


@cache
def _helpers(module):
    """Imports and undecorated definitions at the top of a bank, as source."""
    source = inspect.getsource(module)
    kept = [node for node in ast.parse(source).body if not getattr(node, "decorator_list", None)]
    kept = [node for node in kept if not (isinstance(node, ast.ImportFrom) and node.module == "grader.bank")]
    kept = [node for node in kept if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    return "\n".join(ast.get_source_segment(source, node) for node in kept)
