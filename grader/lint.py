"""The shape lint: in every graded call, different letters of the docstring's shape line have different sizes.

Square inputs are why a checker lets √d_v pass for √d_k, or a softmax over the wrong dimension. Sizes 0 and 1 are edge cases and may
repeat; so may the dimensions behind "...".
"""

import inspect
import re
from itertools import combinations

import torch


def equal_sizes(shapes, function, request):
    """Pairs of letters that got one size in this call, as texts. shapes: the shape line; request: as in calls.perform."""
    if not shapes:
        return []
    sizes = {}
    arguments = _arguments(function.forward if isinstance(function, type) else function, request)
    for name, letters in re.findall(r"(\w+) \(([^)]*)\)", shapes.split("->")[0]):
        value = arguments.get(name)
        if isinstance(value, torch.Tensor):
            _bind(letters, value.shape, sizes)
    return [f"{a} = {b} = {sizes[a]}" for a, b in combinations(sorted(sizes), 2) if sizes[a] == sizes[b] > 1]


def _arguments(function, request):
    try:
        owner = [] if request.get("on") is None else [None]
        return inspect.signature(function).bind(*owner, *request["args"], **request["kwargs"]).arguments
    except (TypeError, ValueError):
        return {}


def _bind(letters, shape, sizes):
    """Note the size of each letter of one argument; leading dimensions behind "..." get names of their own."""
    words = [word.strip() for word in letters.split(",") if word.strip()]
    named = [word for word in words if word not in ("...", "…")]
    leading = len(shape) - len(named)
    if leading < 0 or (leading and len(named) == len(words)):
        return
    for place, size in enumerate(shape):
        name = f"leading {place + 1}" if place < leading else named[place - leading]
        if name.isidentifier() or name.startswith("leading"):
            sizes.setdefault(name, size)
