"""The judge: hidden checks are collected once by pytest, then run for one answer after another.

pytest runs in a thread of its own. Its run loop takes cases from a queue and sends every check of the case through pytest's own
protocol, so that fixtures, marks and parameters mean what they always mean.
"""

import queue
import threading
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from course_utils.compare import Mismatch
from grader import answers, course, subjects
from grader.draw import Draw
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
    noise: float = 0.0
    calls: list = field(default_factory=list, repr=False)
    reference_calls: list = field(default_factory=list, repr=False)


@dataclass
class Case:
    """One answer to one exercise, before the judge. `ask` makes a call in the learner's process."""

    exercise: course.Exercise
    seed: int
    ask: object
    sources: tuple = ()


class Court:
    """A running pytest session that holds the hidden checks. Use as a context manager, or call close()."""

    def __init__(self):
        self._cases, self._verdicts = queue.Queue(), queue.Queue()
        self.items = {}
        self.case = None
        self._check = None
        self._thread = threading.Thread(target=self._session, name="hidden checks", daemon=True)
        self._thread.start()
        self._answer()

    def hear(self, case):
        """Run all hidden checks of the case's exercise. Returns a list of Check. Raises GraderFault."""
        self.names(case.exercise.name)
        self._cases.put(case)
        return self._answer()

    def names(self, exercise):
        """The names of the hidden checks of one exercise, in order. Raises GraderFault where there is none."""
        if not self.items.get(exercise):
            raise GraderFault(f"no hidden check of {exercise} was found")
        return [check_name(item) for item in self.items[exercise]]

    def close(self):
        self._cases.put(None)
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _answer(self):
        verdict = self._verdicts.get()
        if isinstance(verdict, BaseException):
            raise GraderFault(f"hidden checks: {verdict}") from verdict
        return verdict

    def _session(self):
        switched_off = (
            "terminal",
            "cacheprovider",
            "faulthandler",
            "unraisableexception",
            "threadexception",
            "logging",
            "capture",
        )
        options = [option for name in switched_off for option in ("-p", f"no:{name}")]
        try:
            code = pytest.main(
                [str(course.HIDDEN), "--assert=plain", "-o", "addopts=", *options, f"--rootdir={course.ROOT}"],
                plugins=[self],
            )
            self._verdicts.put(GraderFault(f"pytest ended with code {code}"))
        except BaseException as error:
            self._verdicts.put(error)

    def pytest_runtestloop(self, session):
        """Instead of running everything once: run the checks of each case that comes."""
        self.items = items_by_exercise(session.items)
        self._verdicts.put(None)
        while (case := self._cases.get()) is not None:
            try:
                self._verdicts.put([self._try(item, case) for item in self.items[case.exercise.name]])
            except Exception as error:
                self._verdicts.put(error)
        return True

    def _try(self, item, case):
        self.case = case
        self._check = Check(check_name(item), passed=False, noise=noise_of(item))
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return self._check

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        """Note the verdict of a phase; a traceback, which would show the check, is never made."""
        error = call.excinfo.value if call.excinfo else None
        if call.when == "call":
            self._check.passed = error is None
        if error is not None:
            self._check.passed = False
            self._check.fault, self._check.message = explain(error)
        outcome = "failed" if error else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, call.when)

    def subjects_of(self, item):
        """The student and the reference for this check, with a draw of their own."""
        student, reference, draw = subjects_for(item, self.case)
        self._check.calls, self._check.reference_calls = student.calls, reference.calls
        return student, reference, draw


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
    reference = subjects.reference(answers.reference_namespace(case.exercise.notebook), seed + 1, repeat)
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
