"""What a hidden check can ask of an answer, through a real worker: functions, modules, gradients, operators."""

import pytest
import torch

from course_utils.compare import Mismatch
from grader.sandbox.worker import build
from grader.subjects import AnswerRaised, Subject, reference
from grader.worker import Worker

SOURCE = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, size, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(size))
        self.bias = nn.Parameter(torch.zeros(size)) if bias else None
        self.register_buffer("shift", torch.ones(size))

    def forward(self, x):
        y = x * self.weight + self.shift
        y = nn.functional.dropout(y, 0.5, self.training)
        return y if self.bias is None else y + self.bias

    def norm(self):
        return self.weight.norm().item()

def copy_from(scale, linear):
    with torch.no_grad():
        scale.weight.copy_(linear.weight.diagonal())

def as_linear(scale, factor):
    linear = nn.Linear(len(scale.weight), len(scale.weight))
    with torch.no_grad():
        linear.weight.copy_(torch.diag(scale.weight * factor))
        linear.bias.zero_()
    return linear

def total(modules, x):
    return sum(module(x) for module in modules)
"""


@pytest.fixture(scope="module")
def student():
    with Worker() as worker:
        attempt = worker.fork("total", [SOURCE])
        assert attempt.problem is None
        yield Subject(attempt.call, seed=3, sources=(SOURCE,))
        attempt.close()


@pytest.fixture
def right():
    namespace = {}
    build(namespace, [SOURCE], "total")
    return reference(namespace, seed=4)


X = torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64)
WEIGHTS = {"weight": torch.tensor([1.0, 10.0, 100.0]), "bias": torch.tensor([0.5, 0.5, 0.5])}


def test_a_module_gets_the_weights_it_is_given(student, right):
    for subject in (student, right):
        scale = subject.make("Scale", 3, weights=WEIGHTS)
        assert scale(X).tolist() == [[2.5, 21.5, 301.5]]
        assert scale.call("norm") == pytest.approx(100.503731)
        assert list(scale.parameters()) == ["weight", "bias"] and scale.buffers()["shift"].dtype == torch.float64


def test_gradients_of_inputs_and_parameters_agree_with_the_reference(student, right):
    mine = student.make("Scale", 3, weights=WEIGHTS).gradients(X, wrt=(0, "weight"))
    theirs = right.make("Scale", 3, weights=WEIGHTS).gradients(X, wrt=(0, "weight"))
    assert all(torch.equal(a, b) for a, b in zip(mine, theirs, strict=True)) and mine[1].abs().min() > 0


def test_other_names_or_shapes_of_parameters_are_told(student):
    with pytest.raises(AnswerRaised, match="parameters should be gain; they are bias, weight"):
        student.make("Scale", 3, weights={"gain": torch.ones(3)})(X)
    with pytest.raises(AnswerRaised, match=r"weight should have the shape \(4,\), not \(3,\)"):
        student.make("Scale", 3, bias=False, weights={"weight": torch.ones(4)})(X)


def test_training_and_dtype_are_as_asked(student):
    dropped = Subject(student._ask_, 3, repeat=False).make("Scale", 3, weights=WEIGHTS, training=True)(X)
    assert dropped.tolist() != student.make("Scale", 3, weights=WEIGHTS)(X).tolist()
    assert student.make("Scale", 3, dtype=torch.float32)(X.float()).dtype == torch.float32


def test_a_function_may_prepare_or_replace_a_module(student):
    linear = student.make(
        "torch.nn.Linear", 3, 3, weights={"weight": torch.diag(torch.tensor([2.0, 3.0, 4.0])), "bias": torch.zeros(3)}
    )
    copied = student.make("Scale", 3, then=[("copy_from", linear)])
    assert copied(X).tolist() == [[3.0, 7.0, 13.0]]
    turned = student.make("Scale", 3, weights=WEIGHTS, then=[("as_linear", 2.0)])
    assert turned(X).tolist() == [[2.0, 40.0, 600.0]]


def test_modules_are_arguments_too(student):
    scale = student.make("Scale", 3, weights=WEIGHTS)
    assert student.total([scale, scale], X).tolist() == [[5.0, 43.0, 603.0]]


def test_operators_and_names_give_a_shortcut_away(student):
    scale = student.make("Scale", 3, weights=WEIGHTS)
    assert scale.by_hand(X, forbidden=("matmul",)) is not None
    with pytest.raises(Mismatch, match="uses mul"):
        scale.by_hand(X, forbidden=("mul",))
    with pytest.raises(Mismatch, match="uses register_buffer"):
        scale.by_hand(X, forbidden=("register_buffer",))


def test_what_a_module_draws_is_the_same_each_time(student):
    first = student.make("torch.nn.Linear", 3, 3).parameters()
    assert first["weight"].abs().min() > 0
    again = student.make("torch.nn.Linear", 3, 3)
    student.calls.clear()
    one = again.parameters()
    student.calls.clear()
    assert torch.equal(again.parameters()["weight"], one["weight"])


def test_a_long_answer_arrives_whole():
    source = SOURCE + "\n".join(f"# {number:04}" for number in range(2000)) + "\n\ndef late():\n    return 7\n"
    with Worker() as worker:
        attempt = worker.fork("late", [source])
        assert attempt.problem is None
        assert Subject(attempt.call, seed=3).late() == 7
        attempt.close()
