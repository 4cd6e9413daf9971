"""Naming a mistake: which wrong answer of the bank has the learner's numbers?"""

from course_utils.compare import TOLERANCES, Mismatch, close
from grader import answers, bank, memory


def diagnose(exercise, checks):
    """The sentence of the wrong answer that gives the learner's numbers, or None.

    A wrong answer is a candidate where the check that isolates its mistake failed and all calls of that check came out as its
    own. Among candidates the one that explains most failed checks counts, then the one that agrees in most calls. What trained
    weights do is no wrong answer's: there the first failed check speaks for itself.
    """
    if exercise.hands_in:
        return next(check.message for check in checks if not check.passed)
    held = [check for check in checks if check.passed or check.void]
    failed = {check.name: check for check in checks if not (check.passed or check.void) and check.calls}
    best, best_rank = None, (0, 0)
    for wrong in bank.of_exercise("wrong", exercise):
        namespace = answers.known_namespace(exercise, wrong.source) if wrong.caught_by in failed else None
        if namespace is None or not _explains(namespace, failed[wrong.caught_by]):
            continue
        explained = sum(_explains(namespace, check) for check in failed.values())
        held_too = sum(_agrees(namespace, call, check.noise) for check in held for call in check.calls)
        rank = explained, held_too
        if rank > best_rank:
            best, best_rank = wrong, rank
    return best.says if best else None


def _explains(namespace, check):
    return all(_agrees(namespace, call, check.noise) for call in check.calls)


def _agrees(namespace, call, noise):
    """Whether the wrong answer, asked the same, answers the same."""
    # Without the watch, which takes time and changes no answer: the digest of the request serves as well.
    theirs, mine = memory.ask(namespace, {**call.request, "watch": False}, call.digest), call.response
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
