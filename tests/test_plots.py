"""The course's pictures: one figure per call, readable by eye on any background and without eyes by its alt text."""

import inspect
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import torch

from course_utils import embed, plots

LINE = torch.linspace(1, 10, 50)
CALLS = {
    "heatmap": lambda **words: plots.heatmap(torch.randn(3, 4), values=True, **words),
    "heatmaps": lambda **words: plots.heatmaps({"a": torch.randn(3, 4), "b": np.ones((3, 4))}, **words),
    "curves": lambda **words: plots.curves(
        LINE, {"y": LINE, "z": (LINE**2, 0.1 * LINE)}, xlabel="x", ylabel="y", levels={"five": 5}, ylog=True, **words
    ),
    "histogram": lambda **words: plots.histogram({"n": torch.randn(500)}, xlabel="value", **words),
    "bars": lambda **words: plots.bars({"a": 1.0, "b": (2, 0.5)}, ylabel="height", **words),
    "path": lambda **words: plots.path(torch.randn(5, 2), labels="abcde", marks={"centre": (0, 0)}, **words),
}


@pytest.fixture
def drawn(monkeypatch):
    """The SVGs that are shown, as text."""
    shown = []
    monkeypatch.setattr(embed, "show", lambda *figure: shown.append(embed.to_html(*figure)))
    return shown


@pytest.mark.parametrize("kind", CALLS)
def test_a_picture_is_wellformed_and_described(kind, drawn):
    assert CALLS[kind](title="A < title & more", alt='alt "text" <here>') is None
    root = ET.fromstring(drawn[0])
    assert (root.get("role"), root.get("aria-label")) == ("img", 'alt "text" <here>')
    assert root[0].tag.endswith("title") and root[0].text == "A < title & more"


@pytest.mark.parametrize("kind", CALLS)
def test_text_and_axes_take_the_colour_of_the_page(kind, drawn):
    CALLS[kind](title="t", alt="a")
    assert "currentColor" in drawn[0]
    assert embed.INK not in drawn[0] and "#000000" not in re.sub(r">[^<]*<", "><", drawn[0]).replace("fill: #000000", "")


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("alt", ["", "  "])
def test_an_empty_alt_text_is_refused(kind, alt, drawn):
    with pytest.raises(ValueError, match="alt text"):
        CALLS[kind](title="t", alt=alt)
    assert not drawn


def test_ids_of_two_equal_pictures_differ_and_every_reference_finds_its_target(drawn):
    for _ in range(2):
        plots.curves(LINE, {"a": LINE, "b": LINE**2}, title="t", alt="a", xlabel="x", ylabel="y")
    ids = [set(re.findall(r'\bid="([^"]+)"', picture)) for picture in drawn]
    assert ids[0] and not ids[0] & ids[1]
    for own, picture in zip(ids, drawn, strict=True):
        references = re.findall(r'(?:url\(|href=")#([^)"]+)', picture)
        assert references and set(references) <= own


def test_no_style_sheet_leaks_into_the_page(drawn):
    plots.heatmap(torch.eye(3), title="t", alt="a")
    assert "<style" not in drawn[0]


def test_numbers_stand_in_their_cells_and_what_is_not_finite_is_named(drawn):
    plots.heatmap([[0.25, float("-inf")], [float("nan"), -2.0]], values=True, title="t", alt="a")
    for text in ("0.25", "−∞", "NaN", "−2.00"):
        assert f">{text}</text>" in drawn[0]


def test_cells_of_a_mask_are_whole_numbers(drawn):
    plots.heatmap(torch.ones(2, 2).tril().bool(), values=True, title="t", alt="a")
    assert ">1</text>" in drawn[0] and "1.00" not in drawn[0]


def test_gradients_lists_and_dollar_signs_are_no_obstacle(drawn):
    weights = torch.rand(2, 2, dtype=torch.bfloat16, requires_grad=True)
    plots.heatmap(weights, rows=["$", "a$b$"], columns=["x", "y"], title="cost: $5", alt="a")
    assert ">a$b$</text>" in drawn[0]


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="3 dimensions"):
        plots.heatmap(torch.zeros(2, 2, 2), title="t", alt="a")
    with pytest.raises(ValueError, match=r"\(N, 2\)"):
        plots.path(torch.zeros(4, 3), title="t", alt="a")
    with pytest.raises(ValueError, match="2 tick labels for 3"):
        plots.heatmap(torch.eye(3), rows=["a", "b"], title="t", alt="a")


def test_outside_ipython_a_picture_is_its_text(capsys, monkeypatch):
    monkeypatch.setattr(embed, "_in_ipython", lambda: False)
    plots.bars({"a": 1}, ylabel="y", title="The title", alt="One bar.")
    assert capsys.readouterr().out == "The title\nOne bar.\n"


def test_signatures_ask_for_title_and_alt():
    for kind in CALLS:
        words = inspect.signature(getattr(plots, kind)).parameters
        assert all(words[name].default is inspect.Parameter.empty for name in ("title", "alt"))


def test_matplotlib_comes_with_the_first_picture_and_pyplot_never():
    program = (
        "import sys, course_utils; assert 'matplotlib' not in sys.modules; "
        "course_utils.plots.heatmap([[1, 2]], title='t', alt='a'); "
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
