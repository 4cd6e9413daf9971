"""compare.close and raises: the first property that is wrong is the one that is named."""

import math

import pytest
import torch

from course_utils.compare import Mismatch, close, raises

ONE = torch.ones(2, 3, dtype=torch.float64)


@pytest.mark.parametrize(
    ("got", "expected", "message"),
    [
        (None, ONE, "is a return missing"),
        (ONE.tolist(), ONE, "expected a tensor, got a list of 2"),
        (ONE.T, ONE, r"wrong shape: expected \(2, 3\), got \(3, 2\)"),
        (ONE[:1], ONE, "wrong shape"),
        (ONE.float(), ONE, "wrong dtype: expected torch.float64, got torch.float32"),
        (ONE * math.nan, ONE, "NaN in 6 of 6"),
        (ONE * math.inf, ONE, "is infinite in 6 of 6"),
        (ONE, ONE * -math.inf, "is finite where it should not be in 6 of 6"),
        (ONE * math.inf, ONE * -math.inf, "is infinite with the wrong sign in 6 of 6"),
        (
            torch.tensor([math.nan, math.inf, math.nan, 1.0]),
            torch.tensor([0.0, 0.0, 0.0, math.inf]),
            "is NaN in 2 and infinite in 1 and finite where it should not be in 1 of 4 places",
        ),
        (ONE + 1e-6, ONE, "off in 6 of 6 places"),
        (torch.tensor([True, False]), torch.tensor([True, True]), "differs in 1 of 2"),
        ((ONE,), (ONE, ONE), "expected 2 values, got a tuple of 1"),
        ((ONE, ONE + 1), (ONE, ONE), "value 2 of 2 is off"),
        (torch.tensor(1.0), 1.0, "item"),
        (math.nan, 1.0, "not finite"),
        (1.1, 1.0, "off by"),
        (True, 1, "expected a int, got a bool"),
        ("a", "b", "another str"),
    ],
)
def test_what_is_wrong_is_named(got, expected, message):
    with pytest.raises(Mismatch, match=message):
        close(got, expected)


@pytest.mark.parametrize(
    "value", [ONE, ONE * math.nan, ONE * -math.inf, ONE.half(), torch.arange(3), (ONE, [1.0, "a", None]), True]
)
def test_a_value_is_close_to_itself(value):
    close(value, value)


def test_tolerance_goes_with_the_dtype_and_can_be_loosened():
    close(torch.ones(3) + 1e-5, torch.ones(3))
    with pytest.raises(Mismatch):
        close(ONE + 1e-5, ONE)
    close(ONE + 1e-5, ONE, atol=1e-4)


def test_values_that_differ_come_along_for_the_picture():
    with pytest.raises(Mismatch) as caught:
        close((ONE + 1).requires_grad_(), ONE)
    assert torch.equal(caught.value.got, ONE + 1) and torch.equal(caught.value.expected, ONE)


def _raise(error):
    raise error


def test_raises_wants_this_error_and_these_words():
    raises(ValueError, _raise, ValueError("n_heads must divide d_model"), mentions=("n_heads", "d_model"))
    with pytest.raises(Mismatch, match="nothing was raised"):
        raises(ValueError, lambda: None)
    with pytest.raises(Mismatch, match="expected a ValueError, got a TypeError"):
        raises(ValueError, _raise, TypeError())
    with pytest.raises(Mismatch, match="lacks d_model"):
        raises(ValueError, _raise, ValueError("n_heads"), mentions=("n_heads", "d_model"))
    with pytest.raises(NotImplementedError):
        raises(ValueError, _raise, NotImplementedError())


def test_named_values_are_compared_by_name():
    close({"a": torch.ones(2)}, {"a": torch.ones(2)})
    with pytest.raises(Mismatch, match="the result, a is off in 1 of 2"):
        close({"a": torch.tensor([1.0, 2.0])}, {"a": torch.ones(2)})
    with pytest.raises(Mismatch, match="expected the names a, b, got a"):
        close({"a": 1.0}, {"a": 1.0, "b": 2.0})
    with pytest.raises(Mismatch, match="expected the names a, got a list of 0"):
        close([], {"a": 1.0})


def test_a_number_in_a_message_stands_by_itself():
    def fail(message):
        raise ValueError(message)

    raises(ValueError, fail, "d_model=13 for 3 heads", mentions=("13", "3"))
    raises(ValueError, fail, "got -2.5, wanted more.", mentions=("-2.5",))
    raises(ValueError, fail, "got -2.50 and 3.0", mentions=("2.5", "3"))
    for message in ("d_model=13", "got 2.35", "got 32"):
        with pytest.raises(Mismatch, match="lacks 3"):
            raises(ValueError, fail, message, mentions=("3",))
