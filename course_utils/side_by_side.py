"""The learner's numbers beside the expected ones: as aligned text and as a small SVG."""

import html
import math
from dataclasses import dataclass

import torch

from course_utils.compare import TOLERANCES

MOST_CELLS = 16
# float64 is compared to nine digits, so the tenth decimal shows whatever differs.
MOST_DECIMALS = 10
# A few colours of cividis, from the least value to the greatest; in between they are mixed.
CIVIDIS = [(0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (200, 184, 102), (254, 232, 56)]
GREY = "rgba(128,128,128,.25)"
CELL_HEIGHT, GAP, CAPTION, WIDEST_CAPTION = 26, 28, 20, 60


@dataclass
class Pair:
    """Two matrices (R, C) of numbers to show, where they differ, and what part of the tensors they are."""

    got: list
    expected: list
    differs: list
    part: str = ""


def pair(got, expected):
    """Choose what of two tensors of one shape is to be shown: at most 16 x 16 cells, some of which differ.

    Returns a Pair, or None where there is nothing to draw (no tensors, other shapes, empty, complex).
    """
    if not isinstance(got, torch.Tensor) or not isinstance(expected, torch.Tensor):
        return None
    if got.shape != expected.shape or got.numel() == 0 or expected.is_complex() or got.is_complex():
        return None
    differs = _differs(got, expected)
    first = [int(index) for index in differs.nonzero()[0]] if differs.any() else [0] * got.dim()
    window = tuple(_window(size, at, last) for size, at, last in zip(got.shape, first, _last_two(got.dim()), strict=True))
    shown = [_matrix(tensor[window]) for tensor in (got, expected, differs)]
    whole = all(isinstance(part, slice) and part == slice(0, size) for part, size in zip(window, got.shape, strict=True))
    return Pair(*shown, part="" if whole else _describe(window, tuple(got.shape)))


def as_text(numbers):
    """Both matrices as aligned columns of numbers, side by side where they fit; * marks what differs."""
    form = _format(numbers)
    left = ["yours", *_columns(numbers.got, numbers.differs, form)]
    right = ["expected", *_columns(numbers.expected, None, form)]
    width = max(map(len, left))
    if width + max(map(len, right)) <= 96:
        lines = [f"{mine:<{width}}   {theirs}".rstrip() for mine, theirs in zip(left, right, strict=True)]
    else:
        lines = [*left, *right]
    return "\n".join([*lines, "* differs" + (f"; {numbers.part}" if numbers.part else "")])


def as_svg(numbers):
    """Both matrices as coloured cells with their numbers; a cell that differs has an outline and a white corner."""
    form = _format(numbers)
    texts = [form(value) for grid in (numbers.got, numbers.expected) for row in grid for value in row]
    cell = max(34, 7 * max(map(len, texts)) + 12)
    rows, columns = len(numbers.got), len(numbers.got[0])
    panel = max(columns * cell, WIDEST_CAPTION)
    across, down = (panel + GAP, 0) if 2 * panel <= 720 else (0, rows * CELL_HEIGHT + CAPTION + 8)
    width, height = panel + across + 4, rows * CELL_HEIGHT + CAPTION + down + 4
    colour = _colour_scale(numbers)
    mine = _grid(numbers.got, numbers.differs, "yours", form, colour, cell, 2, 0)
    theirs = _grid(numbers.expected, None, "expected", form, colour, cell, 2 + across, down)
    count = sum(map(sum, numbers.differs))
    label = f"Yours beside expected, {rows} x {columns} numbers. {count} of {rows * columns} differ."
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{html.escape(label)}" width="{width}" '
        f'viewBox="0 0 {width} {height}" style="max-width:100%;height:auto;display:block" '
        f'font-family="sans-serif" font-size="12">'
        f"{mine}{theirs}</svg>"
    )


def _grid(grid, differs, caption, form, colour, cell, left, top):
    parts, marks = [f'<text x="{left}" y="{top + 14}" fill="currentColor">{caption}</text>'], []
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            x, y = left + column * cell, top + CAPTION + row * CELL_HEIGHT
            fill, ink = colour(value)
            parts.append(
                f'<rect x="{x}" y="{y}" width="{cell}" height="{CELL_HEIGHT}" fill="{fill}"/>'
                f'<text x="{x + cell / 2:g}" y="{y + 17}" text-anchor="middle" fill="{ink}">{form(value)}</text>'
            )
            if differs and differs[row][column]:
                marks.append(
                    f'<rect x="{x + 1.5}" y="{y + 1.5}" width="{cell - 3}" height="{CELL_HEIGHT - 3}" fill="none" '
                    f'stroke="#D55E00" stroke-width="3"/>'
                    f'<path d="M{x + cell - 3} {y + 3}h-7l7 7z" fill="#fff" stroke="#D55E00" stroke-width="1"/>'
                )
    return "".join(parts + marks)


def _colour_scale(numbers):
    finite = [value for grid in (numbers.got, numbers.expected) for row in grid for value in row if math.isfinite(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)

    def colour(value):
        if not math.isfinite(value):
            return GREY, "currentColor"
        place = (value - low) / (high - low) * (len(CIVIDIS) - 1) if high > low else 0.0
        below = min(int(place), len(CIVIDIS) - 2)
        share = place - below
        rgb = [round(a + (b - a) * share) for a, b in zip(CIVIDIS[below], CIVIDIS[below + 1], strict=True)]
        bright = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 128
        return f"rgb({rgb[0]},{rgb[1]},{rgb[2]})", "#000" if bright else "#fff"

    return colour


def _format(numbers):
    """A function that writes numbers with as many decimals as it takes to see the differences, two at least."""
    cells = [
        (mine, theirs, differs)
        for rows in zip(numbers.got, numbers.expected, numbers.differs, strict=True)
        for mine, theirs, differs in zip(*rows, strict=True)
    ]
    values = [value for mine, theirs, _ in cells for value in (mine, theirs)]
    if all(isinstance(value, int) for value in values):
        return str
    finite = [abs(value) for value in values if math.isfinite(value)]
    large = max(finite, default=0.0) >= 1e5
    for digits in range(3 if large else 2, MOST_DECIMALS + 1):
        form = f"{{:.{digits}g}}" if large else f"{{:.{digits}f}}"
        if all(form.format(mine) != form.format(theirs) for mine, theirs, differs in cells if differs):
            break
    return lambda value: _number(value, form)


def _number(value, form):
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return form.format(value)


def _columns(grid, differs, form):
    # A mark stands behind its number and not in it, so the digits stay aligned.
    width = max(len(form(value)) for row in grid for value in row)
    marks = differs or [[False] * len(row) for row in grid]
    return [
        " ".join(form(value).rjust(width) + ("*" if mark else " ") for value, mark in zip(*rows, strict=True)).rstrip()
        for rows in zip(grid, marks, strict=True)
    ]


def _differs(got, expected):
    """True where two tensors of one shape lie apart by more than the tolerance of their dtype."""
    if not expected.is_floating_point():
        return got != expected
    tolerance = TOLERANCES.get(expected.dtype, 1e-9)
    same = (got == expected) | (got.isnan() & expected.isnan())
    return ~(same | ((got - expected).abs() <= tolerance + tolerance * expected.abs()))


def _last_two(dimensions):
    return [place >= dimensions - 2 for place in range(dimensions)]


def _window(size, first, whole):
    """Of one dimension: the place of the first difference, or up to 16 places with it where the dimension is shown."""
    if not whole:
        return first
    start = 0 if first < MOST_CELLS else min(first, size - MOST_CELLS)
    return slice(start, min(size, start + MOST_CELLS))


def _matrix(tensor):
    numbers = tensor.detach().cpu()
    numbers = numbers.to(torch.float64) if numbers.is_floating_point() else numbers.to(torch.int64)
    while numbers.dim() < 2:
        numbers = numbers.unsqueeze(0)
    return numbers.tolist()


def _describe(window, shape):
    parts = [f"{part.start}:{part.stop}" if isinstance(part, slice) else str(part) for part in window]
    return f"shown: [{', '.join(parts)}] of a tensor of shape {shape}"
