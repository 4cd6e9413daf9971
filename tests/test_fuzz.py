"""Random damage to a valid notebook ends in answers or in one line, never in a traceback or another maximum."""

import json
import random

import pytest
from conftest import reference_of

from grader import course, desk, discover, submission

DAMAGES = 2000
GRADED = 40
ODD_VALUES = [None, True, -1, 10**400, 1e308, "", "\x00", "\ud800", "def softmax(", [], {}, [[]], {"a": {}}, "%%bash", "!" * 999]


def copied(content, rng):
    content["cells"].insert(rng.randrange(len(content["cells"])), rng.choice(content["cells"]))


def deleted(content, rng):
    del content["cells"][rng.randrange(len(content["cells"]))]


def shuffled(content, rng):
    rng.shuffle(content["cells"])


def retyped(content, rng):
    rng.choice(content["cells"])["cell_type"] = rng.choice(["markdown", "raw", "code", "heading", "video", 7])


def split(content, rng):
    place = rng.randrange(len(content["cells"]))
    cell = content["cells"][place]
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    at = rng.randrange(len(source) + 1)
    content["cells"][place : place + 1] = [{**cell, "source": source[:at]}, {**cell, "source": source[at:]}]


def stripped(content, rng):
    for cell in rng.sample(content["cells"], len(content["cells"]) // 2):
        cell["metadata"] = {}


def relabelled(content, rng):
    rng.choice(content["cells"])["metadata"] = {
        "nbgrader": {"grade_id": rng.choice(["softmax", "check_softmax", "setup", 3, None]), "points": 10**9}
    }


def overwritten(content, rng):
    """Some value anywhere in the file becomes an odd one."""
    node = content
    while True:
        keys = list(node) if isinstance(node, dict) else range(len(node))
        if not keys:
            return
        key = rng.choice(list(keys))
        if isinstance(node[key], (dict, list)) and node[key] and rng.random() < 0.8:
            node = node[key]
        else:
            node[key] = rng.choice(ODD_VALUES)
            return


def bytes_changed(raw, rng):
    raw = bytearray(raw)
    for _ in range(rng.randrange(1, 6)):
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def cut(raw, rng):
    return raw[: rng.randrange(len(raw))]


def doubled(raw, rng):
    return raw + raw


ON_CELLS = [copied, deleted, shuffled, retyped, split, stripped, relabelled, overwritten]
ON_BYTES = [bytes_changed, cut, doubled]


def damaged(content, number):
    """The notebook with one to four damages, the same for the same number."""
    rng = random.Random(number)
    content = json.loads(json.dumps(content))
    for _ in range(rng.randrange(1, 5)):
        try:
            rng.choice(ON_CELLS)(content, rng)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            break  # an earlier damage left nothing to damage
    raw = json.dumps(content).encode("utf-8", "surrogatepass")
    return rng.choice(ON_BYTES)(raw, rng) if rng.random() < 0.3 else raw


@pytest.fixture
def solved(released):
    return released(**{name: reference_of(name) for name in ("softmax", "batched_outer")})


@pytest.mark.slow
def test_reading_ends_in_answers_or_in_one_line(solved):
    names = {exercise.name for exercise in course.notebook("00_start_here").exercises}
    read, refused = 0, 0
    for number in range(DAMAGES):
        try:
            found = submission.read(damaged(solved, number), "00_start_here")
        except submission.Refused as reason:
            refused += 1
            assert "\n" not in str(reason), number
        else:
            read += 1
            assert set(found.answers) == names and found.notebook.max_score == 3.0, number
    print(f"{read} read, {refused} refused")
    assert read > DAMAGES / 3 and refused > DAMAGES / 20


@pytest.mark.slow
def test_grading_ends_in_a_mark_or_in_one_line(solved, handin, tmp_path):
    for number in range(GRADED):
        handin(f"{number:03}", damaged(solved, number))
    with desk.Desk(desk.Run(tmp_path / "out", 1, 2)) as here:
        for found in discover.discover([tmp_path / "submissions"]):
            graded = here.grade((found,))
            assert graded.status in ("graded", "refused"), graded.reason
            assert graded.max_score in (3.0, None) and (graded.score or 0) <= 3.0
