"""The hidden checks inside a kernel, as a stock nbgrader course runs them; and the floor: one warmed process, trusted answers."""

import inspect
from functools import cache, partial

from benchmarks.fixture import FIXTURE
from grader import judge
from grader.sandbox import calls

SEED = 1


@cache
def court():
    """The collected hidden checks."""
    return judge.Court()


def score(name, namespace):
    """Run the hidden checks of one exercise on an answer in this very process. Returns its points."""
    exercise = FIXTURE.exercise(name)
    sources = (inspect.getsource(namespace[name]),) if "__file__" in namespace else ()
    checks = court().hear(judge.Case(exercise, SEED, partial(calls.perform, namespace), sources))
    return exercise.points * sum(check.passed for check in checks) / len(checks)
