"""What a notebook calls: check an answer, ask for a hint, see the progress, hold cells until answers are there."""

import random
import textwrap
from collections import Counter
from contextlib import contextmanager

import numpy as np
import torch

from course_utils import checks, journal, manifest, portfolio
from course_utils.files import explain
from course_utils.results import Feedback, Progress

_hints_shown = Counter()
_passed_here = set()


def check(answer):
    """Run the public checks of an exercise on `answer`, the function or class that the learner defined under its name.

    A passing answer is collected into my_transformer.py. Returns a Feedback; whatever the answer raises is part of it.
    Raises ValueError where `answer` is no exercise.
    """
    exercise = manifest.load().find(_name_of(answer, "check"))
    feedback = Feedback(exercise.name, hidden_checks=exercise.hidden_checks)
    with _standard_state():
        try:
            feedback.outcomes = checks.run(exercise.checks, exercise.name, answer)
        except (checks.NotAttempted, NotImplementedError) as error:
            feedback.waits_for = _other_stub(error, exercise.name)
        except (Exception, SystemExit) as error:
            feedback.outcomes = [checks.Outcome("all checks", False, f"your code raised {explain(error)}")]
        if feedback.passed:
            feedback.notes.append(portfolio.collect(answer))
    (_passed_here.add if feedback.passed else _passed_here.discard)(exercise.name)
    if feedback.outcomes:
        feedback.notes.append(journal.record(exercise.name, feedback.passed))
    feedback.notes = [note for note in feedback.notes if note]
    return feedback


def hint(answer, step=None):
    """Print the next hint for an exercise, or hint number `step`. `answer` is the function or its name.

    Raises ValueError where there is no such exercise or hint.
    """
    name = answer if isinstance(answer, str) else _name_of(answer, "hint")
    exercise = manifest.load().find(name)
    hints = checks.hints(exercise.checks, name)
    if step is None:
        _hints_shown[name] = step = min(_hints_shown[name] + 1, len(hints))
    elif step not in range(1, len(hints) + 1):
        raise ValueError(f"{name} has hints 1 to {len(hints)}, got {step!r}")
    print(f"{name}, hint {step} of {len(hints)}:")
    for line in hints[step - 1].splitlines():
        print(textwrap.fill(line, 100, initial_indent="  ", subsequent_indent="  "))


def progress():
    """All exercises of the course with their points and what is known of the learner's answers. Returns a Progress."""
    entries, note = journal.read()
    return Progress(manifest.load(), entries, [note] if note else [])


@contextmanager
def needs(*answers):
    """Hold a cell that calls these answers (functions or names): if one is missing or broken, print a line and go on.

    An exception leaves the block only when all these answers passed their public checks, for then it is not theirs.
    """
    names = [answer if isinstance(answer, str) else getattr(answer, "__name__", repr(answer)) for answer in answers]
    try:
        yield
    except Exception as error:
        passed = _passed_here | {name for name, entry in journal.read()[0].items() if entry["newest"] == journal.PASSED}
        suspects = [name for name in names if name not in passed]
        stub = checks.raised_by(error).split(".") if isinstance(error, NotImplementedError) else []
        suspects = [name for name in names if name in stub] or suspects
        if not suspects:
            raise
        if isinstance(error, NotImplementedError):
            stubs = "its stub" if len(suspects) == 1 else "their stubs"
            print(f"This cell waits for {' and '.join(suspects)}: fill in {stubs} first.")
        else:
            calls = " or ".join(f"check({name})" for name in suspects)
            print(f"This cell stopped: {explain(error).rstrip('.')}. {calls} tells more.")


def _name_of(answer, caller):
    if isinstance(answer, str):
        raise ValueError(f"{caller} expects the function or class itself, without quotes: {caller}({answer})")
    name = getattr(answer, "__name__", None)
    if not callable(answer) or not isinstance(name, str):
        raise ValueError(f"{caller} expects the function or class that you defined, got a {type(answer).__name__}")
    if name == "<lambda>":
        raise ValueError(f"{caller} expects a function with a name: define it with def, not with lambda")
    return name


def _other_stub(error, name):
    """The unfinished function that an answer called, or "" where it is the answer itself that is unfinished."""
    stub = checks.raised_by(error.__cause__ or error).split(".")
    return "" if name in stub else stub[0]


@contextmanager
def _standard_state():
    """Run checks in the same state everywhere (gradients on, float32, a fixed seed), and put back what was there."""
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    dtype, gradients = torch.get_default_dtype(), torch.is_grad_enabled()
    # torch.manual_seed would also leave a seed for a GPU that is not in use yet.
    torch.default_generator.manual_seed(0)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    try:
        yield
    finally:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        if cuda is not None:
            torch.cuda.set_rng_state_all(cuda)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(gradients)
