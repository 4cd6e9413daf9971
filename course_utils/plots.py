"""The course's pictures. Each function draws one, shows it and returns None.

They take tensors (on any device, with or without gradients), arrays or lists. Every picture needs an alt text that says
what is to be seen; an empty one raises ValueError.
"""

from contextlib import contextmanager

import numpy as np
import torch

from course_utils import embed
from course_utils.embed import INK

# Okabe-Ito, without the yellow that vanishes on white; the page's own text colour takes the place of black.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", INK]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 1))]
MOST_TICK_LABELS = 32


@contextmanager
def _picture(title, alt):
    """Yield a fresh figure to draw into, and show it. Raises ValueError without an alt text."""
    if not str(alt).strip():
        raise ValueError("a picture needs an alt text: say what is to be seen in it")
    with embed.style():
        figure = embed.figure()
        yield figure
        embed.show(figure, title, alt)


def heatmap(matrix, *, title, alt, rows=None, columns=None, xlabel="", ylabel="", values=False, diverging=False):
    """A matrix (R, C) as coloured cells; a vector is one row. `rows` and `columns` are tick labels.

    values writes the numbers into the cells; diverging centres the colours on 0. Cells that are not finite are grey.
    """
    with _picture(title, alt) as figure:
        _draw_heatmaps(figure, {title: matrix}, rows, columns, xlabel, ylabel, values, diverging)


def heatmaps(matrices, *, title, alt, rows=None, columns=None, xlabel="", ylabel="", values=False, diverging=False):
    """Matrices {title: (R, C)} side by side on one colour scale. The options are those of `heatmap`."""
    with _picture(title, alt) as figure:
        _draw_heatmaps(figure, matrices, rows, columns, xlabel, ylabel, values, diverging)
        figure.suptitle(_plain(title), fontsize=11)


def curves(x, lines, *, title, alt, xlabel, ylabel, xlog=False, ylog=False, levels=None):
    """Lines {label: y or (y, error)} over x (N,), each y (N,); an error is drawn as a band of y ± error.

    levels: {label: height}, dashed horizontals. xlog, ylog: logarithmic axes.
    """
    x = _array(x)
    with _picture(title, alt) as figure:
        axes = figure.subplots()
        for place, (label, line) in enumerate(lines.items()):
            y, error = _with_error(line)
            colour, marker, dashes = _look(place)
            axes.plot(
                x,
                y,
                color=colour,
                linestyle=dashes,
                marker=marker,
                markersize=4.5,
                markevery=max(1, len(x) // 12),
                label=_plain(label),
            )
            if error is not None:
                axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, linewidth=0)
        for label, height in (levels or {}).items():
            axes.axhline(float(height), color=INK, linestyle=(0, (4, 3)), linewidth=1)
            axes.annotate(
                _plain(label),
                (1, float(height)),
                (0, 3),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                ha="right",
                va="bottom",
                fontsize=9,
            )
        axes.set(xscale="log" if xlog else "linear", yscale="log" if ylog else "linear")
        _finish(axes, title, xlabel, ylabel, legend=len(lines) > 1)


def histogram(samples, *, title, alt, xlabel, bins=60):
    """Distributions {label: values} as outlines over common bins; each covers an area of one."""
    samples = {label: _array(values).ravel() for label, values in samples.items()}
    finite = {label: values[np.isfinite(values)] for label, values in samples.items()}
    edges = np.histogram_bin_edges(np.concatenate(list(finite.values())), bins=bins)
    with _picture(title, alt) as figure:
        axes = figure.subplots()
        for place, (label, values) in enumerate(finite.items()):
            colour, _, dashes = _look(place)
            left_out = len(samples[label]) - len(values)
            axes.hist(
                values,
                edges,
                density=True,
                histtype="stepfilled",
                linewidth=1.6,
                linestyle=dashes,
                facecolor=(colour, 0.15),
                edgecolor=colour,
                label=_plain(label) + (f" ({left_out} not finite)" if left_out else ""),
            )
        _finish(axes, title, xlabel, "density", legend=True)


def bars(heights, *, title, alt, ylabel, xlabel=""):
    """Bars {label: height or (height, error)}, each with its height written on it."""
    pairs = [_with_error(height, scalar=True) for height in heights.values()]
    errors = [np.nan if error is None else error for _, error in pairs]
    with _picture(title, alt) as figure:
        axes = figure.subplots()
        drawn = axes.bar(
            range(len(pairs)),
            [height for height, _ in pairs],
            width=0.65,
            color=COLOURS[0],
            yerr=None if np.isnan(errors).all() else errors,
            capsize=4,
            ecolor=INK,
        )
        axes.bar_label(drawn, [_number(height, "{:.3g}") for height, _ in pairs], padding=3)
        _label_ticks(axes.xaxis, list(heights), len(pairs), room=60)
        axes.margins(y=0.12)
        _finish(axes, title, xlabel, ylabel)


def path(points, *, title, alt, xlabel="", ylabel="", labels=None, marks=None):
    """Points (N, 2) joined in order, start and end marked; equal steps look equal along both axes.

    labels: one text for each point. marks: {label: (x, y)}, further places of interest.
    """
    points = _array(points)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a path needs points of shape (N, 2), got {points.shape}")
    with _picture(title, alt) as figure:
        axes = figure.subplots()
        axes.plot(*points.T, color=COLOURS[0], marker="o", markersize=4)
        axes.plot(*points[0], color=COLOURS[2], marker="^", markersize=9, linestyle="", label="start")
        axes.plot(*points[-1], color=COLOURS[1], marker="s", markersize=8, linestyle="", label="end")
        for text, point in zip([] if labels is None else labels, points, strict=False):
            axes.annotate(_plain(text), point, (5, 5), textcoords="offset points", fontsize=9)
        for text, place in (marks or {}).items():
            place = _array(place)
            axes.plot(*place, color=INK, marker="X", markersize=8, linestyle="")
            axes.annotate(_plain(text), place, (7, -3), textcoords="offset points", fontsize=9)
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.1)
        _finish(axes, title, xlabel, ylabel, legend=True)


def _draw_heatmaps(figure, matrices, rows, columns, xlabel, ylabel, values, diverging):
    from matplotlib import colormaps
    from matplotlib.colors import Normalize

    grids = {name: np.atleast_2d(_array(matrix)) for name, matrix in matrices.items()}
    for grid in grids.values():
        if grid.ndim != 2:
            raise ValueError(f"a heatmap needs a matrix, got {grid.ndim} dimensions: take a slice first")
    whole = all(_is_whole(matrix) for matrix in matrices.values())
    alike = len({len(grid) for grid in grids.values()}) == 1
    norm = Normalize(*_limits(grids.values(), diverging))
    colours = colormaps["RdBu" if diverging else "cividis"].with_extremes(bad=(0.5, 0.5, 0.5, 0.35))
    all_axes = figure.subplots(1, len(grids), squeeze=False)[0]
    for axes, (name, grid) in zip(all_axes, grids.items(), strict=True):
        wide = grid.shape[1] / grid.shape[0] * len(grids)
        aspect = "equal" if 1 / 4 <= wide <= 8 else "auto"
        image = axes.imshow(np.ma.masked_invalid(grid), cmap=colours, norm=norm, aspect=aspect)
        axes.set(title=_plain(name), xlabel=xlabel)
        axes.spines[:].set_visible(False)
        _label_ticks(axes.xaxis, columns, grid.shape[1], room=55 // len(grids))
        if axes is all_axes[0] or not alike:
            axes.set_ylabel(ylabel)
            _label_ticks(axes.yaxis, rows, grid.shape[0])
        else:
            axes.set_yticks([])
        if values:
            _write_values(axes, image, grid, "{:.0f}" if whole else "{:.2f}", len(grids))
    if not values:
        figure.colorbar(image, ax=all_axes, shrink=0.9 if len(grids) == 1 else 0.6).solids.set_rasterized(True)


def _limits(grids, diverging):
    finite = np.concatenate([grid[np.isfinite(grid)] for grid in grids] + [np.zeros(0)])
    if not finite.size:
        return 0.0, 1.0
    low, high = finite.min(), finite.max()
    if diverging:
        most = max(abs(low), abs(high)) or 1.0
        return -most, most
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _write_values(axes, image, grid, form, panels):
    size = float(np.clip(90 / max(grid.shape[1] * panels, 2 * grid.shape[0]) + 3, 4, 11))
    for (row, column), value in np.ndenumerate(grid):
        red, green, blue, _ = image.cmap(image.norm(value))
        bright = 0.299 * red + 0.587 * green + 0.114 * blue > 0.5
        # The grey of "not finite" lets the page shine through, so there the page's text colour is the legible one.
        colour = INK if not np.isfinite(value) else "black" if bright else "white"
        axes.text(column, row, _number(value, form), ha="center", va="center", color=colour, fontsize=size)


def _number(value, form):
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return form.format(value).replace("-", "−")


def _label_ticks(axis, labels, count, room=None):
    """Write `labels` at 0 … count - 1, thinned out where there are many; without labels, whole numbers.

    room: letters that fit beside each other, else they are slanted; None where each label has a line of its own.
    """
    from matplotlib.ticker import MaxNLocator

    if labels is None:
        axis.set_major_locator(MaxNLocator(nbins=min(count, 9), integer=True))
        if count == 1:
            axis.set_ticks([])
        return
    labels = [_plain(label) for label in labels]
    if len(labels) != count:
        raise ValueError(f"{len(labels)} tick labels for {count} places")
    step = -(-count // MOST_TICK_LABELS)
    crowded = room is not None and count * (max(map(len, labels)) + 1) > room
    slant = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    axis.set_ticks(range(0, count, step), labels[::step], **slant)


def _finish(axes, title, xlabel, ylabel, legend=False):
    axes.set(title=_plain(title), xlabel=xlabel, ylabel=ylabel)
    axes.grid(color=INK, alpha=0.15, linewidth=0.8)
    axes.set_axisbelow(True)
    if legend:
        axes.legend()


def _look(place):
    return tuple(choice[place % len(choice)] for choice in (COLOURS, MARKERS, LINES))


def _with_error(value, scalar=False):
    """Split `y` or `(y, error)`. A pair of plain numbers is a line of two points, unless scalars are asked for."""
    error = None
    if isinstance(value, tuple) and len(value) == 2 and (scalar or np.ndim(value[0]) == 1):
        value, error = value
    convert = (lambda number: float(_array(number))) if scalar else _array
    return convert(value), None if error is None else convert(error)


def _array(values):
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().to(torch.float64).numpy()
    elif isinstance(values, (list, tuple)):
        values = [_array(value) for value in values]
    return np.asarray(values, dtype=float)


def _is_whole(values):
    if isinstance(values, torch.Tensor):
        return not values.is_floating_point()
    if isinstance(values, (list, tuple)):
        return all(_is_whole(value) for value in values)
    return np.asarray(values).dtype.kind in "biu"


def _plain(label):
    """A label as it is written: a dollar sign begins no formula."""
    return str(label).replace("$", r"\$")
