"""The proof holds for the whole course, and it would notice if it didn't."""

import pytest
import torch

from grader import bank, course, lint, prove
from grader.__main__ import main
from grader.bank import Answer

SOFTMAX = course.exercise("softmax")


@pytest.mark.parametrize("name", [each.name for notebook in course.notebooks() for each in notebook.exercises])
def test_every_known_answer_gets_the_verdict_that_is_known(name, grader):
    proof = prove.prove(course.exercise(name), grader)
    assert proof.problems == []
    assert len(proof.kills) >= prove.LEAST["wrong answers"]


@pytest.fixture
def banks(monkeypatch):
    """A function that puts these answers, and no others, into the banks of softmax."""

    def put(wrong=(), right=()):
        monkeypatch.setattr(bank, "of_exercise", lambda kind, exercise: list(wrong if kind == "wrong" else right))

    return put


def known(kind, title):
    return next(answer for answer in bank.of_exercise(kind, SOFTMAX) if answer.title == title)


def problems(grader):
    return "\n".join(prove.prove(SOFTMAX, grader).problems)


def test_a_wrong_answer_that_is_right_is_noticed(grader, banks):
    right = known("right", "through_logsumexp")
    banks(wrong=[Answer("softmax", right.title, right.function, "huge_scores_are_no_trouble", "No.")])
    assert "wrong answer through_logsumexp is passed" in problems(grader)


def test_a_right_answer_that_is_wrong_is_noticed_by_hidden_and_public_checks(grader, banks):
    wrong = known("wrong", "logarithms")
    banks(right=[Answer("softmax", wrong.title, wrong.function)])
    found = problems(grader)
    assert "right answer logarithms fails:" in found and "right answer logarithms fails public checks" in found


def test_a_wrong_answer_caught_by_another_check_is_noticed(grader, banks):
    wrong = known("wrong", "double_precision_returned")
    banks(wrong=[Answer("softmax", wrong.title, wrong.function, "nothing_but_minus_infinity_becomes_zeros", wrong.says)])
    assert "is not caught by nothing_but_minus_infinity_becomes_zeros but by" in problems(grader)


def test_two_wrong_answers_with_the_same_numbers_are_noticed(grader, banks):
    wrong = known("wrong", "logarithms")
    banks(
        wrong=[
            Answer("softmax", "one", wrong.function, wrong.caught_by, "One."),
            Answer("softmax", "two", wrong.function, wrong.caught_by, "Two."),
        ]
    )
    assert "wrong answer two is named: One." in problems(grader)


def test_too_few_answers_are_noticed(grader, banks):
    banks()
    assert "has 0 wrong answers, needs 4" in problems(grader)


def test_a_check_that_passes_for_anything_is_noticed(grader, banks, monkeypatch):
    monkeypatch.setitem(prove.BLANKS, "is the library's", "return torch.softmax(*args, **kwargs)")
    banks()
    assert "an answer that is the library's passes" in problems(grader)


def request(*args):
    return {"args": list(args), "kwargs": {}}


def attention(query, key, value):
    return query, key, value


SHAPES = "query (..., T, D), key (..., S, D), value (..., S, E) -> (..., T, E)"


@pytest.mark.parametrize(
    ("shapes", "found"),
    [
        (((2, 3, 4), (2, 5, 4), (2, 5, 6)), []),
        (((2, 3, 4), (2, 5, 4), (2, 5, 4)), ["D = E = 4"]),
        (((2, 3, 4), (2, 3, 4), (2, 3, 6)), ["S = T = 3"]),
        (((5, 3, 4), (5, 5, 4), (5, 5, 6)), ["S = leading 1 = 5"]),
        (((1, 4), (1, 4), (1, 6)), []),
        (((2, 3, 3, 4), (2, 3, 5, 4), (2, 3, 5, 6)), ["T = leading 2 = 3"]),
    ],
)
def test_the_shape_lint_finds_letters_of_one_size(shapes, found):
    assert lint.equal_sizes(SHAPES, attention, request(*(torch.zeros(shape) for shape in shapes))) == found


def test_prove_ends_with_1_where_something_does_not_hold(monkeypatch, capsys):
    monkeypatch.setitem(prove.LEAST, "hidden checks", 99)
    assert main(["prove", "causal_mask"]) == 1
    assert "hidden checks, needs 99" in capsys.readouterr().out
