"""Fixtures of the hidden checks where plain pytest runs them: the reference answers for the student. The judge gives its own."""

import pytest

from grader import answers, bank, course
from grader.handed_in import Trained
from grader.judge import Case, subjects_for
from grader.worker import Worker


@pytest.fixture
def _subjects(request):
    exercise = course.exercise(request.node.originalname.removeprefix("test_").split("__", 1)[0])
    worker = request.getfixturevalue("_worker")
    attempt = worker.fork(exercise.name, answers.sources(exercise, exercise.source))
    trained = Trained(exercise.name, attempt.call, bank.weights_of(exercise.name))
    case = Case(exercise, seed=0, ask=attempt.call, sources=(exercise.source,), trained=trained)
    yield *subjects_for(request.node, case), trained
    attempt.close()


@pytest.fixture(scope="session")
def _worker():
    with Worker() as worker:
        yield worker


@pytest.fixture
def student(_subjects):
    """The answer that is graded. It runs in another process."""
    return _subjects[0]


@pytest.fixture
def reference(_subjects):
    """The right answer."""
    return _subjects[1]


@pytest.fixture
def draw(_subjects):
    """Random inputs with the seed of the run."""
    return _subjects[2]


@pytest.fixture
def trained(_subjects):
    """The trained weights of the answer."""
    return _subjects[3]
