"""One answer before the judge: what it gets, what it reads, and that a neighbour doesn't matter."""

import pytest
import torch
from conftest import reference_of

from grader import course, judge
from grader.grading import Grader
from grader.worker import WorkerLost

SOFTMAX = course.exercise("softmax")
GOOD = reference_of("softmax")


def grade(grader, body, helpers=()):
    return grader.grade(SOFTMAX, f"def softmax(x, dim):\n    {body}\n", helpers)


def full(grader):
    result = grader.grade(SOFTMAX, GOOD)
    return result.status == "passed" and result.score == SOFTMAX.points


def test_the_reference_gets_full_marks(grader):
    assert full(grader)


LIBRARY = """
def scaled_dot_product_attention(query, key, value, mask=None, dropout_p=0.0, training=False):
    weights = torch.softmax(query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5, -1)
    return F.scaled_dot_product_attention(query, key, value), weights
"""


def test_calling_what_is_to_be_written_by_hand_costs_all_points_and_says_why(grader):
    result = grader.grade(course.exercise("scaled_dot_product_attention"), "import torch.nn.functional as F" + LIBRARY)
    assert result.score == 0 and result.status == "failed"
    assert any(check.void for check in result.checks), "some checks hold by themselves"
    assert all("asks you to do without" in check.message for check in result.checks if check.void or check.forbidden)


ANSWERS = {
    "returns nothing": ("return None", "expected a tensor, got None"),
    "returns a list": ("return x.tolist()", "expected a tensor, got a list"),
    "returns an array": ("return x.numpy()", "expected a tensor, got a ndarray"),
    "raises": ("raise KeyError('no')", "your code raised KeyError"),
    "exits": ("raise SystemExit(0)", "your code raised SystemExit"),
    "ends the process": ("__import__('os')._exit(0)", "the process ended itself (exit code 0)"),
    "crashes": ("__import__('ctypes').string_at(0)", "the process died (SIGSEGV)"),
    "takes all memory": ("return torch.zeros(10**12)", "memory limit"),
    "asks the user": ("return input()", "your code raised EOFError"),
    "stays a stub": ("raise NotImplementedError()", "not implemented"),
    "changes its inputs": ("return x.sub_(x)", "the inputs were changed"),
    "is another the second time": (
        "softmax.n = getattr(softmax, 'n', 0) + 1; return torch.softmax(x, dim) * softmax.n",
        "a second call",
    ),
    "agrees with everything": (
        "return type('Yes', (), {'__eq__': lambda s, o: True, '__bool__': lambda s: True})()",
        "expected a tensor, got a Yes",
    ),
    "is another shape that broadcasts": ("return torch.softmax(x, dim)[None]", "wrong shape"),
    "is NaN": ("return x * float('nan')", "is NaN"),
}


@pytest.mark.parametrize("title", ANSWERS)
def test_a_wrong_answer_gets_nothing_and_a_reason_and_its_neighbour_everything(grader, title):
    body, reason = ANSWERS[title]
    result = grade(grader, body)
    assert (result.status, result.score) == ("failed", 0.0)
    assert reason in result.checks[0].message, result.checks[0]
    assert full(grader)


def test_an_endless_loop_costs_one_time_limit_and_not_one_for_each_check(grader):
    result = grade(grader, "while True: pass")
    assert result.score == 0
    assert all("time limit" in check.message for check in result.checks)


def test_patching_torch_changes_nothing(grader):
    patches = "import torch, builtins\ntorch.allclose = lambda *a, **k: True\ntorch.manual_seed = lambda s: None\nbuiltins.isinstance = lambda *a: True\nAssertionError = ValueError\n"
    assert grade(grader, "return torch.zeros_like(x)", helpers=(patches,)).score == 0
    assert full(grader)


def test_an_answer_that_does_not_parse_says_where(grader):
    result = grader.grade(SOFTMAX, "def softmax(x, dim):\n    return x +\n")
    assert result.status == "failed" and "SyntaxError in line 2" in result.checks[0].message


def test_helpers_go_along(grader):
    helper = (
        "def shifted(x, dim):\n    return x - x.amax(dim, keepdim=True).clamp(min=-1e300 if x.dtype == torch.float64 else -6e4)\n"
    )
    body = "e = shifted(x, dim).exp()\n    return e / e.sum(dim, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)"
    assert grade(grader, body).score == 0
    assert grade(grader, body, (helper,)).score > 0


def test_a_named_mistake_is_told_and_a_right_answer_is_not_named(grader):
    named = grade(grader, "e = torch.exp(x)\n    return e / e.sum(dim, keepdim=True)")
    assert "Subtract the largest score" in named.diagnosis
    assert grader.grade(SOFTMAX, GOOD).diagnosis is None


def test_an_unknown_mistake_gets_no_name(grader):
    assert grade(grader, "return torch.softmax(x * 1.01, dim)").diagnosis is None


def test_messages_hold_no_number_of_a_hidden_input(grader):
    result = grade(grader, "return torch.full_like(x, 123.456)")
    assert all("123.456" not in check.message and "tensor" not in check.message for check in result.checks)


def test_the_same_seed_gives_the_same_inputs_and_another_seed_others(grader):
    def first_input(seed):
        grader.seed, before = seed, grader.seed
        try:
            return grader.grade(SOFTMAX, GOOD).checks[1].calls[0].request["args"][0]
        finally:
            grader.seed = before

    one, again, other = first_input(1), first_input(1), first_input(2)
    assert torch.equal(one, again)
    assert one.shape != other.shape or not torch.equal(one, other)


def test_a_fault_of_a_hidden_check_is_never_a_zero(grader, monkeypatch):
    def broken(item, case):
        raise ZeroDivisionError("in the grader")

    monkeypatch.setattr(judge, "subjects_for", broken)
    result = grader.grade(SOFTMAX, GOOD)
    assert result.status == "grader_fault" and "ZeroDivisionError" in result.checks[0].message
    monkeypatch.undo()
    assert full(grader)


def test_no_hidden_check_is_a_fault_and_not_a_pass(grader, monkeypatch):
    monkeypatch.setitem(grader.court.items, "softmax", [])
    assert grader.grade(SOFTMAX, GOOD).status == "grader_fault"


def test_a_lost_worker_is_replaced(monkeypatch):
    with Grader(seed=1) as own:
        own.worker._process.kill()
        own.worker._process.wait()
        assert full(own)
        monkeypatch.setattr(own.worker, "fork", lambda *a: (_ for _ in ()).throw(WorkerLost("the worker is gone")))
        assert own.grade(SOFTMAX, GOOD).status == "grader_fault"
