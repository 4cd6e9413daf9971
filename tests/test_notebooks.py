"""The notebooks as a learner meets them: solved or untouched, each runs top to bottom in a directory of its own."""

import os
import re
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from grader import course, release

pytestmark = pytest.mark.slow

STEMS = [notebook.stem for notebook in course.notebooks()]
# A cell that hangs has to end some day; no cell of the course comes near it, on any computer.
LONGEST_CELL = 3600


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A function that gives an executed notebook by its stem, solved or untouched; each runs only once."""
    done = {}

    def run(stem, solved):
        if (stem, solved) not in done:
            folder = tmp_path_factory.mktemp(f"{stem}_{'solved' if solved else 'untouched'}")
            done[stem, solved] = execute(stem, folder, solved)
        return done[stem, solved]

    return run


@pytest.mark.parametrize("stem", STEMS)
def test_solved_it_runs_and_passes_every_public_check(stem, ran):
    notebook = ran(stem, solved=True)
    assert troubles(notebook) == []
    assert not re.search("This cell (waits|stopped)", text_of(notebook.cells))
    for name, said in verdicts(notebook).items():
        counts = re.match(rf"{name}: (\d+) of (\d+) public checks passed", said)
        assert counts and counts[1] == counts[2], said
        assert "added to my_transformer.py" in said


@pytest.mark.parametrize("stem", STEMS)
def test_untouched_it_runs_and_every_check_says_that_nothing_was_tried(stem, ran):
    notebook = ran(stem, solved=False)
    assert troubles(notebook) == []
    for name, said in verdicts(notebook).items():
        assert said.startswith(f"{name}: not attempted"), said


def test_the_first_notebooks_in_one_folder_grow_one_file_that_stands_alone(tmp_path):
    executed = {stem: execute(stem, tmp_path, solved=True) for stem in STEMS[:3]}
    names = [exercise.name for stem in executed for exercise in course.notebook(stem).exercises]
    program = f"import my_transformer; print([name for name in {names} if not hasattr(my_transformer, name)])"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
    for stem in STEMS[1:3]:
        assert troubles(executed[stem]) == []
        assert "softmax: yours, from my_transformer.py" in text_of(executed[stem].cells)


@pytest.mark.parametrize("stem", STEMS)
def test_every_picture_says_in_words_what_is_to_be_seen(stem, ran):
    cells = ran(stem, solved=True).cells
    html, bare = [], []
    for output in outputs_of(cells):
        data = output.get("data", {})
        html.append(data.get("text/html", ""))
        bare += [kind for kind in data if kind.startswith("image/")]
    pictures = Pictures("".join(html)).labels
    assert pictures and all(label.strip() for label in pictures)
    assert not bare, "such an output has no alt text; draw through course_utils.plots"


@pytest.mark.parametrize("stem", STEMS)
def test_headings_never_skip_a_level(stem):
    levels = heading_levels(read(stem))
    assert levels[0] == 1 and levels.count(1) == 1
    steps = [(above, below) for above, below in zip(levels, levels[1:], strict=False) if below > above + 1]
    assert steps == []


def read(stem):
    return nbformat.read(release.NOTEBOOKS / f"{stem}.ipynb", as_version=4)


def execute(stem, folder, solved):
    """Run a released notebook in `folder`, with the reference answers put in if `solved`; errors are outputs, too."""
    notebook = read(stem)
    if solved:
        for cell in notebook.cells:
            exercise = course.exercise(grade_id(cell))
            if exercise:
                cell.source = exercise.source
    # Threads help in none of these small computations, and a learner's own IPython profile has no say here.
    environment = os.environ | {"OMP_NUM_THREADS": "1", "IPYTHONDIR": str(folder / ".ipython")}
    client = NotebookClient(
        notebook,
        timeout=LONGEST_CELL,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    begin = time.perf_counter()
    client.execute(env=environment)
    print(f"{stem}, {'solved' if solved else 'untouched'}: {time.perf_counter() - begin:.1f} s")
    if solved:
        assert Path(folder, "my_transformer.py").exists()
    return notebook


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def outputs_of(cells):
    return [output for cell in cells for output in cell.get("outputs", ())]


def text_of(cells):
    """All that the cells print or show, as plain text."""
    return "\n".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in outputs_of(cells))


def troubles(notebook):
    """One line for every error, and for every warning, which would puzzle a learner no less."""
    found = []
    for place, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "error":
                found.append(f"cell {place}: {output.ename}: {output.evalue}")
            elif output.get("name") == "stderr" or "Traceback (most recent" in output.get("text", ""):
                found.append(f"cell {place}: {output.text}")
    return found


def verdicts(notebook):
    """{exercise: what its check cell says}, for all exercises of the notebook."""
    cells = {grade_id(cell): cell for cell in notebook.cells}
    stem = notebook.metadata["transformers_from_scratch"]["notebook"]
    return {each.name: text_of([cells[f"check_{each.name}"]]) for each in course.notebook(stem).exercises}


def heading_levels(notebook):
    """The levels of all headings in order; lines in a fenced block are code."""
    levels, fenced = [], False
    for cell in notebook.cells:
        for line in cell.source.splitlines() if cell.cell_type == "markdown" else ():
            fenced ^= line.lstrip().startswith("```")
            mark = re.match(r"(#{1,6}) ", line)
            if mark and not fenced:
                levels.append(len(mark[1]))
    return levels


class Pictures(HTMLParser):
    """The alt texts of all pictures in a page, "" for one that has none."""

    def __init__(self, page):
        super().__init__()
        self.labels = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "svg":
            self.labels.append(attributes.get("aria-label") or "")
        elif tag == "img":
            self.labels.append(attributes.get("alt") or "")
        elif tag == "canvas":
            self.labels.append("")
