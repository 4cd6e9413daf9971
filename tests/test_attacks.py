"""No attack gains anything, hurts a neighbour or leaves a trace: the whole class of tests/attacks, graded by the command `grade`."""

import re
from collections import Counter
from contextlib import nullcontext

import pytest
from attacks import scene, suite

from grader import course, ladder

pytestmark = pytest.mark.slow

ATTACKS = suite.gather()
TEXT_LIMIT = 2500
# What level 1 does not claim to stop, see docs/grading.md. "reading" is there for its files and other processes.
NOT_AT_LEVEL_1 = {
    "any file can be read": ("solutions_on_disk", "solutions_above", "stand_ins_on_disk", "banks_imported", "banks_as_bytecode",
                             "version_control", "notebooks_of_others"),
    "any file can be written": ("start_files_for_later_runs", "results_rewritten", "friend_1_plants", "friend_2_harvests",
                                "shared_memory_left"),
    "other processes can be seen": ("tokens_of_other_processes", "memory_of_the_parent", "debugger_on_the_parent",
                                    "signal_to_the_parent", "parent_put_to_sleep"),
    "the network can be reached": ("answer_over_tcp", "answer_over_udp", "listening_for_help"),
}  # fmt: skip
BEYOND_LEVEL_1 = {name for names in NOT_AT_LEVEL_1.values() for name in names}


def levels():
    """The best level of this machine, and those below it that can give marks."""
    best = ladder.best()[0]
    return [None, *(level for level in (2, 1) if level < best)]


@pytest.fixture(scope="module", params=levels(), ids=lambda level: f"level {level or 'best'}")
def graded(request, tmp_path_factory):
    """One run over all attacks: the run, and what each attack and each good student got."""
    level, folder = request.param, tmp_path_factory.mktemp("attacks")
    attacks = [each for each in ATTACKS if level != 1 or each.name not in BEYOND_LEVEL_1]
    students, good = suite.hand_in(attacks, folder / "class")
    run = scene.grade(level, folder / "class", folder / "run")
    found = run.results["submissions"] if (run.out / "results.json").exists() else []
    outcomes = {
        attack: suite.outcome_of(attack, [each for each in found if each["student"] in names]) for attack, names in students.items()
    }
    manager = request.config.pluginmanager.getplugin("capturemanager")
    with manager.global_and_fixture_disabled() if manager else nullcontext():
        print(f"\n{table(run, outcomes)}")
    return run, outcomes, [each for each in found if each["student"] in good], good


def table(run, outcomes):
    """The outcomes by group, and each surprise in a line."""
    columns = (*suite.OUTCOMES, "surprises")
    lines = [f"level {run.level or 'best'}: {len(outcomes)} attacks in {run.seconds:.0f} s, exit code {run.code}"]
    lines.append(f"{'':<12}" + "".join(f"{column:>15}" for column in columns))
    for group in suite.GROUPS:
        here = {attack: outcome for attack, outcome in outcomes.items() if attack.group == group}
        counts = Counter(outcome.got for outcome in here.values())
        counts["surprises"] = sum(not outcome.fits(attack) for attack, outcome in here.items())
        lines.append(f"{group:<12}" + "".join(f"{counts[column] or '·':>15}" for column in columns))
    listed = surprises(outcomes) if any(outcome.texts for outcome in outcomes.values()) else ["  no results at all"]
    return "\n".join([*lines, *listed, *(f"  known: {each.title}: {each.known}" for each in outcomes if each.known)])


def surprises(outcomes):
    """A line for each attack that did not get what it should."""
    return [
        f"  {attack.title}: expected {attack.expect}{f' saying {attack.says!r}' if attack.says else ''}, got {outcome}"
        for attack, outcome in outcomes.items()
        if not outcome.fits(attack) and not attack.known
    ]


def test_there_are_enough_attacks():
    assert len(ATTACKS) >= 130 and {each.group for each in ATTACKS} == set(suite.GROUPS)


def test_every_attack_gets_what_it_deserves(graded):
    run, outcomes, found, _ = graded
    assert found, f"the whole class is lost: {run.printed[-2000:]}"
    assert not (wrong := surprises(outcomes)), "\n".join(wrong)


def test_good_submissions_between_them_keep_full_marks(graded):
    _, _, found, good = graded
    marks = {each["student"]: each["score"] for each in found}
    assert marks == dict.fromkeys(good, course.notebook("00_start_here").max_score)


def test_the_run_ends_as_it_should(graded):
    """With 1, since some files were refused; and without a traceback."""
    run, _, _, _ = graded
    assert (run.code, "Traceback" in run.printed) == (1, False), run.printed[-3000:]


def test_nothing_is_left_behind(graded):
    run, _, _, _ = graded
    assert run.left == []


def test_what_is_printed_and_written_is_plain_and_short(graded):
    """No control characters, no formulas, no scripts, nothing endless, no line of a hidden check."""
    run, _, _, _ = graded
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", run.printed)
    long = [
        (each["student"], len(text)) for each in run.results["submissions"] for text in texts_of(each) if len(text) > TEXT_LIMIT
    ]
    assert long == []
    lines = {line.strip() for path in course.HIDDEN.glob("test_*.py") for line in path.read_text("utf-8").splitlines()}
    secrets = {line for line in lines if len(line) > 30}
    for page in (run.out / "feedback").rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.search(r"<script|<img src=x|\x1b", text), page
        assert not [line for line in secrets if line in text], page
    cells = [line.lstrip('"')[:1] for line in (run.out / "grades.csv").read_text("utf-8").splitlines()]
    assert not set(cells) & set("=+-@\t")


def texts_of(submission):
    """All texts about a submission that somebody reads."""
    checks = [check["message"] for exercise in submission["exercises"] for check in exercise["checks"]]
    diagnoses = [exercise["diagnosis"] for exercise in submission["exercises"]]
    return [str(text) for text in (submission["reason"], *submission["findings"], *checks, *diagnoses) if text]
