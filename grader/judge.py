"""The judge: hidden checks are collected once by pytest, then asked of one answer after another.

A hidden check is a plain pytest test with the fixtures `student`, `reference` and `draw`, and whatever parameters it has. Here it
is called with these directly: pytest's own machinery around a test takes longer than most checks.
"""

from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from course_utils.compare import Mismatch
from grader import answers, course, subjects
from grader.draw import Draw
from grader.handed_in import Trained
from grader.worker import Ended


class GraderFault(Exception):
    """The grader itself is at fault. Never a mark."""


@dataclass
class Check:
    """The verdict of one hidden check. `calls` are the questions it asked the learner's answer."""

    name: str
    passed: bool
    message: str = ""
    fault: bool = False
    forbidden: bool = False  # what is to be written by hand was called
    void: bool = False  # it held, but counts for nothing, since another check found what is forbidden
    noise: float = 0.0
    calls: list = field(default_factory=list, repr=False)
    reference_calls: list = field(default_factory=list, repr=False)


@dataclass(frozen=True)
class Case:
    """One answer to one exercise, before the judge. `ask` makes a call in the learner's process."""

    exercise: course.Exercise
    seed: int
    ask: object
    sources: tuple = ()
    trained: Trained | None = None


class Court:
    """The hidden checks of the whole course, by exercise."""

    def __init__(self):
        self.items = {}
        options = ["--collect-only", "--assert=plain", "-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider"]
        code = pytest.main([str(course.HIDDEN), *options, f"--rootdir={course.ROOT}"], plugins=[self])
        if code != pytest.ExitCode.OK:
            raise GraderFault(f"the hidden checks can't be collected: pytest ended with {code!r}")

    def pytest_collection_finish(self, session):
        """Keep what pytest has found."""
        self.items = items_by_exercise(session.items)

    def names(self, exercise):
        """The names of the hidden checks of one exercise, in order. Raises GraderFault where there is none."""
        if not self.items.get(exercise):
            raise GraderFault(f"no hidden check of {exercise} was found")
        return [check_name(item) for item in self.items[exercise]]

    def hear(self, case):
        """Run all hidden checks of the case's exercise. Returns a list of Check. Raises GraderFault.

        An answer that calls what it should do by hand has done nothing: then no check is passed.
        """
        self.names(case.exercise.name)
        checks = [run(item, case) for item in self.items[case.exercise.name]]
        if verdict := next((check for check in checks if check.forbidden), None):
            for check in checks:
                check.void, check.passed = check.passed, False
                check.message = check.message or verdict.message
        return checks


def run(item, case):
    """Run one hidden check. Whatever comes out of it becomes a verdict; a traceback, which would show the check, is never made."""
    check = Check(check_name(item), passed=False, noise=noise_of(item))
    try:
        student, reference, draw = subjects_for(item, case)
        check.calls, check.reference_calls = student.calls, reference.calls
        _call(item, student=student, reference=reference, draw=draw, trained=case.trained)
        check.passed = True
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        check.fault, check.message = explain(error)
        check.forbidden = isinstance(error, subjects.Forbidden)
        if check.fault and _holds_for_the_reference(item, case):
            check.fault, check.message = False, "the result is of a kind that can't be compared"
    return check


def _holds_for_the_reference(item, case):
    """Whether a check that broke down works on the right answer. Then what broke it was the value that the answer gave."""
    try:
        student, reference, draw = subjects_for(item, case)
        right = subjects.reference(answers.reference_for(case.exercise), 0)
        _call(item, student=right, reference=reference, draw=draw, trained=case.trained)
    except Exception:
        return False
    return True


def _call(item, **fixtures):
    values = fixtures | getattr(getattr(item, "callspec", None), "params", {})
    item.obj(**{name: values[name] for name in item.fixturenames if name in values})


def items_by_exercise(items):
    """Group pytest's items by the exercise in their name, test_EXERCISE__what_must_hold."""
    grouped = defaultdict(list)
    for item in items:
        grouped[item.originalname.removeprefix("test_").split("__", 1)[0]].append(item)
    return dict(grouped)


def check_name(item):
    """What the check demands: the part of its name behind the double underscore."""
    return item.name.split("__", 1)[1]


def noise_of(item):
    """How far two right answers may lie apart in the calls of this check."""
    marker = item.get_closest_marker("noise")
    return marker.args[0] if marker else 0.0


def subjects_for(item, case):
    """The student and the reference of one check, and its draw."""
    name = case.exercise.name
    draw = Draw(case.seed, name, check_name(item))
    seed = draw.number(0, 2**31)
    repeat = item.get_closest_marker("random") is None
    student = subjects.Subject(case.ask, seed, repeat, case.sources)
    reference = subjects.reference(answers.reference_for(case.exercise), seed + 1)
    return student, reference, draw


def explain(error):
    """Whether an exception out of a check is the grader's fault, and what the learner reads."""
    if isinstance(error, (Mismatch, Ended)):
        return False, str(error)
    if isinstance(error, subjects.AnswerRaised):
        if error.type_names[0] == "NotImplementedError":
            return False, "not implemented"
        if "allocate memory" in str(error) or error.type_names[0] == "MemoryError":
            return False, "memory limit: the answer asked for more than it may have"
        return False, f"your code raised {error.type_names[0]}: {error}"
    return True, f"{type(error).__name__}: {error}"
