"""Comparing an answer with what is expected, one property at a time.

Used by the public checks in a notebook and by the hidden checks of the grader. The messages name the kind of fault and
sizes, never the numbers themselves, so that a hidden check gives nothing away.
"""

import math
import re

import torch

# Absolute and relative. float64 leaves room for another order of summation, nothing else.
TOLERANCES = {torch.float64: 1e-9, torch.float32: 2e-5, torch.float16: 2e-2, torch.bfloat16: 2e-2}


class Mismatch(AssertionError):
    """An answer that is not what was expected. `got` and `expected` are tensors where there is a picture to draw."""

    def __init__(self, message, got=None, expected=None):
        super().__init__(message)
        self.got, self.expected = got, expected


class Odd:
    """Stands for a value that is no number, text or tensor, nor a list of these: only its description is kept."""

    def __init__(self, description):
        self.description = description


def describe(value):
    """A few words for a value: its type, and its shape where it has one."""
    if isinstance(value, Odd):
        return value.description
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if value is None:
        return "None (is a return missing?)"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def close(got, expected, *, atol=None, rtol=None, what="the result"):
    """Fail unless `got` is `expected`: same type, shape and dtype, finite in the same places, close in value.

    expected: tensor, number, bool, str, None, or a list or tuple of these. Unless given, tolerances are those of the
    dtype. Raises Mismatch.
    """
    if isinstance(expected, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(expected):
            raise Mismatch(f"{what}: expected {len(expected)} values, got {describe(got)}")
        for place, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            close(mine, theirs, atol=atol, rtol=rtol, what=f"{what}, value {place + 1} of {len(expected)}")
    elif isinstance(expected, dict):
        if not isinstance(got, dict) or got.keys() != expected.keys():
            found = ", ".join(map(str, got)) if isinstance(got, dict) else describe(got)
            raise Mismatch(f"{what}: expected the names {', '.join(expected)}, got {found}")
        for name in expected:
            close(got[name], expected[name], atol=atol, rtol=rtol, what=f"{what}, {name}")
    elif isinstance(expected, torch.Tensor):
        _tensors_close(got, expected, atol, rtol, what)
    elif isinstance(expected, float):
        _floats_close(got, expected, atol, rtol, what)
    elif type(got) is not type(expected):
        raise Mismatch(f"{what}: expected {describe(expected)}, got {describe(got)}")
    elif got != expected:
        raise Mismatch(f"{what} is another {type(expected).__name__} than expected")


def raises(error, function, *args, mentions=(), **kwargs):
    """Fail unless the call raises `error`, with every text of `mentions` in its message. Raises Mismatch."""
    try:
        function(*args, **kwargs)
    except Mismatch:
        raise
    except NotImplementedError:
        if error is not NotImplementedError:
            raise
        return
    except Exception as raised:
        names = getattr(raised, "type_names", [kind.__name__ for kind in type(raised).__mro__])
        if error.__name__ not in names:
            raise Mismatch(f"expected a {error.__name__}, got a {names[0]}") from raised
        missing = [text for text in mentions if not _says(str(raised), text)]
        if missing:
            raise Mismatch(f"the {error.__name__} should say more: its message lacks {', '.join(missing)}") from raised
        return
    raise Mismatch(f"expected a {error.__name__}, but nothing was raised")


def _says(message, text):
    """Whether the text stands in the message by itself: 3 does not stand in 13, but in 3.0; 2.5 stands in 2.50."""
    zeros = "0*" if "." in text else r"(?:\.0+)?"
    return re.search(rf"(?<!\w)(?<!\d\.){re.escape(text)}{zeros}(?!\w|\.\d)", message) is not None


def _floats_close(got, expected, atol, rtol, what):
    if type(got) is not float:
        hint = " (`.item()` makes a Python float)" if isinstance(got, torch.Tensor) else ""
        raise Mismatch(f"{what}: expected a float, got {describe(got)}{hint}")
    if math.isnan(got) and math.isnan(expected):
        return
    if math.isfinite(expected) and not math.isfinite(got):
        raise Mismatch(f"{what} is not finite")
    atol = TOLERANCES[torch.float64] if atol is None else atol
    rtol = TOLERANCES[torch.float64] if rtol is None else rtol
    if got != expected and not abs(got - expected) <= atol + rtol * abs(expected):
        raise Mismatch(f"{what} is off by {abs(got - expected):.2g} (allowed {atol + rtol * abs(expected):.1g})")


def _tensors_close(got, expected, atol, rtol, what):
    if not isinstance(got, torch.Tensor):
        raise Mismatch(f"{what}: expected a tensor, got {describe(got)}")
    if got.shape != expected.shape:
        raise Mismatch(f"{what} has the wrong shape: expected {tuple(expected.shape)}, got {tuple(got.shape)}")
    if got.dtype != expected.dtype:
        raise Mismatch(f"{what} has the wrong dtype: expected {expected.dtype}, got {got.dtype}")
    got, expected = got.detach().cpu(), expected.detach().cpu()
    if not expected.is_floating_point():
        wrong = int((got != expected).sum())
        if wrong:
            raise Mismatch(f"{what} differs in {wrong} of {expected.numel()} places", got, expected)
        return
    tolerance = TOLERANCES[expected.dtype]
    bound = (tolerance if atol is None else atol) + (tolerance if rtol is None else rtol) * expected.abs()
    if bool((((got - expected).abs() <= bound) & (bound < torch.inf)).all()):
        return  # the common case, in few operations; false wherever a NaN or an infinity stands
    _finite_where_expected(got, expected, what)
    finite = torch.isfinite(expected)
    difference = torch.where(finite, (got - expected).abs(), 0.0)
    wrong = int((difference > torch.where(finite, bound, 1.0)).sum())
    if wrong:
        raise Mismatch(
            f"{what} is off in {wrong} of {expected.numel()} places, by {difference.max().item():.2g} at most",
            got,
            expected,
        )


def _finite_where_expected(got, expected, what):
    """NaN and infinities must stand where they are expected, and nowhere else."""
    kinds = {
        "NaN": got.isnan() & ~expected.isnan(),
        "infinite": got.isinf() & ~expected.isinf(),
        "infinite with the wrong sign": got.isinf() & expected.isinf() & (got != expected),
        "finite where it should not be": torch.isfinite(got) & ~torch.isfinite(expected),
    }
    bad = [f"{kind} in {int(places.sum())}" for kind, places in kinds.items() if places.any()]
    if bad:
        raise Mismatch(f"{what} is {' and '.join(bad)} of {expected.numel()} places", got, expected)
