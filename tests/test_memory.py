"""Known answers are asked the same call once, and anew when anything differs."""

from collections import OrderedDict

import torch

from grader import memory
from grader.subjects import Subject, reference


def counting():
    """An answer that doubles, and the list of what it was asked."""
    asked = []

    def double(x):
        asked.append(x)
        return 2 * x

    return {"double": double}, asked


def test_the_same_call_with_the_same_seed_is_made_once():
    namespace, asked = counting()
    for _ in range(3):
        assert reference(namespace, seed=1).double(torch.ones(2)).tolist() == [2, 2]
    assert len(asked) == 1


def test_another_number_another_seed_and_another_answer_are_asked_anew():
    namespace, asked = counting()
    other, asked_other = counting()
    reference(namespace, seed=1).double(torch.ones(2))
    reference(namespace, seed=1).double(torch.tensor([1.0, 1.5]))
    reference(namespace, seed=2).double(torch.ones(2))
    reference(other, seed=1).double(torch.ones(2))
    assert len(asked) == 3 and len(asked_other) == 1


def test_a_check_may_change_what_it_got():
    namespace, _ = counting()
    reference(namespace, seed=1).double(torch.ones(2)).zero_()
    assert reference(namespace, seed=1).double(torch.ones(2)).tolist() == [2, 2]


def test_what_was_asked_long_ago_is_forgotten(monkeypatch):
    monkeypatch.setattr(memory, "SIZE", 3)
    monkeypatch.setattr(memory, "_replies", OrderedDict())
    namespace, asked = counting()
    for number in (*range(5), 0):
        reference(namespace, seed=1).double(torch.tensor(float(number)))
    assert len(asked) == 6


def test_the_first_call_of_a_check_is_made_twice_and_no_other():
    repeated = []

    def ask(request):
        repeated.append(request["repeat"])
        return {"value": None, "gradients": None, "changed": False, "unsteady": False, "operators": []}

    subject = Subject(ask, seed=1)
    for _ in range(3):
        subject.anything()
    assert repeated == [True, False, False]
