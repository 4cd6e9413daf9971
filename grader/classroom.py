"""Grading a class: every hand-in once, whatever happens in between."""

import secrets
from collections import Counter, defaultdict

from grader import desk, engines, report, submission


def choose_seed(out, wanted=None):
    """The seed of a run: the wanted one, else that of an earlier run into the same folder, else a fresh one. Stored."""
    stored = out / ".graded" / "seed"
    if wanted is None and stored.exists():
        return int(stored.read_text())
    seed = secrets.randbelow(2**31) if wanted is None else wanted
    report.write_whole(stored, f"{seed}\n")
    return seed


def grade_all(run, handins, on_progress=lambda submission: None):
    """Grade all hand-ins. Returns a list of report.Submission, in the order of students and notebooks."""
    done, todo = [], []
    for group in _by_notebook(handins):
        kept = None if run.regrade else desk.load(run, group)
        if kept:
            done.append(kept)
            on_progress(kept)
        else:
            todo.append(group)
    for graded in engines.choose(run)(run, todo):
        done.append(graded)
        on_progress(graded)
    return sorted(done, key=lambda each: (each.student, each.notebook or "", each.file))


def _by_notebook(handins):
    """Hand-ins of one student that claim to be the same notebook belong together: neither can be preferred."""
    groups = defaultdict(list)
    files = Counter(handin.student for handin in handins)
    for handin in handins:
        claim = _claimed_notebook(handin.path) if files[handin.student] > 1 else None
        groups[handin.student, claim or str(handin.path)].append(handin)
    return [tuple(group) for group in groups.values()]


def _claimed_notebook(path):
    try:
        return submission.read(submission.load(path), path.stem).notebook.stem
    except (submission.Refused, OSError):
        return None
