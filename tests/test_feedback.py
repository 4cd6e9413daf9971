"""check, hint, progress and needs, as a learner meets them."""

import json
import random
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
import torch

from course_utils import check, checks, hint, manifest, needs, progress, side_by_side
from course_utils.compare import close
from course_utils.results import Feedback

pytest_plugins = ["toy_course"]
pytestmark = pytest.mark.usefixtures("course")
JOURNAL = Path(".course_progress.json")


def named(name, body):
    """A function called `name`, as if the learner had defined it."""
    body.__name__ = body.__qualname__ = name
    return body


def stub(x):
    raise NotImplementedError()


def test_an_untouched_stub_is_not_attempted_and_not_recorded():
    feedback = check(named("double", lambda x: stub(x)))
    assert "calls stub, and that is not filled in" in repr(feedback)

    def double(x):
        raise NotImplementedError

    assert repr(check(double)) == "double: not attempted yet"
    assert "not attempted yet" in check(double)._repr_html_()
    assert not JOURNAL.exists()


def test_a_missing_kernel_of_pytorch_is_no_stub():
    def double(x):
        return torch.softmax(x.long(), 0)

    text = repr(check(double))
    assert "0 of 2 public checks passed" in text and "Error" in text and "not attempted" not in text


def test_a_module_without_forward_is_no_stub_either():
    class Scale(torch.nn.Module):
        def __init__(self, factor):
            super().__init__()

    assert 'missing the required "forward" function' in repr(check(Scale))


def test_success_says_what_is_still_to_come():
    def double(x):
        return 2 * x

    assert repr(check(double)).startswith("double: 2 of 2 public checks passed; 1 more runs at grading\n")
    softmax = named("softmax", lambda x: 2 * x)
    assert check(softmax).title == "softmax: 2 of 2 public checks passed; 6 more run at grading"

    class Scale:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x):
            return self.factor * x

    assert check(Scale).title == "Scale: 2 of 2 public checks passed"


def test_wrong_numbers_stand_beside_the_expected_ones():
    def double(x):
        return 2 * x + torch.tensor([0.0, 1.0]) if x.dim() == 1 else x * 2

    feedback = check(double)
    assert "✗ failed  a vector" in repr(feedback) and "✓ passed  a matrix" in repr(feedback)
    assert re.search(r"yours +expected\n +2.00  5.00\* +2.00  4.00\n", repr(feedback))
    svg = ET.fromstring(re.search(r"<svg.*?</svg>", feedback._repr_html_()).group())
    assert svg.get("role") == "img" and "1 of 2 differ" in svg.get("aria-label")


@pytest.mark.parametrize("error", [ZeroDivisionError("no"), SystemExit(3), RecursionError(), AssertionError("<script>")])
def test_whatever_the_answer_raises_stays_inside(error):
    def double(x):
        raise error

    feedback = check(double)
    assert not feedback.passed and type(error).__name__ in repr(feedback)
    assert "<script>" not in feedback._repr_html_()


def test_an_exception_that_cannot_be_printed_stays_inside():
    class Nasty(Exception):
        def __str__(self):
            raise RuntimeError

    def double(x):
        raise Nasty

    assert "Nasty" in repr(check(double))


def test_stopping_the_kernel_is_not_swallowed_and_state_is_restored():
    def double(x):
        torch.set_default_dtype(torch.float64)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(double)
    assert torch.get_default_dtype() == torch.float32


def test_check_leaves_the_state_of_torch_alone():
    def double(x):
        torch.manual_seed(random.randrange(9) + np.random.randint(9))
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        return 2 * x

    before = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    with torch.no_grad():
        check(double)
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled() and torch.get_default_dtype() == torch.float32
    assert torch.equal(before[0], torch.get_rng_state()) and before[1] == random.getstate()
    assert before[2] == np.random.get_state()[1].tolist()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("double", "without quotes: check\\(double\\)"),
        (3, "got a int"),
        (torch.nn.Linear(1, 1), "got a Linear"),
        (lambda x: x, "define it with def"),
        (named("duble", lambda x: x), "expected one like double"),
        (named("zzz", lambda x: x), "expected softmax, double, Scale, quadruple"),
    ],
)
def test_what_is_no_exercise_is_refused_in_one_line(answer, message):
    with pytest.raises(ValueError, match=message) as caught:
        check(answer)
    assert "\n" not in str(caught.value)


def test_hints_come_one_by_one_and_the_last_stays(capsys):
    softmax = named("softmax", stub)
    for _ in range(4):
        hint(softmax)
    hint("softmax", 2)
    numbers = re.findall(r"softmax, hint (\d) of 3:\n  (\w+)", capsys.readouterr().out)
    assert numbers == [("1", "look"), ("2", "think"), ("3", "write"), ("3", "write"), ("2", "think")]
    with pytest.raises(ValueError, match="hints 1 to 3"):
        hint(softmax, 4)


def test_progress_remembers_a_pass_and_says_what_is_newest():
    right, wrong = named("double", lambda x: 2 * x), named("double", lambda x: x)
    assert re.search(r"double +1  ○ not yet", repr(progress()))
    check(wrong)
    assert re.search(r"double +1  ✗ tried", repr(progress()))
    check(right)
    assert re.search(r"double +1  ✓ passed\n", repr(progress()))
    assert "1 of 4 exercises" in repr(progress()) and "1 of 5.5 points" in repr(progress())
    check(wrong)
    for text in (repr(progress()), progress()._repr_html_()):
        assert "✓ passed earlier, the newest try does not" in text
    assert not list(Path().glob("*.part")) and not list(Path().glob(".*.part"))


@pytest.mark.parametrize("content", ["{", "[]", '{"exercises": {"double": 3}}', '{"exercises": 1}'])
def test_a_broken_journal_is_set_aside(content):
    JOURNAL.write_text(content)
    assert ".bak" in repr(progress())
    assert Path(".course_progress.json.bak").read_text() == content
    check(named("double", lambda x: 2 * x))
    assert json.loads(JOURNAL.read_text())["exercises"] == {"double": {"passed": True, "newest": "passed"}}


def test_a_folder_that_refuses_the_journal_is_reported():
    JOURNAL.mkdir()
    assert "progress" in repr(check(named("double", lambda x: 2 * x)))


@pytest.mark.parametrize("content", [None, "{", '{"version": "1"}', '{"version": "1", "notebooks": [{}]}'])
def test_a_course_file_that_is_missing_or_broken_is_one_clear_error(content):
    manifest.PATH.unlink() if content is None else manifest.PATH.write_text(content)
    with pytest.raises(manifest.BrokenCourse, match=r"course\.json is (missing|damaged).*install"):
        progress()


def test_a_cell_waits_for_its_stub(capsys):
    def double(x):
        raise NotImplementedError

    with needs(double, "softmax"):
        double(1)
    assert capsys.readouterr().out == "This cell waits for double: fill in its stub first.\n"


def test_a_cell_stops_for_an_answer_that_has_not_passed(capsys):
    with needs("softmax"):
        raise TypeError("wrong type.")
    assert capsys.readouterr().out == "This cell stopped: TypeError: wrong type. check(softmax) tells more.\n"


def test_an_error_is_the_cells_own_when_all_answers_passed(monkeypatch):
    check(named("double", lambda x: 2 * x))
    with pytest.raises(TypeError), needs("double"):
        raise TypeError
    monkeypatch.setattr("course_utils.feedback._passed_here", set())
    with pytest.raises(TypeError), needs("double"):
        raise TypeError
    check(named("double", lambda x: x))
    with needs("double"):
        raise TypeError


def test_large_and_deep_tensors_are_shown_where_they_differ():
    got, expected = torch.zeros(2, 20, 30), torch.zeros(2, 20, 30)
    got[1, 18, 4] = 1
    numbers = side_by_side.pair(got, expected)
    assert (len(numbers.got), len(numbers.got[0])) == (16, 16) and sum(map(sum, numbers.differs)) == 1
    assert "[1, 4:20, 0:16] of a tensor of shape (2, 20, 30)" in side_by_side.as_text(numbers)


def test_decimals_grow_until_a_difference_is_seen():
    text = side_by_side.as_text(side_by_side.pair(torch.tensor([0.1231]), torch.tensor([0.1234])))
    assert "0.1231*" in text and "0.1234" in text
    text = side_by_side.as_text(side_by_side.pair(*torch.tensor([[0.25 + 2e-8, 1.0], [0.25, 1.0]], dtype=torch.float64)))
    assert "0.25000002*" in text and "0.25000000 " in text
    text = side_by_side.as_text(side_by_side.pair(torch.tensor([1e6 + 100]), torch.tensor([1e6])))
    assert "1.0001e+06*" in text


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (2, 2, 2), (40,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.bool, torch.int64])
def test_every_kind_of_tensor_can_be_drawn(shape, dtype):
    got = torch.ones(shape).to(dtype)
    numbers = side_by_side.pair(got, torch.zeros(shape).to(dtype))
    ET.fromstring(side_by_side.as_svg(numbers))
    assert "1" in side_by_side.as_text(numbers) and "*" in side_by_side.as_text(numbers)


def test_titles_and_notes_are_escaped():
    outcome = checks.Outcome("<i>title</i>", False, "<i>message</i>")
    page = Feedback("<i>", [outcome], notes=["<i>note</i>"])._repr_html_()
    assert "<i>" not in page and page.count("&lt;i&gt;") == 4


def test_a_notebook_cell_is_checked_and_shown(shell):
    feedback = shell("def double(x):\n    raise NotImplementedError()\n\n\ncheck(double)")
    assert repr(feedback) == "double: not attempted yet"
    assert shell("def double(x):\n    return 2 * x\n\n\ncheck(double)").passed
    assert "1 of 4 exercises" in repr(shell("progress()"))


def test_close_and_checks_share_their_tolerances():
    numbers = torch.ones(2), torch.ones(2) + 1e-6
    close(*numbers)
    assert not any(map(any, side_by_side.pair(*numbers).differs))
