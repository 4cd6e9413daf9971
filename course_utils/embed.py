"""A matplotlib figure as an SVG that stands in a notebook's page, readable on light and dark backgrounds."""

import hashlib
import html
import io
import itertools
import re

# Drawn by matplotlib in this odd colour, replaced by the page's own text colour afterwards.
INK = "#010203"

_RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "course",
    "font.family": ["sans-serif"],
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "image.interpolation": "none",
    **dict.fromkeys(["text.color", "axes.edgecolor", "axes.labelcolor", "axes.titlecolor", "xtick.color", "ytick.color"], INK),
}
_SERIAL = itertools.count(1)


def style():
    """A context in which figures are to be created and drawn: text and axes come out in the page's text colour."""
    import matplotlib

    return matplotlib.rc_context(_RC)


def figure(width=6.0, height=3.5):
    """An empty figure that no pyplot state knows of, so nothing stays open and no backend is touched."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def show(drawn, title, alt):
    """Show a figure in the notebook; outside IPython, and where pictures can't be shown, its title and alt text."""
    text = f"{title}\n{alt}"
    if not _in_ipython():
        print(text)
        return
    from IPython.display import display

    display({"text/html": to_html(drawn, title, alt), "text/plain": text}, raw=True)


def to_html(drawn, title, alt):
    """The figure as one <svg> element. Its ids are its own, since several figures share a page."""
    buffer = io.StringIO()
    drawn.savefig(buffer, format="svg", transparent=True, dpi=150, metadata={"Date": None, "Creator": None})
    source = buffer.getvalue()
    view_box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', source)
    body = source[source.index(">", source.index("<svg")) + 1 :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    # matplotlib's style sheet speaks of every element, and inside HTML that means every icon of the page as well.
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    body = _own_ids(body.replace(INK, "currentColor"))
    width, height = (float(size) for size in view_box.groups())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-label="{html.escape(alt)}" viewBox="0 0 {width:g} {height:g}" width="{width * 4 / 3:.0f}" '
        f'style="max-width:100%;height:auto;stroke-linejoin:round;stroke-linecap:butt">'
        f"<title>{html.escape(title)}</title>{body.strip()}"
    )


def _own_ids(body):
    # The content's hash and a count: unique in the page, and the same again when the whole notebook is run again.
    prefix = f"p{hashlib.sha256(body.encode()).hexdigest()[:8]}-{next(_SERIAL)}-"
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    return re.sub(r'(url\(|href=")#', rf"\1#{prefix}", body)


def _in_ipython():
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    return get_ipython() is not None
