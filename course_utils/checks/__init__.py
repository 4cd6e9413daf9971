"""Public checks: what a learner can try in the notebook before handing in.

One module per notebook, one function per exercise. `run` calls such a function and collects what its cases found.
"""

import dis
import importlib
from contextlib import contextmanager
from dataclasses import dataclass

from course_utils.compare import Mismatch
from course_utils.files import explain


@dataclass
class Outcome:
    """What one case found. `got` and `expected` are tensors where there is a picture to draw, else None."""

    title: str
    passed: bool
    message: str = ""
    got: object = None
    expected: object = None


class NotAttempted(Exception):
    """The stub was never filled in."""


def run(module_name, name, answer):
    """Run the public checks of one exercise on `answer`.

    Returns a list of Outcome, in order. Raises NotAttempted where the answer is the untouched stub.
    """
    module = importlib.import_module(f"course_utils.checks.{module_name}")
    outcomes = []
    getattr(module, name)(answer, _case_into(outcomes))
    return outcomes


def hints(module_name, name):
    """The hints of one exercise, from the gentlest to nearly the answer."""
    return importlib.import_module(f"course_utils.checks.{module_name}").HINTS[name]


def raised_by(error):
    """The qualified name of the function whose `raise` statement an exception came from, "" where it was PyTorch's.

    So a stub's NotImplementedError is told from the one for, say, a missing kernel or a missing forward().
    """
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or step.tb_frame.f_globals.get("__name__", "").startswith("torch."):
        return ""
    code = step.tb_frame.f_code
    return code.co_qualname if dis.opname[code.co_code[step.tb_lasti]] == "RAISE_VARARGS" else ""


def _case_into(outcomes):
    @contextmanager
    def case(title):
        outcome = Outcome(title, passed=False)
        try:
            yield
        except Mismatch as error:
            outcome.message, outcome.got, outcome.expected = str(error), error.got, error.expected
        except Exception as error:
            if isinstance(error, NotImplementedError) and raised_by(error):
                raise NotAttempted from error
            outcome.message = f"your code raised {explain(error)}"
        else:
            outcome.passed = True
        outcomes.append(outcome)

    return case
