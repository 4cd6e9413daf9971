"""How one call is made: the same way on the learner's answer in the worker and on the reference in the judge.

A request is a dict: `name` of a function in the namespace, or `on`, a Made whose `method` is called; `args`, `kwargs`; `seed` for
the global generators; `wrt` (positions, keywords, or names of parameters whose gradients are wanted, or None); `watch` (list the
operators used); `repeat` (call twice).
"""

import json
import random
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch.overrides import TorchFunctionMode
from torch.profiler import ExecutionTraceObserver

from grader.sandbox.wire import Made, Seed

MESSAGE_LIMIT = 300


def perform(namespace, request):
    """Make one call.

    Returns {"value", "gradients", "changed", "unsteady", "operators"}, or {"raised": names of its types, "message"} where the
    call raised.
    """
    try:
        return _call(namespace, request)
    except BaseException as error:  # sys.exit() and its like are answers too, wrong ones
        return {"raised": [kind.__name__[:80] for kind in type(error).__mro__], "message": message_of(error)}


def message_of(error):
    """The text of an exception, cut to a few hundred characters; an exception that can't be printed has none."""
    try:
        return str(error)[:MESSAGE_LIMIT]
    except BaseException:
        return ""


def _call(namespace, request):
    function, owner, args, kwargs = _prepared(namespace, request)
    watched = _gradient_targets(owner, args, kwargs, request["wrt"])
    operators = []
    value = _watched(lambda: function(*args, **kwargs), operators) if request["watch"] else function(*args, **kwargs)
    gradients = _gradients(value, watched) if watched else None
    unsteady = False
    if request["repeat"]:
        again, _, again_args, again_kwargs = _prepared(namespace, request)
        unsteady = not identical(value, again(*again_args, **again_kwargs))
    return {
        "value": value,
        "gradients": gradients,
        "changed": not identical((args, kwargs), (request["args"], request["kwargs"])),
        "unsteady": unsteady,
        "operators": operators,
    }


def _prepared(namespace, request):
    """What is called, the module that owns it or None, and fresh arguments; all global generators are set, before a module is made
    and again before it is called, so that what was drawn earlier does not matter."""
    _set_generators(request["seed"])
    args, kwargs = fresh(namespace, request["args"]), fresh(namespace, request["kwargs"])
    function, owner = _function(namespace, request)
    _set_generators(request["seed"])
    return function, owner, args, kwargs


def _set_generators(seed):
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also queues a seed, with a stack, for every absent GPU
    np.random.seed(seed % 2**32)
    random.seed(seed)


def _function(namespace, request):
    """What is called, and the module that owns it (None for a function)."""
    if request.get("on") is None:
        return namespace[request["name"]], None
    owner = make(namespace, request["on"])
    method = request["method"]
    by_name = {
        "parameters": lambda: _tensors(owner.named_parameters()),
        "buffers": lambda: _tensors(owner.named_buffers()),
        "state_dict": lambda: _tensors(owner.state_dict().items()),
    }
    return by_name.get(method, owner if method == "forward" else getattr(owner, method, None)), owner


def make(namespace, made):
    """The object that a Made describes."""
    maker = getattr(torch.nn, made.maker.removeprefix("torch.nn.")) if made.maker.startswith("torch.nn.") else namespace[made.maker]
    thing = maker(*fresh(namespace, made.args), **fresh(namespace, made.kwargs))
    if isinstance(thing, torch.nn.Module):
        thing.to(made.dtype).train(made.training)
        _put_in(thing, made.weights)
    for name, *arguments in made.then:
        result = namespace[name](thing, *fresh(namespace, arguments))
        if isinstance(result, torch.nn.Module):
            thing = result.to(made.dtype).train(made.training)
    return thing


def _put_in(module, weights):
    if weights is None:
        return
    parameters = dict(module.named_parameters())
    if parameters.keys() != weights.keys():
        raise TypeError(
            f"the parameters should be {', '.join(sorted(weights))}; they are {', '.join(sorted(parameters)) or 'none'}"
        )
    with torch.no_grad():
        for name, weight in weights.items():
            if parameters[name].shape != weight.shape:
                raise TypeError(f"{name} should have the shape {tuple(weight.shape)}, not {tuple(parameters[name].shape)}")
            parameters[name].copy_(weight)


def _tensors(named):
    return {name: tensor.detach().clone() for name, tensor in named}


class _Names(TorchFunctionMode):
    """Notes the names of torch's functions that are called, also of those made of operators, as multi-head attention is."""

    def __init__(self, names):
        super().__init__()
        self.names = names

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        self.names += [] if name in self.names else [name]
        return function(*args, **(kwargs or {}))


def _watched(call, operators):
    """Make the call and add the names of all operators that torch ran, also those inside library functions and scripted modules."""
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder, "trace.json")
        observer = ExecutionTraceObserver().register_callback(str(trace))
        observer.start()
        try:
            with _Names(operators):
                value = call()
        finally:
            observer.stop()
            observer.unregister_callback()
        operators.extend(sorted({node["name"] for node in json.loads(trace.read_text())["nodes"]}))
    return value


def fresh(namespace, value):
    """A private copy of arguments, with generators for seeds and objects for Made; tensors keep the order of their dimensions."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, Seed):
        return value.generator()
    if isinstance(value, Made):
        return make(namespace, value)
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(namespace, each) for each in value)
    if isinstance(value, dict):
        return {key: fresh(namespace, each) for key, each in value.items()}
    return value


def _gradient_targets(owner, args, kwargs, wrt):
    parameters = dict(owner.named_parameters()) if isinstance(owner, torch.nn.Module) else {}
    chosen = [args[key] if isinstance(key, int) else parameters[key] if key in parameters else kwargs[key] for key in wrt or ()]
    return [tensor.requires_grad_() for tensor in chosen]


def _gradients(value, watched):
    """Gradients of a fixed mixture of all floating outputs. None where no output has a graph."""
    outputs = [each for each in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(each, torch.Tensor)]
    outputs = [each for each in outputs if each.is_floating_point() and each.requires_grad]
    if not outputs:
        return None
    mixture = sum((each * _coefficients(each)).sum() for each in outputs)
    grads = torch.autograd.grad(mixture, watched, allow_unused=True)
    return [torch.zeros_like(tensor) if grad is None else grad for tensor, grad in zip(watched, grads, strict=True)]


def _coefficients(output):
    """A number for each entry of an output, from its place along each dimension: another shape gives another mixture."""
    angles = torch.ones((), dtype=torch.float64)
    for dim, size in enumerate(output.shape):
        step = torch.arange(size, dtype=torch.float64).reshape([-1] + [1] * (output.dim() - dim - 1))
        angles = angles + step * (dim + 2) ** 0.5
    return torch.cos(angles).to(output.dtype)


def identical(one, other):
    """Equal to the last bit, NaN equal to NaN. What the wire can't carry, and what a side made for itself, counts as equal."""
    if isinstance(one, (Made, Seed)) or isinstance(other, (Made, Seed)):
        return True
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        same_kind = one.shape == other.shape and one.dtype == other.dtype
        return same_kind and bool(((one == other) | ((one != one) & (other != other))).all())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(identical(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, (bool, int, float, str)) and isinstance(other, (bool, int, float, str)):
        return one == other or (one != one and other != other)
    return type(one).__name__ == type(other).__name__
