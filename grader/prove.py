"""The graders are graded: known answers get the verdict that is known.

For each exercise: the reference gets full marks, answers that answer nothing get 0, every wrong answer of the bank fails in its own
check and is named by its own sentence, every right one gets full marks and no diagnosis; and the shape lint holds.
"""

import ast
from dataclasses import dataclass, field

from course_utils import checks as public_checks
from grader import answers, bank, course, lint

LEAST = {"hidden checks": 4, "wrong answers": 4, "right answers": 3}

# Answers that answer nothing. What passes for one of them passes for anything.
BLANKS = {
    "returns None": "return None",
    "returns its first argument": "return args[0] if args else 0.0",
    "returns zeros": "return next((a * 0 for a in args if hasattr(a, 'shape')), 0.0)",
    "always raises": "raise ValueError(f'{args} {kwargs}')",
}
BLANK_FUNCTION = "def {name}(*args, **kwargs):\n    {body}\n"
BLANK_CLASS = """
import torch

class {name}(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, *args, **kwargs):
        {body}
"""


@dataclass
class Proof:
    """What was found for one exercise. `kills` maps a wrong answer's title to the names of the checks that it fails."""

    exercise: course.Exercise
    check_names: list
    kills: dict = field(default_factory=dict)
    problems: list = field(default_factory=list)

    def demand(self, holds, problem):
        """Note a problem unless it holds."""
        if not holds:
            self.problems.append(f"{self.exercise.name}: {problem}")


def prove(exercise, grader):
    """Try every known answer of one exercise. Returns a Proof."""
    proof = Proof(exercise, grader.names(exercise))
    wrong, right = (bank.of_exercise(kind, exercise) for kind in ("wrong", "right"))
    for what, count in zip(LEAST, (len(proof.check_names), len(wrong), len(right)), strict=True):
        proof.demand(count >= LEAST[what], f"has {count} {what}, needs {LEAST[what]}")
    _reference(proof, grader.grade(exercise, exercise.source, handed_in=bank.weights_of(exercise.name)))
    _blanks(proof, grader)
    for answer in wrong:
        _wrong(proof, answer, grader.grade(exercise, answer.source, handed_in=answer.weights()))
    for answer in right:
        _right(proof, answer, grader.grade(exercise, answer.source, handed_in=answer.weights()))
    return proof


def _reference(proof, result):
    exercise = proof.exercise
    proof.demand(result.status == "passed", f"the reference fails: {_failures(result)}")
    function = answers.reference_namespace(exercise.notebook)[exercise.name]
    for check in result.checks:
        asks = check.reference_calls or check.calls or exercise.hands_in
        proof.demand(asks, f"{check.name} asks nothing")
        for call in check.reference_calls:
            for pair in lint.equal_sizes(exercise.shapes, function, call.request):
                proof.demand(False, f"{check.name} has equal sizes: {pair}")
    _public(proof, "the reference", exercise.source)


def _blanks(proof, grader):
    name = proof.exercise.name
    template = BLANK_CLASS if isinstance(course.definition_of(proof.exercise.stub, name), ast.ClassDef) else BLANK_FUNCTION
    for title, body in BLANKS.items():
        result = grader.grade(proof.exercise, template.format(name=name, body=body), handed_in=bank.weights_of(name))
        passed = [check.name for check in result.checks if check.passed]
        proof.demand(result.status == "failed" and result.score == 0, f"an answer that {title} passes {', '.join(passed)}")


def _wrong(proof, answer, result):
    failed = [check.name for check in result.checks if not check.passed]
    proof.kills[answer.title] = failed
    proof.demand(result.status == "failed", f"wrong answer {answer.title} is {result.status}")
    proof.demand(
        answer.caught_by in failed,
        f"wrong answer {answer.title} is not caught by {answer.caught_by} but by {', '.join(failed)}",
    )
    proof.demand(result.diagnosis == answer.says, f"wrong answer {answer.title} is named: {result.diagnosis}")


def _right(proof, answer, result):
    proof.demand(result.status == "passed", f"right answer {answer.title} fails: {_failures(result)}")
    proof.demand(result.diagnosis is None, f"right answer {answer.title} is named: {result.diagnosis}")
    _public(proof, f"right answer {answer.title}", answer.source)


def _public(proof, title, source):
    """Public checks never contradict the hidden ones."""
    exercise = proof.exercise
    topic = course.notebook(exercise.notebook).topic
    outcomes = public_checks.run(topic, exercise.name, answers.known_namespace(exercise, source)[exercise.name])
    failed = [f"{each.title} ({each.message})" for each in outcomes if not each.passed]
    proof.demand(outcomes and not failed, f"{title} fails public checks: {'; '.join(failed)}")


def _failures(result):
    return "; ".join(f"{check.name} ({check.message})" for check in result.checks if not check.passed)
