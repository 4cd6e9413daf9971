"""The two that a hidden check questions: `student`, whose answers come through a pipe, and `reference`, which is right.

Both take the same calls: `subject.NAME(*args, **kwargs)`, `subject.gradients("NAME", …, wrt=…)`, `subject.by_hand("NAME", …,
forbidden=…)`, and `subject.make("CLASS", …)`, whose result is called in the same ways.
"""

import ast
from dataclasses import dataclass
from functools import cached_property, partial

import torch

from course_utils.compare import Mismatch
from grader import memory
from grader.sandbox import calls
from grader.sandbox.wire import Made


class Forbidden(Mismatch):
    """The answer calls what the exercise asks to write by hand."""


class AnswerRaised(Exception):
    """The answer raised. `type_names` are the names of the exception's types, the nearest first."""

    def __init__(self, type_names, message):
        super().__init__(message)
        self.type_names = [str(name) for name in type_names] or ["Exception"]


@dataclass(frozen=True)
class Call:
    """One call that a check made, and what came back."""

    request: dict
    response: dict

    @cached_property
    def digest(self):
        """Of the request."""
        return memory.digest_of(self.request)


class Subject:
    """Questions go to `ask(request)`, which answers as calls.perform does."""

    def __init__(self, ask, seed, repeat=True, sources=()):
        self._ask_, self._seed, self._repeat, self._sources = ask, seed, repeat, sources
        self.calls = []

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return partial(self._value, name)

    def gradients(self, name, *args, wrt, **kwargs):
        """Gradients, with respect to the arguments `wrt`, of a fixed mixture of all outputs. Fails where there is no graph."""
        return _gradients_in(self._ask(name, args, kwargs, wrt=list(wrt)))

    def by_hand(self, name, *args, forbidden, **kwargs):
        """Call, and fail where one of the forbidden operators ran or its name stands in the code of the answer."""
        return self._done_by_hand(self._ask(name, args, kwargs, watch=True), forbidden)

    def make(self, maker, *args, weights=None, dtype=torch.float64, training=False, then=(), **kwargs):
        """An object that is made anew for each call on it. maker: a class of the answer, or "torch.nn.NAME"; see wire.Made."""
        return Instance(self, Made(maker, tuple(made_of(args)), kwargs, weights, dtype, training, made_of(tuple(then))))

    def _done_by_hand(self, response, forbidden):
        ran = {operator.removeprefix("aten::") for operator in response["operators"]}
        if not any(operator.startswith("aten::") for operator in response["operators"]):
            raise Mismatch("no operator of PyTorch was seen at work")
        names = names_in("\n".join(self._sources))
        for word in forbidden:
            if word in names or any(operator == word or operator.startswith(f"_{word}") for operator in ran):
                raise Forbidden(f"uses {word}, which this exercise asks you to do without: no points for this exercise")
        return response["value"]

    def _value(self, name, *args, **kwargs):
        return self._ask(name, args, kwargs)["value"]

    def _ask(self, name, args, kwargs, wrt=None, watch=False, on=None, method="forward"):
        # The first call of a check is made twice: an answer that keeps something from one call to the next gives itself away.
        # Each call has other global generators, so that an answer which ignores the generator it is given gives itself away.
        seed = self._seed + 2 * len(self.calls)
        request = {
            "name": name,
            "on": on,
            "method": method,
            "args": [made_of(each) for each in args],
            "kwargs": kwargs,
            "seed": seed,
            "wrt": wrt,
            "watch": watch,
            "repeat": self._repeat and not self.calls,
        }
        response = self._ask_(request)
        self.calls.append(Call(request, response))
        if "raised" in response:
            raise AnswerRaised(response["raised"], str(response.get("message", "")))
        if response["changed"]:
            raise Mismatch("the inputs were changed: work on a copy")
        if response["unsteady"]:
            raise Mismatch("a second call with the same inputs gave another answer")
        return response


class Instance:
    """A module (or another object) of the student or of the reference. Its parameters are those put in, whatever it draws."""

    def __init__(self, subject, made):
        self._subject, self.made = subject, made

    def __call__(self, *args, **kwargs):
        return self._ask(args, kwargs)["value"]

    def call(self, method, *args, **kwargs):
        """Call a method other than forward."""
        return self._ask(args, kwargs, method=method)["value"]

    def gradients(self, *args, wrt, **kwargs):
        """As Subject.gradients; `wrt` may also hold names of parameters."""
        return _gradients_in(self._ask(args, kwargs, wrt=list(wrt)))

    def by_hand(self, *args, forbidden, **kwargs):
        """As Subject.by_hand."""
        return self._subject._done_by_hand(self._ask(args, kwargs, watch=True), forbidden)

    def parameters(self):
        """A copy of the parameters, by name."""
        return self.call("parameters")

    def buffers(self):
        """A copy of the buffers, by name."""
        return self.call("buffers")

    def _ask(self, args, kwargs, **options):
        return self._subject._ask(self.made.maker, args, kwargs, on=self.made, **options)


def made_of(value):
    """The value with Made in place of each Instance, as it crosses the pipe."""
    if isinstance(value, Instance):
        return value.made
    if isinstance(value, (list, tuple)):
        return type(value)(made_of(each) for each in value)
    return value


def _gradients_in(response):
    if response["gradients"] is None:
        raise Mismatch("no gradient flows back from the output (was it detached, or made anew?)")
    return tuple(response["gradients"])


def reference(namespace, seed):
    """The right answers, called in this process, each call once for each seed."""

    def ask(request):
        reply = memory.ask(namespace, request)
        return reply | {"value": calls.fresh(namespace, reply["value"])} if "value" in reply else reply

    return Subject(ask, seed, repeat=False)


def names_in(source):
    """All names (but its own), attributes and imports in a piece of code; none where it can't be parsed. Texts don't count."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    names = {node.id for node in nodes if isinstance(node, ast.Name)} - own
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    imports = [alias for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    return names | {part for alias in imports for part in alias.name.split(".")}
