"""Naming a mistake: which wrong answer of the bank has the learner's numbers?"""

from course_utils.compare import TOLERANCES, Mismatch, close
from grader import answers, bank
from grader.sandbox import calls


def diagnose(exercise, checks):
    """The sentence of the wrong answer that gives the learner's numbers, or None.

    A wrong answer is a candidate where the check that isolates its mistake failed and all calls of that check came out as its
    own. Among candidates the one that explains most failed checks counts, then the one that agrees in most calls. What trained
    weights do is no wrong answer's: there the first failed check speaks for itself.
    """
    if exercise.hands_in:
        return next(check.message for check in checks if not check.passed)
    failed = [check for check in checks if not check.passed and check.calls]
    best, best_rank = None, (0, 0)
    for wrong in bank.of_exercise("wrong", exercise):
        if not any(check.name == wrong.caught_by for check in failed):
            continue
        namespace = answers.known_namespace(exercise, wrong.source())
        explained = [check for check in failed if all(_agrees(namespace, call, check.noise) for call in check.calls)]
        if not any(check.name == wrong.caught_by for check in explained):
            continue
        passed_too = sum(_agrees(namespace, call, check.noise) for check in checks if check.passed for call in check.calls)
        rank = len(explained), passed_too
        if rank > best_rank:
            best, best_rank = wrong, rank
    return best.says if best else None


def _agrees(namespace, call, noise):
    """Whether the wrong answer, asked the same, answers the same."""
    theirs, mine = calls.perform(namespace, {**call.request, "watch": False}), call.response
    if "raised" in theirs or "raised" in mine:
        return theirs.get("raised", [None])[0] == mine.get("raised", [None])[0]
    if theirs["changed"] != mine["changed"] or theirs["unsteady"] != mine["unsteady"]:
        return False
    return _same(mine["value"], theirs["value"], noise) and _same(mine["gradients"], theirs["gradients"], noise)


def _same(mine, theirs, noise):
    slack = max(noise, _slack(theirs))
    try:
        close(mine, theirs, atol=slack, rtol=slack)
    except Mismatch:
        return False
    return True


def _slack(value):
    """Ten times the tolerance of the coarsest dtype in the value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return max(map(_slack, value), default=0.0)
    return 10 * TOLERANCES.get(getattr(value, "dtype", None), 1e-9)
