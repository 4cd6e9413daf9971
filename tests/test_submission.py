"""Reading damaged and odd notebooks: the answers count that are there, or one line says why none can."""

import json

import pytest
from conftest import cell_of, reference_of

from grader import course, submission
from grader.submission import Refused

GOOD = reference_of("softmax")


def read(content, name="00_start_here"):
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return submission.read(raw, name)


def test_an_untouched_notebook_has_nothing_attempted(released):
    for notebook in course.notebooks():
        found = read(released(notebook.stem), notebook.stem)
        assert not any(answer.attempted for answer in found.answers.values())
        assert found.findings == []


def test_an_answer_is_found_with_nothing_to_remark(released):
    found = read(released(softmax=GOOD))
    assert found.answers["softmax"].attempted and not found.answers["batched_outer"].attempted
    assert found.findings == []


BLANK = ["pass", "...", '"""Only words."""', "raise NotImplementedError", 'raise NotImplementedError("later")']


@pytest.mark.parametrize("body", BLANK)
def test_a_body_that_does_nothing_is_not_an_attempt(released, body):
    assert not read(released(softmax=f"def softmax(x, dim):\n    {body}")).answers["softmax"].attempted


@pytest.mark.parametrize(
    "encode",
    [lambda t: b"\xef\xbb\xbf" + t.encode(), lambda t: t.encode("utf-16"), lambda t: t.replace("\n", "\r\n").encode()],
)
def test_any_usual_encoding_is_read(released, encode):
    text = json.dumps(released(softmax=GOOD + "# π 注意"), ensure_ascii=False, indent=1)
    assert read(encode(text)).answers["softmax"].attempted


def test_a_byte_that_is_no_text_is_remarked_and_the_rest_is_read(released):
    raw = json.dumps(released(softmax=GOOD)).encode().replace(b"# Start here", b"# Start \xff here")
    found = read(raw)
    assert found.answers["softmax"].attempted and any("not text in utf-8" in finding for finding in found.findings)


def test_a_format_that_is_no_number_counts_as_4(released):
    content = released(softmax=GOOD)
    for odd in (None, "4", True, 4.5):
        assert read(content | {"nbformat": odd}).answers["softmax"].attempted


def test_windows_and_old_line_ends_in_a_cell_are_read(released):
    for ending in ("\r\n", "\r"):
        assert "\r" not in read(released(softmax=GOOD.replace("\n", ending))).answers["softmax"].source


def test_stripped_metadata_is_no_loss(released):
    content = released(softmax=GOOD)
    content["metadata"] = {}
    for cell in content["cells"]:
        cell["metadata"] = {}
    found = read(content, "homework")
    assert found.notebook.stem == "00_start_here" and found.answers["softmax"].attempted
    assert "all cell metadata was missing: answers were found by name" in found.findings


@pytest.mark.parametrize("name", ["Copy of 00_start_here", "00_start_here (1)", "final FINAL"])
def test_a_renamed_file_is_known_by_what_it_holds(released, name):
    assert read(released(softmax=GOOD), name).notebook.stem == "00_start_here"


def test_the_wrong_notebook_under_a_right_name_is_refused(released):
    content = released("00_start_here", softmax=GOOD)
    content["metadata"]["transformers_from_scratch"]["notebook"] = "01_soft_retrieval"
    with pytest.raises(Refused, match="says that it is 01_soft_retrieval but holds the exercises of 00_start_here"):
        read(content)


def test_a_foreign_notebook_is_refused():
    with pytest.raises(Refused, match="cannot tell which notebook"):
        read({"nbformat": 4, "cells": [{"cell_type": "code", "source": "print(1)"}]}, "homework")


BROKEN = {
    "empty": b"",
    "blank": b"  \n",
    "truncated": b'{"cells": [{"cell_type": "code", "sour',
    "no notebook": b"[1, 2]",
    "no cells": b'{"nbformat": 4}',
    "cells that are none": b'{"nbformat": 4, "cells": 7}',
    "unknown format": b'{"nbformat": 9, "cells": []}',
    "sheets that are none": b'{"nbformat": 3, "worksheets": {"a": 1}}',
    "deep": b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "long number": b'{"nbformat": 4, "cells": [' + b"9" * 10_000 + b"]}",
}


@pytest.mark.parametrize("title", BROKEN)
def test_a_broken_file_is_refused_in_one_line(title):
    with pytest.raises(Refused) as refusal:
        read(BROKEN[title], "homework")
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 200


def test_a_copied_cell_counts_as_run_all_would_leave_it(released):
    content = released(softmax="def softmax(x, dim):\n    return 1")
    first = cell_of(content, "softmax")
    content["cells"].append({**first, "source": "def softmax(x, dim):\n    return 2"})
    found = read(content)
    assert "return 2" in found.answers["softmax"].source
    assert "softmax is defined in 2 cells: the last one counts" in found.findings


def test_an_answer_in_a_cell_of_its_own_is_found(released):
    content = released()
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": GOOD})
    found = read(content)
    assert found.answers["softmax"].attempted
    assert "softmax was found by name, not in its own cell" in found.findings


@pytest.mark.parametrize("kind", ["markdown", "raw"])
def test_an_answer_cell_turned_to_text_is_read_all_the_same(released, kind):
    content = released(softmax=GOOD)
    cell_of(content, "softmax")["cell_type"] = kind
    found = read(content)
    assert found.answers["softmax"].attempted and f"the answer cell of softmax is a {kind} cell: read as code" in found.findings


def test_a_deleted_answer_cell_is_not_attempted(released):
    content = released(batched_outer=reference_of("batched_outer"))
    content["cells"].remove(cell_of(content, "softmax"))
    found = read(content)
    assert not found.answers["softmax"].attempted and found.answers["batched_outer"].attempted
    assert "no cell defines softmax" in found.findings


def test_a_deleted_check_cell_is_taken_from_the_course(released):
    content = released(softmax=GOOD)
    content["cells"].remove(cell_of(content, "check_softmax"))
    assert "check cell of softmax was missing: taken from the course" in read(content).findings


def test_a_split_answer_cell_is_joined(released):
    content = released()
    cell = cell_of(content, "softmax")
    head, body = "def softmax(x, dim):", "    return torch.softmax(x, dim)"
    place = content["cells"].index(cell)
    content["cells"][place : place + 1] = [{**cell, "source": head}, {**cell, "source": body}]
    found = read(content)
    assert found.answers["softmax"].attempted and "the answer cell of softmax was split: its halves were joined" in found.findings


def test_a_syntax_error_costs_its_own_exercise_alone(released):
    found = read(released(softmax="def softmax(x, dim):\n    return x +", batched_outer=reference_of("batched_outer")))
    assert found.answers["softmax"].source.endswith("x +") and found.answers["batched_outer"].attempted


def test_magics_and_shell_lines_are_left_out(released):
    found = read(released(softmax=f"%matplotlib inline\n!pip install x\n{GOOD}\nsoftmax?"))
    assert found.answers["softmax"].attempted and "pip" not in found.answers["softmax"].source
    assert any("magics and shell lines were left out" in finding for finding in found.findings)


def test_cells_of_another_language_are_ignored(released):
    content = released(softmax=GOOD)
    content["cells"].append({"cell_type": "code", "metadata": {}, "source": "%%bash\ndef softmax"})
    assert read(content).findings == []


def test_only_what_the_answer_needs_goes_along(released):
    content = released(softmax="SCALE = 1.0\nprint('training')\ndef softmax(x, dim):\n    return helper(x) * SCALE * WEIGHT")
    extra = (
        "import os\nWEIGHT = 2.0\nx = input()\ndef helper(x):\n    return other(x)\ndef other(x):\n    return x\nmodel = train()"
    )
    content["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": extra})
    answer = read(content).answers["softmax"]
    assert "SCALE = 1.0" in answer.source and "print" not in answer.source
    assert [text.splitlines()[0] for text in answer.helpers] == ["WEIGHT = 2.0", "def helper(x):", "def other(x):"]


def test_a_function_put_on_a_class_afterwards_goes_along(released):
    answer = "class softmax:\n    pass\ndef forward(self, x):\n    return x\nsoftmax.forward = forward"
    assert "softmax.forward = forward" in read(released(softmax=answer)).answers["softmax"].source


def test_colab_and_format_3_are_read(released):
    content = released(softmax=GOOD)
    colab = {
        "nbformat": 4,
        "nbformat_minor": 0,
        "metadata": {"colab": {}, "kernelspec": {"name": "python3", "display_name": "Python 3"}},
    }
    cells = [{"cell_type": c["cell_type"], "source": [c["source"]], "metadata": {"id": "same"}} for c in content["cells"]]
    assert read(colab | {"cells": cells}).answers["softmax"].attempted
    old = [{"cell_type": c["cell_type"], "input": c["source"], "source": c["source"]} for c in content["cells"]]
    assert read({"nbformat": 3, "worksheets": [{"cells": old}]}).answers["softmax"].attempted


def test_another_version_of_the_course_is_remarked(released):
    content = released(softmax=GOOD)
    content["metadata"]["transformers_from_scratch"]["version"] = "9.9"
    assert any("version 9.9" in finding for finding in read(content).findings)


@pytest.mark.parametrize(
    "cell",
    [
        None,
        3,
        "text",
        {},
        {"source": 5},
        {"source": ["a", 3]},
        {"metadata": 7, "source": "x = 1"},
        {"metadata": {"nbgrader": []}},
    ],
)
def test_a_cell_that_is_none_is_no_traceback(released, cell):
    content = released(softmax=GOOD)
    content["cells"].insert(1, cell)
    assert read(content).answers["softmax"].attempted
