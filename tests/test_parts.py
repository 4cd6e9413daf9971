"""my_transformer.py: what passes is collected with all that it needs, and later notebooks get it from there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from course_utils import checks, parts, portfolio
from course_utils.pytorch_parts import PARTS
from grader import course as grader_course

pytest_plugins = ["toy_course"]
pytestmark = pytest.mark.usefixtures("course")
FILE = Path("my_transformer.py")
DOUBLE = "def double(x):\n    return 2 * x\n\n\ncheck(double)"

# Their checks look at how they are made as well, and these are the library's own.
MADE_OTHERWISE = {"scaled_dot_product_attention", "MultiHeadAttention", "EncoderLayer", "FeedForward", "LayerNorm", "RMSNorm"}


def run_alone(expression):
    """What an expression gives in a fresh Python that can see my_transformer.py and nothing of the notebook."""
    program = f"import torch, my_transformer\nprint({expression})"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def get(name):
    """`from course_utils.parts import name`, as a cell would say it."""
    namespace = {}
    exec(f"from course_utils.parts import {name}", namespace)
    return namespace[name]


def test_an_answer_is_collected_with_imports_helpers_and_constants(shell):
    shell(
        "import math\nimport torch.nn.functional as F\nfrom torch import nn, full_like as fill\n"
        "TWO, LABEL, LIMIT, PAIR = 2, 'it\\'s', float('-inf'), (1, (2.5, None))\n"
        "twice = lambda x: TWO * x\n"
    )
    shell("class Shift:\n    amount = 0\n\ndef helper(x):\n    return twice(x) + Shift.amount + fill(x, math.sin(0))")
    feedback = shell(
        "@torch.no_grad()\ndef double(x, limit=LIMIT):\n    '''Docstring.'''\n    assert PAIR[1] and LABEL\n"
        "    return F.relu(nn.Identity()(helper(x)))\n\ncheck(double)"
    )
    assert feedback.notes == ["added to my_transformer.py"]
    text = FILE.read_text()
    assert "import torch.nn.functional as F\n" in text and 'LIMIT = float("-inf")' in text and "check(" not in text
    assert run_alone("my_transformer.double(torch.tensor(4.0)).item()") == "8.0"


def test_a_class_with_super_and_a_dataclass_are_collected(shell):
    shell("from dataclasses import dataclass\n\n@dataclass\nclass Sizes:\n    factor: int = 3")
    feedback = shell(
        "class Scale(torch.nn.Module):\n    def __init__(self, factor):\n        super().__init__()\n"
        "        self.sizes = Sizes(factor)\n\n    def forward(self, x):\n        return self.sizes.factor * x\n\n"
        "check(Scale)"
    )
    assert feedback.notes == ["added to my_transformer.py"]
    assert run_alone("my_transformer.Scale(3)(torch.tensor(4.0)).item()") == "12.0"


def test_a_second_pass_replaces_the_section_and_keeps_the_rest(shell):
    shell(DOUBLE)
    FILE.write_text(FILE.read_text() + "\n\n# %% mine\nanswer = 42  # by hand\n")
    shell("def quadruple(x):\n    return 4 * x\n\n\ncheck(quadruple)")
    shell("def softmax(x):\n    return x + x\n\n\ncheck(softmax)")
    shell("def double(x):\n    return x + x\n\n\ncheck(double)")
    text = FILE.read_text()
    marks = [line[5:] for line in text.splitlines() if line.startswith("# %% ")]
    assert marks == ["imports", "softmax", "double", "mine", "quadruple"]
    assert "2 * x" not in text and "answer = 42  # by hand" in text


def test_a_failing_answer_removes_nothing(shell):
    shell(DOUBLE)
    before = FILE.read_text()
    assert not shell("def double(x):\n    return x\n\n\ncheck(double)").passed
    assert FILE.read_text() == before


def test_an_earlier_exercise_of_the_notebook_is_a_section_of_its_own(shell):
    shell(DOUBLE)
    shell("def quadruple(x):\n    return double(double(x))\n\n\ncheck(quadruple)")
    assert FILE.read_text().count("def double") == 1
    assert run_alone("my_transformer.quadruple(torch.tensor(1.0)).item()") == "4.0"


def test_an_earlier_exercise_that_is_not_there_yet_is_asked_for(shell):
    shell("def double(x):\n    return 2 * x")
    feedback = shell("def quadruple(x):\n    return double(double(x))\n\n\ncheck(quadruple)")
    assert feedback.notes == ["not added to my_transformer.py: it calls `double`, which is not there yet; run check(double) first"]


def test_a_stand_in_is_imported_from_parts_until_the_own_one_comes(shell, course):
    shell("from course_utils.parts import softmax")
    shell("def quadruple(x):\n    return 4 * x + 0 * softmax(x, 0)\n\n\ncheck(quadruple)")
    assert "from course_utils.parts import softmax\n" in FILE.read_text()
    assert run_alone("my_transformer.quadruple(torch.tensor([1.0])).item()") == "4.0"
    shell("def softmax(x, dim=0):\n    return 2 * x\n\n\ncheck(softmax)")
    assert "course_utils.parts" not in FILE.read_text()
    assert run_alone("my_transformer.softmax(torch.tensor(1.0)).item()") == "2.0"


@pytest.mark.parametrize(
    ("before", "body", "reason"),
    [
        ("table = [1, 2]", "return 2 * x + 0 * table[0]", "it uses the notebook's variable `table`"),
        ("net = torch.nn.ReLU()", "return 2 * net(x)", "it uses the notebook's variable `net`"),
        ("", "return 2 * x if x.numel() else nowhere", "it uses `nowhere`, which is not defined"),
    ],
)
def test_what_cannot_be_collected_is_named_and_nothing_is_written(shell, before, body, reason):
    feedback = shell(f"{before}\ndef double(x):\n    {body}\n\n\ncheck(double)")
    assert feedback.passed and reason in feedback.notes[0]
    assert not FILE.exists()


def test_names_of_two_notebooks_do_not_silently_replace_each_other(shell):
    shell("FACTOR = 2\ndef double(x):\n    return FACTOR * x\n\n\ncheck(double)")
    feedback = shell("FACTOR = 4\ndef quadruple(x):\n    return FACTOR * x\n\n\ncheck(quadruple)")
    assert "its `FACTOR` differs from the one in section double" in feedback.notes[0]
    shell("FACTOR = 2.0\ndef softmax(x):\n    return FACTOR * x\n\n\ncheck(softmax)")
    assert FILE.read_text().count("FACTOR = 2.0") == 2


def test_an_import_does_not_take_the_name_of_another(shell):
    shell("from torch import square as power\ndef double(x):\n    return 2 * x + 0 * power(x)\n\n\ncheck(double)")
    feedback = shell("from torch import abs as power\ndef softmax(x):\n    return 2 * power(x)\n\n\ncheck(softmax)")
    assert "it needs `from torch import abs as power`" in feedback.notes[0]


BROKEN = {
    b"def double(:\n": "line 1 of the file is not Python",
    b"# fine\nx = '\xff'\n": "line 2 of the file is not UTF-8",
    b"x = 1\n\x00": "is not Python",
}


@pytest.mark.parametrize("content", BROKEN)
def test_a_broken_file_is_never_overwritten(shell, content, capsys):
    FILE.write_bytes(content)
    note = shell(DOUBLE).notes[0]
    assert note.startswith("not added to my_transformer.py") and BROKEN[content] in note and "Mend it" in note
    assert FILE.read_bytes() == content
    capsys.readouterr()
    assert get("softmax") is PARTS["softmax"]
    told = capsys.readouterr().out
    assert told.startswith("softmax: the course's stand-in, because my_transformer.py is broken") and told.count("\n") == 1


def test_a_file_that_stops_is_never_overwritten(shell):
    FILE.write_text("\n\nraise KeyError('oh')\n")
    note = shell(DOUBLE).notes[0]
    assert "would stop with KeyError in line 3: 'oh'" in note and "double" not in FILE.read_text()


def test_files_written_on_windows_are_read():
    FILE.write_bytes(b"\xef\xbb\xbfdef softmax(x, dim):\r\n    return 'mine'\r\n")
    assert get("softmax")(0, 0) == "mine"


def test_parts_say_once_whose_they_are_and_follow_the_file(shell, capsys):
    assert get("softmax") is get("softmax") is PARTS["softmax"]
    assert capsys.readouterr().out == "softmax: the course's stand-in until yours passes its checks\n"
    shell("def softmax(x, dim=0):\n    return 2 * x\n\n\ncheck(softmax)")
    capsys.readouterr()
    assert get("softmax")(torch.tensor(3.0)).item() == 6 and get("softmax") is get("softmax")
    assert capsys.readouterr().out == "softmax: yours, from my_transformer.py\n"
    shell("def softmax(x, dim=0):\n    return x + x + 0\n\n\ncheck(softmax)")
    assert get("softmax").__code__.co_consts != (None, 2)


def test_a_part_without_a_stand_in_comes_from_the_file(shell):
    shell(DOUBLE)
    assert get("double")(4) == 8


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("import nowhere_to_be_found", "stops with ModuleNotFoundError in line 1: No module named"),
        ("raise SystemExit(1)", "stops with SystemExit in line 1"),
        ("softmax = 3", "softmax in my_transformer.py is a int, not a function or class"),
        ("other = 3", "the course's stand-in until yours passes its checks"),
    ],
)
def test_a_file_without_a_working_part_gives_the_stand_in(content, message, capsys):
    FILE.write_text(content)
    assert get("softmax") is PARTS["softmax"]
    told = capsys.readouterr().out
    assert message in told and told.count("\n") == 1
    assert "my_transformer" not in sys.modules or "int" in message or "until" in message


def test_unknown_parts_are_answered_with_the_known_ones():
    with pytest.raises(ImportError, match=r"no 'sotfmax'; it has .*causal_mask, .*softmax"):
        get("sotfmax")
    assert not hasattr(parts, "_private")


def test_a_file_that_asks_parts_for_what_it_lacks_does_not_go_in_circles():
    FILE.write_text("from course_utils.parts import softmax\n\n\ndef double(x):\n    return softmax(x, 0)\n")
    assert get("double")(torch.zeros(4)).tolist() == [0.25] * 4
    assert run_alone("my_transformer.double(torch.zeros(2)).tolist()") == "[0.5, 0.5]"


def test_nothing_is_left_behind_when_writing_fails(monkeypatch, shell):
    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("course_utils.files.os.replace", full)
    assert "can't be written (No space left on device)" in shell(DOUBLE).notes[0]
    assert not FILE.exists() and not list(Path().glob(".*.part"))


def test_collect_never_raises():
    assert portfolio.collect(len).startswith("not added")


def test_stand_ins_pass_the_public_checks_of_their_exercises():
    for name in PARTS.keys() - MADE_OTHERWISE:
        topic = grader_course.notebook(grader_course.exercise(name).notebook).topic
        outcomes = checks.run(topic, name, PARTS[name])
        assert outcomes and all(outcome.passed for outcome in outcomes), name


def test_attention_hides_what_the_mask_hides():
    query, key, value = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 6)
    mask = torch.ones(3, 5, dtype=torch.bool).tril()
    mask[1] = False
    output, weights = PARTS["scaled_dot_product_attention"](query, key, value, mask)
    assert weights[:, 0].tolist() == [[1.0, 0, 0, 0, 0]] * 2 and not weights[:, 1].any() and not output[:, 1].any()
    torch.testing.assert_close(output, weights @ value)
    with pytest.raises(TypeError, match="boolean"):
        PARTS["scaled_dot_product_attention"](query, key, value, mask.float())


def test_entropy_agrees_with_hand_worked_values():
    entropy = PARTS["softmax_entropy"](torch.tensor([[0.0, 0.0], [0.0, -torch.inf]]), -1)
    torch.testing.assert_close(entropy, torch.tensor([2.0, 1.0]).log())
