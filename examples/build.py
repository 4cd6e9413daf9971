"""Builds examples/submissions/ from the released notebook and answers of the banks. Run by `make notebooks`."""

import json
import shutil
from pathlib import Path

from grader import bank, course, release

STEM = "01_soft_retrieval"
FOLDER = Path(__file__).parent / "submissions"
ATTENTION = "scaled_dot_product_attention"
LOOP = """\
def soft_lookup(query, keys, values, temperature):
    weights = softmax(keys @ query / temperature, 0)
    mixture = torch.zeros_like(values[0])
    place = 0
    while place < len(keys):
        mixture = mixture + weights[place] * values[place]
    return mixture
"""


def main():
    """Write all example submissions, from scratch."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for student, text in submissions().items():
        path = FOLDER / student / f"{STEM}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8", newline="\n")


def submissions():
    """The example students and their files, as text."""
    everything = {each.name: each.source for each in course.notebook(STEM).exercises}
    perfect = notebook(everything)
    return {
        "ada": perfect,
        "boris": notebook({name: right(name) for name in everything}),
        "chen": notebook(everything | {ATTENTION: wrong(ATTENTION, "divided_by_d")}),
        "dana": notebook(
            everything | {ATTENTION: wrong(ATTENTION, "mask_inverted"), "padding_mask": wrong("padding_mask", "true_on_padding")}
        ),
        "emil": notebook(
            everything
            | {
                "soft_lookup": wrong("soft_lookup", "multiplied_by_temperature"),
                "causal_mask": wrong("causal_mask", "strictly_lower"),
            }
        ),
        "farida": notebook({name: everything[name] for name in ("hard_lookup", "soft_lookup")}),
        "greta": notebook({}),
        "hugo": notebook(everything | {"soft_lookup": LOOP}),
        "ines": perfect[: len(perfect) // 2],
        "josé 李": without_metadata(perfect),
    }


def notebook(answers):
    """The released notebook with these answers in place of stubs, as text."""
    content = released()
    for cell in content["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in answers:
            cell["source"] = (
                answers[name].strip().replace("### BEGIN SOLUTION", "").replace("### END SOLUTION", "").splitlines(keepends=True)
            )
    return dump(content)


def without_metadata(text):
    """The notebook as some editors leave it: every cell's metadata gone."""
    content = json.loads(text)
    for cell in content["cells"]:
        cell["metadata"] = {}
    return dump(content)


def released():
    return json.loads((release.NOTEBOOKS / f"{STEM}.ipynb").read_text("utf-8"))


def dump(content):
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def wrong(exercise, title):
    return _known("wrong", exercise, title)


def right(exercise):
    """The first right answer of the bank."""
    return bank.of_exercise("right", course.exercise(exercise))[0].source


def _known(kind, exercise, title):
    return next(answer.source for answer in bank.of_exercise(kind, course.exercise(exercise)) if answer.title == title)


if __name__ == "__main__":
    main()
