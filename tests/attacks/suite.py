"""The attacks as a class of students: what each one expects, what each one hands in, and what it got."""

import json
import re
import runpy
from dataclasses import dataclass
from pathlib import Path

from grader import course

FOLDER = Path(__file__).parent
GROUPS = ("comparison", "tampering", "forged", "reading", "shortcuts", "bombs", "damaged", "names")
OUTCOMES = ("zero", "partial", "full", "not_attempted", "refused")
GOOD_EVERY = 12
HEADER = re.compile(r"^# (tries|source|expect|says|exercise|known): (.+)$", re.M)


@dataclass(frozen=True)
class Attack:
    """One file. `known` is the reason why it gains something all the same, as the documents say; None for nearly all."""

    group: str
    name: str
    body: str
    expect: str
    says: str | None = None
    exercise: str = "softmax"
    known: str | None = None

    @property
    def title(self):
        return f"{self.group}/{self.name}"


@dataclass(frozen=True)
class Outcome:
    """What an attack got: one of OUTCOMES or a word for what should not be. `texts` is all that was said about it."""

    got: str
    texts: tuple[str, ...] = ()

    def fits(self, attack):
        return self.got == attack.expect and (attack.says is None or any(attack.says in text for text in self.texts))

    def __str__(self):
        return f"{self.got}: {' | '.join(dict.fromkeys(text for text in self.texts if text))[:240]}"


def gather():
    """All attacks, sorted by group and name. Raises ValueError for a file without a proper head."""
    return [_read(path) for group in GROUPS for path in sorted((FOLDER / group).glob("*.py"))]


def cell_of(content, grade_id):
    """The cell of a notebook with this grade_id."""
    return next(cell for cell in content["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def write(folder, content, name="00_start_here.ipynb"):
    """Write a file into a folder, which is made where it is missing. Returns the folder's name: the student."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return folder.name


def hand_in(attacks, folder):
    """Write the submissions of all attacks, with a good one before every few. Returns students by attack, and the good students."""
    students, good = {}, []
    for number, attack in enumerate(attacks):
        if number % GOOD_EVERY == 0:
            good.append(write(folder / f"{number:03} good", _as_bytes(notebook("00_start_here"))))
        students[attack] = _hand_in(attack, folder / f"{number:03} {attack.group} {attack.name}")
    return students, good


def notebook(stem, **answers):
    """A released notebook as JSON, with right answers put in, or those given."""
    content = json.loads((course.ROOT / "notebooks" / f"{stem}.ipynb").read_text("utf-8"))
    for exercise in course.notebook(stem).exercises:
        cell_of(content, exercise.name)["source"] = answers.get(exercise.name, exercise.source)
    return content


def outcome_of(attack, submissions):
    """What an attack got. submissions: those of its students, as results.json has them."""
    if not submissions:
        return Outcome("missing in the results")
    outcomes = [_outcome(attack, each) for each in submissions]
    return next((each for each in outcomes if not each.fits(attack)), outcomes[0])


def _read(path):
    text = path.read_text("utf-8")
    head = dict(HEADER.findall(text))
    if not {"tries", "source", "expect"} <= head.keys() or head["expect"] not in OUTCOMES:
        raise ValueError(f"{path} needs the lines tries, source and expect, the last one of {', '.join(OUTCOMES)}")
    head.pop("tries"), head.pop("source")
    return Attack(path.parent.name, path.stem, text, **head)


def _hand_in(attack, folder):
    if attack.group == "names":
        arrange = runpy.run_path(FOLDER / "names" / f"{attack.name}.py")["arrange"]
        return arrange(folder, _as_bytes(notebook("00_start_here"))) or [folder.name]
    if attack.group == "damaged":
        damage = runpy.run_path(FOLDER / "damaged" / f"{attack.name}.py")["damage"]
        return [write(folder, _as_bytes(damage(notebook("00_start_here"))), _file_name(attack))]
    stem = course.exercise(attack.exercise).notebook
    return [write(folder, _as_bytes(notebook(stem, **{attack.exercise: attack.body})), f"{stem}.ipynb")]


def _file_name(attack):
    """A notebook that the course does not know must not be known by its file's name."""
    return "homework.ipynb" if attack.name == "foreign_notebook" else "00_start_here.ipynb"


def _as_bytes(content):
    return content if isinstance(content, bytes) else json.dumps(content).encode()


def _outcome(attack, submission):
    texts = [submission["reason"], *submission["findings"]]
    if submission["status"] != "graded":
        return Outcome(submission["status"], tuple(filter(None, texts)))
    others = [each["name"] for each in submission["exercises"] if each["name"] != attack.exercise and each["status"] != "passed"]
    if others:
        return Outcome(f"cost {', '.join(others)}", tuple(filter(None, texts)))
    exercise = next(each for each in submission["exercises"] if each["name"] == attack.exercise)
    texts += [exercise["diagnosis"], *(check["message"] for check in exercise["checks"])]
    return Outcome(_word(exercise), tuple(filter(None, texts)))


def _word(exercise):
    if exercise["status"] == "failed":
        return "zero" if exercise["score"] == 0 else "partial"
    return {"passed": "full"}.get(exercise["status"], exercise["status"])
