"""The course's pictures. Each function draws one, shows it and returns None.

They take tensors (on any device, with or without gradients), arrays or lists. Every picture needs an alt text that says
what is to be seen; an empty one raises ValueError.
"""

from contextlib import contextmanager

import numpy as np

from course_utils import cells, embed
from course_utils.cells import array, label_ticks, number, plain
from course_utils.embed import INK

# Okabe-Ito, without the yellow that vanishes on white; the page's own text colour takes the place of black.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", INK]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (2, 1))]


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
        cells.draw(figure, {title: matrix}, rows, columns, xlabel, ylabel, values, diverging)


def heatmaps(matrices, *, title, alt, rows=None, columns=None, xlabel="", ylabel="", values=False, diverging=False):
    """Matrices {title: (R, C)} side by side on one colour scale. The options are those of `heatmap`."""
    with _picture(title, alt) as figure:
        cells.draw(figure, matrices, rows, columns, xlabel, ylabel, values, diverging)
        figure.suptitle(plain(title), fontsize=11)


def curves(x, lines, *, title, alt, xlabel, ylabel, xlog=False, ylog=False, levels=None):
    """Lines {label: y or (y, error)} over x (N,), each y (N,); an error is drawn as a band of y ± error.

    levels: {label: height}, dashed horizontals. xlog, ylog: logarithmic axes.
    """
    x = array(x)
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
                label=plain(label),
            )
            if error is not None:
                axes.fill_between(x, y - error, y + error, color=colour, alpha=0.2, linewidth=0)
        _draw_levels(axes, levels or {})
        axes.set(xscale="log" if xlog else "linear", yscale="log" if ylog else "linear")
        if xlog:
            _label_places(axes.xaxis, x)
        _finish(axes, title, xlabel, ylabel, legend=len(lines) > 1)


def histogram(samples, *, title, alt, xlabel, bins=60):
    """Distributions {label: values} as outlines over common bins; each covers an area of one."""
    samples = {label: array(values).ravel() for label, values in samples.items()}
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
                label=plain(label) + (f" ({left_out} not finite)" if left_out else ""),
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
        axes.bar_label(drawn, [number(height, "{:.3g}") for height, _ in pairs], padding=3)
        label_ticks(axes.xaxis, list(heights), len(pairs), extent=5.2)
        axes.margins(y=0.12)
        _finish(axes, title, xlabel, ylabel)


def path(points, *, title, alt, xlabel="", ylabel="", labels=None, marks=None):
    """Points (N, 2) joined in order, start and end marked; equal steps look equal along both axes.

    labels: one text for each point. marks: {label: (x, y)}, further places of interest.
    """
    points = array(points)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a path needs points of shape (N, 2), got {points.shape}")
    with _picture(title, alt) as figure:
        axes = figure.subplots()
        axes.plot(*points.T, color=COLOURS[0], marker="o", markersize=4)
        # Rings, since a mark may lie in the same place.
        ring = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 2}
        axes.plot(*points[0], color=COLOURS[2], marker="^", markersize=15, label="start", **ring)
        axes.plot(*points[-1], color=COLOURS[1], marker="s", markersize=13, label="end", **ring)
        for text, point in zip([] if labels is None else labels, points, strict=False):
            axes.annotate(plain(text), point, (5, 5), textcoords="offset points", fontsize=9)
        for text, place in (marks or {}).items():
            place = array(place)
            axes.plot(*place, color=INK, marker="X", markersize=6, linestyle="")
            axes.annotate(plain(text), place, (10, -3), textcoords="offset points", fontsize=9)
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.1)
        _finish(axes, title, xlabel, ylabel)
        axes.legend(markerscale=0.6)


def _draw_levels(axes, levels):
    """Dashed horizontals {label: height}, with room for a label above the topmost."""
    for label, height in levels.items():
        axes.axhline(float(height), color=INK, linestyle=(0, (4, 3)), linewidth=1)
        axes.annotate(
            plain(label),
            (1, float(height)),
            (0, 3),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            ha="right",
            va="bottom",
            fontsize=9,
        )
    if levels:
        axes.margins(y=0.1)


def _label_places(axis, places):
    """On a logarithmic axis: tick the places that were measured, if there is room for each; else powers of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    steps = np.diff(np.log(np.sort(places)))
    if len(places) > 1 and steps.min() > 0.09 * steps.sum():
        axis.set_major_locator(FixedLocator(places))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda place, _: f"{place:.6g}"))


def _finish(axes, title, xlabel, ylabel, legend=False):
    axes.set(title=plain(title), xlabel=xlabel, ylabel=ylabel)
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
    convert = (lambda height: float(array(height))) if scalar else array
    return convert(value), None if error is None else convert(error)
