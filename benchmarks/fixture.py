"""A notebook of six exercises from several lessons, and a class of submissions of it.

Importing this module makes the notebook part of the course.
"""

import json

import nbformat

from grader import bank, course, release

STEM = "99_benchmark"
NAMES = ("scaled_dot_product_attention", "causal_mask", "sinusoidal_encoding", "MultiHeadAttention", "LayerNorm", "EncoderLayer")
MIX = {  # answers that hurt, each to the first exercise
    "loop": "def {name}(*args, **kwargs):\n    while True:\n        pass\n",
    "segfault": "def {name}(*args, **kwargs):\n    import ctypes\n    ctypes.string_at(0)\n",
    "exit": "def {name}(*args, **kwargs):\n    import os\n    os._exit(0)\n",
    "hog": "def {name}(*args, **kwargs):\n    hoard = []\n    while True:\n        hoard.append(torch.ones(10**6))\n",
}


def _notebook():
    """The six exercises as one notebook: a setup cell with everything, then an answer cell and a check cell each."""
    exercises = tuple(course.exercise(name) for name in NAMES)
    stems = dict.fromkeys(exercise.notebook for exercise in exercises)
    setup = "\n".join(course.notebook(stem).setup for stem in stems)
    cells = [_cell(setup, "setup")]
    for exercise in exercises:
        cells += [
            _cell(exercise.source, exercise.name, solution=True),
            _cell(f"check({exercise.name})", f"check_{exercise.name}", exercise.points),
        ]
    return course.Notebook(STEM, "Benchmark", setup, exercises, tuple(cells))


def _cell(source, grade_id, points=None, solution=False):
    marks = {
        "grade": points is not None,
        "grade_id": grade_id,
        "locked": not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": marks | ({"points": points} if points is not None else {})})


def class_of(count, hurt=False):
    """`count` submissions: right answers, right ones of the banks and wrong ones in turn; with `hurt`, every tenth is of MIX."""
    pools = [
        [each.source, *(answer.source for kind in ("right", "wrong") for answer in bank.of_exercise(kind, each))]
        for each in FIXTURE.exercises
    ]
    for number in range(count):
        chosen = [pool[number % 3 and (number * 7 + place) % len(pool)] for place, pool in enumerate(pools)]
        if hurt and number % 10 == 9:
            chosen[0] = list(MIX.values())[number // 10 % len(MIX)].format(name=NAMES[0])
        yield f"student {number:03}", _with_answers(dict(zip(NAMES, chosen, strict=True)))


def _with_answers(chosen):
    node = json.loads(json.dumps(release.node_of(FIXTURE)))
    for cell in node["cells"]:
        cell["source"] = chosen.get(cell["metadata"]["nbgrader"]["grade_id"], cell["source"])
    return json.dumps(node, indent=1) + "\n"


_lessons = course.notebooks()
FIXTURE = _notebook()  # its exercises keep their lessons, and with them their checks, references and banks
course.notebooks = lambda *_: (*_lessons, FIXTURE)
