"""`make bench`: a class graded by stock nbgrader and by this grader, the same submissions and the same hidden checks, in one run.

Rounds are paired: each engine grades the class once in each round, one after the other. Writes docs/benchmarks.md.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import stock
from benchmarks.fixture import FIXTURE, STEM, class_of
from grader import answers, course, ladder, nbgrader_course, release

STOCK_CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "bench"\nc.ClearHiddenTests.enforce_metadata = False\n'
HIDDEN = """\
### BEGIN HIDDEN TESTS
import sys; sys.path.insert(0, {root!r})
from benchmarks.stock import score
score("{name}", globals())
### END HIDDEN TESTS
"""
PAGE = course.ROOT / "docs" / "benchmarks.md"


def main():
    """Run the rounds, print and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument(
        "--stock", type=int, default=None, help="how many of them stock nbgrader grades in each round (default: all)"
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        engines = prepare(Path(folder), options.submissions, options.stock or options.submissions)
        seconds = {name: [] for name in engines}
        for number in range(options.rounds):
            for name, (count, run) in engines.items():
                started = time.perf_counter()
                run(number)
                seconds[name].append((time.perf_counter() - started) / count)
                print(f"round {number + 1}: {name}: {seconds[name][-1]:.3f} s a submission", flush=True)
    text = table(seconds, options)
    print(text)
    PAGE.write_text(text, "utf-8")


def prepare(folder, count, stock_count):
    """The engines: for each the number of submissions and a function of the round that grades them."""
    whole, hurt = folder / "class", folder / "mixed"
    for target, mixed in ((whole, False), (hurt, True)):
        for student, text in class_of(count, mixed):
            write(target / student / f"{STEM}.ipynb", text)
    plain, judged = folder / "stock", folder / "judged"
    lay_out(plain, stock_count, STOCK_CONFIG, with_hidden_tests())
    config = (
        nbgrader_course.CONFIG.format(root=str(course.ROOT), seed=stock.SEED) + "\nimport benchmarks.fixture  # noqa: E402, F401\n"
    )
    lay_out(judged, count, config, release.node_of(FIXTURE))
    return {
        "nbgrader autograde, as shipped": (stock_count, lambda number: autograde(plain)),
        "nbgrader autograde with this judge": (count, lambda number: autograde(judged)),
        "grade --jobs 1": (count, lambda number: grade(whole, folder / f"one{number}", 1)),
        "grade --jobs 2": (count, lambda number: grade(whole, folder / f"two{number}", 2)),
        "grade --jobs 2, one in ten hurts": (count, lambda number: grade(hurt, folder / f"hurt{number}", 2)),
        "the floor: one warm process, no isolation": (count, lambda number: floor(count)),
    }


def with_hidden_tests():
    """The fixture as a stock course has it: the hidden checks stand in the check cells."""
    node = release.node_of(FIXTURE)
    for cell in node.cells:
        name = cell.metadata.nbgrader.grade_id.removeprefix("check_")
        if cell.metadata.nbgrader.grade:
            cell.source = HIDDEN.format(root=str(course.ROOT), name=name)
    return node


def lay_out(folder, count, config, node):
    """An nbgrader course with `count` submissions."""
    import nbformat

    write(folder / "nbgrader_config.py", config)
    write(folder / "source" / STEM / f"{STEM}.ipynb", nbformat.writes(node))
    for student, text in class_of(count):
        write(folder / "submitted" / student.replace(" ", "-") / STEM / f"{STEM}.ipynb", text)
    nbgrader(folder, "generate_assignment", STEM)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def autograde(folder):
    shutil.rmtree(folder / "autograded", ignore_errors=True)
    nbgrader(folder, "autograde", STEM, "--force")


def nbgrader(folder, *arguments):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONPATH": str(course.ROOT)}
    subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=folder, env=environment, check=True, capture_output=True)


def grade(submissions, out, jobs):
    command = [
        sys.executable,
        "-m",
        "benchmarks.grade",
        "grade",
        str(submissions),
        "--out",
        str(out),
        "--jobs",
        str(jobs),
        "--seed",
        str(stock.SEED),
    ]
    subprocess.run(command, cwd=course.ROOT, check=True, capture_output=True)


def floor(count):
    """Trusted answers, warm: everything but the checks themselves is left out."""
    namespaces = {each.name: answers.known_namespace(each, each.source) for each in FIXTURE.exercises}
    for _ in range(count):
        for name, namespace in namespaces.items():
            stock.score(name, namespace)


def table(seconds, options):
    """The page, with medians, ranges and the ratio to stock nbgrader, taken round by round."""
    base = seconds["nbgrader autograde, as shipped"]
    level = ladder.best()[0]
    names = ", ".join(each.name for each in FIXTURE.exercises)
    stock_count = options.stock or options.submissions
    lines = [
        "# Benchmarks",
        "",
        f"{options.submissions} submissions of a notebook with {len(FIXTURE.exercises)} exercises ({names});",
        f"{options.rounds} paired rounds on {os.cpu_count()} cores; isolation level {level} ({ladder.detail(level)}).",
        f"Whole commands, start-up included; nbgrader as shipped graded {stock_count} of them in each round.",
        f"The load of the machine when the last round ended was {os.getloadavg()[1]:.1f}. `make bench` repeats it.",
        "",
        "| engine | seconds a submission: median (range) | times as fast as nbgrader as shipped: median (range) |",
        "| --- | --- | --- |",
    ]
    for name, measured in seconds.items():
        ratios = [theirs / mine for theirs, mine in zip(base, measured, strict=True)]
        lines.append(f"| {name} | {spread(measured, '.3f')} | {spread(ratios, '.1f')} |")
    return "\n".join(lines) + "\n"


def spread(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


if __name__ == "__main__":
    main()
