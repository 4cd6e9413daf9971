"""Matrices as coloured cells, and how labels are written along an axis. Sizes are inches, so that nothing overlaps."""

from dataclasses import dataclass

import numpy as np
import torch

from course_utils.embed import INK

WIDTH, FURTHER_PANEL, WIDEST = 6.0, 1.2, 8.4
TALLEST_PANEL, LARGEST_CELL, GAP = 3.4, 0.75, 0.2
PER_LINE = 4
LETTER, LINE = 0.085, 0.17  # an average letter is as wide, a line as high, at 10 points


@dataclass
class Layout:
    """Width and height of a figure and of one of its panels; equal cells are squares."""

    width: float
    height: float
    panel_width: float
    panel_height: float
    equal: bool


def layout(grids, rows, columns, values):
    """Fit a figure around its panels, so that there is no empty band above or below them."""
    across, down = min(len(grids), PER_LINE), -(-len(grids) // PER_LINE)
    high, wide = (max(grid.shape[axis] for grid in grids) for axis in (0, 1))
    left = 0.6 + (LETTER * _longest(rows) if rows is not None else 0.25)
    bar = 0.0 if values else 0.65
    width = min(WIDEST, WIDTH + FURTHER_PANEL * (across - 1))
    panel_width = (width - left - bar) / across - GAP
    equal = 1 / 4 <= wide / high <= 8
    if equal:
        cell = min(panel_width / wide, TALLEST_PANEL / high, LARGEST_CELL)
        panel_width, panel_height = cell * wide, cell * high
    else:
        panel_height = float(np.clip(0.3 * high, 0.4, TALLEST_PANEL))
    if across > 1:
        width = left + bar + across * (panel_width + GAP)
    slanted = columns is not None and _crowded(columns, panel_width)
    below = 0.35 + (0.25 + 0.7 * LETTER * _longest(columns) if slanted else 0.25)
    above = 0.35 if across == 1 else 0.65
    further = (down - 1) * (panel_height + 0.35)
    return Layout(max(width, 4.0), panel_height + further + above + below, panel_width, panel_height, equal)


def draw(figure, matrices, rows, columns, xlabel, ylabel, values, diverging):
    """Draw matrices {title: (R, C)} side by side on one colour scale, and make the figure as large as they need."""
    grids = {name: np.atleast_2d(array(matrix)) for name, matrix in matrices.items()}
    for grid in grids.values():
        if grid.ndim != 2:
            raise ValueError(f"a heatmap needs a matrix, got {grid.ndim} dimensions: take a slice first")
    room = layout(list(grids.values()), rows, columns, values)
    figure.set_size_inches(room.width, room.height)
    norm, colours = _colours(list(grids.values()), diverging)
    form = "{:.0f}" if all(is_whole(matrix) for matrix in matrices.values()) else "{:.2f}"
    all_axes = _panels(figure, len(grids))
    alike = len({grid.shape for grid in grids.values()}) == 1
    for place, (axes, (name, grid)) in enumerate(zip(all_axes, grids.items(), strict=True)):
        aspect = "equal" if room.equal else "auto"
        image = axes.imshow(np.ma.masked_invalid(grid), cmap=colours, norm=norm, aspect=aspect)
        axes.set_title(plain(name))
        axes.spines[:].set_visible(False)
        axes.set(xticks=[], yticks=[])
        if not alike or place + PER_LINE >= len(grids):
            axes.set_xlabel(xlabel)
            label_ticks(axes.xaxis, columns, grid.shape[1], room.panel_width)
        if not alike or place % PER_LINE == 0:
            axes.set_ylabel(ylabel)
            label_ticks(axes.yaxis, rows, grid.shape[0], room.panel_height, below_each_other=True)
        if values:
            _write_values(axes, image, grid, form, room)
    if not values:
        # Inside a panel's coordinates, for then it is exactly as high as the panels.
        last = all_axes[min(len(grids), PER_LINE) - 1]
        beside = last.inset_axes([1 + 0.15 / room.panel_width, 0, 0.13 / room.panel_width, 1])
        figure.colorbar(image, cax=beside).solids.set_rasterized(True)


def label_ticks(axis, labels, count, extent, below_each_other=False):
    """Write `labels` at 0 … count - 1 along `extent` inches, slanted or thinned out where there is no room for all.

    Without labels, whole numbers.
    """
    from matplotlib.ticker import MaxNLocator

    if labels is None:
        most = int(extent / (2 * LINE if below_each_other else 0.4))
        axis.set_major_locator(MaxNLocator(nbins=max(1, min(count, 9, most)), integer=True))
        if count == 1:
            axis.set_ticks([])
        return
    labels = [plain(label) for label in labels]
    if len(labels) != count:
        raise ValueError(f"{len(labels)} tick labels for {count} places")
    step = -int(-count * LINE // extent)
    slanted = not below_each_other and _crowded(labels, extent)
    slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axis.set_ticks(range(0, count, step), labels[::step], **slant)


def number(value, form):
    """A number as it is written in a picture, with a true minus, and none before a zero."""
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = form.format(value)
    return text.lstrip("-") if not text.strip("-0.") else text.replace("-", "−")


def array(values):
    """Numbers of any kind as an array of floats."""
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().to(torch.float64).numpy()
    elif isinstance(values, (list, tuple)):
        values = [array(value) for value in values]
    return np.asarray(values, dtype=float)


def is_whole(values):
    """True for booleans and integers."""
    if isinstance(values, torch.Tensor):
        return not values.is_floating_point()
    if isinstance(values, (list, tuple)):
        return all(is_whole(value) for value in values)
    return np.asarray(values).dtype.kind in "biu"


def plain(label):
    """A label as it is written: a dollar sign begins no formula."""
    return str(label).replace("$", r"\$")


def _panels(figure, count):
    """Axes for `count` panels in lines of PER_LINE; the last line may be shorter."""
    across = min(count, PER_LINE)
    all_axes = figure.subplots(-(-count // PER_LINE), across, squeeze=False).ravel()
    for axes in all_axes[count:]:
        axes.remove()
    return all_axes[:count]


def _longest(labels):
    return max((len(str(label)) for label in labels or ()), default=0)


def _crowded(labels, extent):
    return len(labels) * (_longest(labels) + 1) * LETTER > extent


def _colours(grids, diverging):
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    finite = np.concatenate([grid[np.isfinite(grid)] for grid in grids] + [np.zeros(0)])
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
    if diverging:
        high = max(abs(low), abs(high)) or 1.0
        low = -high
    elif not high > low:
        low, high = low - 0.5, high + 0.5
    colours = colormaps["RdBu" if diverging else "cividis"].with_extremes(bad=(0.5, 0.5, 0.5, 0.35))
    return Normalize(low, high), colours


def _write_values(axes, image, grid, form, room):
    texts = {place: number(value, form) for place, value in np.ndenumerate(grid)}
    wide, high = 72 * room.panel_width / grid.shape[1], 72 * room.panel_height / grid.shape[0]
    size = float(np.clip(min(0.9 * wide / (0.64 * _longest(texts.values())), 0.6 * high), 4, 11))
    for (row, column), text in texts.items():
        value = grid[row, column]
        red, green, blue, _ = image.cmap(image.norm(value))
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        # The grey of "not finite" lets the page shine through, so there the page's text colour is the legible one.
        colour = INK if not np.isfinite(value) else "black" if bright else "white"
        axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=size)
