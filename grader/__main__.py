"""The commands: `python -m grader COMMAND`.

Exit codes: 0 all done; 1 some submissions refused (or a proof, or a comparison, that does not hold); 2 wrong usage; 3 a fault of
the grader, which outranks 1.
"""

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console

DONE, REFUSED, USAGE, FAULT = 0, 1, 2, 3
COUNTED = {"graded": "graded", "refused": "refused", "grader_fault": "grader faults"}


def main(arguments=None):
    """Run one command. Returns its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    from grader import course

    try:
        return options.command(options, Console(width=None if sys.stdout.isatty() else 120))
    except course.CourseError as error:
        print(f"grader: {error}", file=sys.stderr)
        return FAULT if options.command is _grade else REFUSED
    except Exception as error:
        if os.environ.get("GRADER_DEBUG"):
            raise
        print(f"grader: {type(error).__name__}: {error} (GRADER_DEBUG=1 shows where)", file=sys.stderr)
        return FAULT


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m grader", description="Grades the course's notebooks, and proves that it does so rightly."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    grade = commands.add_parser("grade", help="grade notebooks, or folders of them")
    grade.add_argument("paths", nargs="+", metavar="PATH", help="a notebook, a student's folder, or a folder of students' folders")
    grade.add_argument("--out", required=True, type=Path, metavar="DIR", help="where results.json, grades.csv and feedback/ go")
    grade.add_argument("--jobs", type=_positive, default=1, metavar="N", help="how many submissions at once (default 1)")
    grade.add_argument(
        "--seed",
        type=int,
        default=os.environ.get("GRADER_SEED"),
        metavar="N",
        help="seed of the hidden inputs (default: the earlier run's, else drawn)",
    )
    grade.add_argument(
        "--scheduler", metavar="ADDRESS", help="grade on the workers of this Dask scheduler, such as tcp://host:8786"
    )
    grade.add_argument("--student", metavar="NAME", help="whose work this is, where the folder's name doesn't tell")
    grade.add_argument("--regrade", action="store_true", help="grade again what is graded already")
    grade.add_argument(
        "--allow-weaker-isolation", action="store_true", help="give marks at isolation level 1 too; the report says so"
    )
    grade.set_defaults(command=_grade)
    release = commands.add_parser("release", help="build notebooks/ from solutions/")
    release.add_argument("--check", action="store_true", help="write nothing; fail if notebooks/ is not what solutions/ gives")
    release.set_defaults(command=_release)
    prove = commands.add_parser("prove", help="try all known answers and print which check kills which")
    prove.add_argument("exercises", nargs="*", metavar="EXERCISE", help="only these (default: all)")
    prove.add_argument("--seed", type=int, default=1, metavar="N")
    prove.set_defaults(command=_prove)
    nbgrader = commands.add_parser("nbgrader", help="write a course folder for nbgrader, with this judge in place of its own")
    nbgrader.add_argument("folder", type=Path, metavar="DIR", help="where source/ and nbgrader_config.py go")
    nbgrader.set_defaults(command=_nbgrader)
    doctor = commands.add_parser("doctor", help="versions, and the isolation that this machine offers")
    doctor.set_defaults(command=_doctor)
    return parser


def _positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _grade(options, console):
    from grader import classroom, desk, discover, ladder, report, terminal

    level, reason = ladder.best()
    if level < 2 and not options.allow_weaker_isolation:
        print(
            f"grader: no marks at isolation level {level}: {reason}. --allow-weaker-isolation grades all the same.",
            file=sys.stderr,
        )
        return FAULT
    try:
        handins = discover.discover(options.paths, options.student)
    except discover.NothingThere as error:
        print(f"grader: {error}", file=sys.stderr)
        return USAGE
    try:
        seed = classroom.choose_seed(options.out, options.seed)
    except OSError as error:
        print(f"grader: can't write to {options.out}: {error.strerror}", file=sys.stderr)
        return USAGE
    run = desk.Run(options.out.resolve(), seed, level, options.jobs, options.regrade, options.scheduler)
    with terminal.progress(len(handins)) as bar:
        submissions = classroom.grade_all(run, handins, lambda _: bar.advance(bar.task_ids[0]))
    report.write(run, submissions)
    terminal.class_table(submissions, console)
    statuses = [each.status for each in submissions]
    counts = ", ".join(f"{statuses.count(status)} {words}" for status, words in COUNTED.items())
    console.print(f"\n{counts}; seed {run.seed}")
    console.print(f"isolation {report.isolation_line(level)}", highlight=False)
    for what in ("results.json", "grades.csv", "feedback"):
        console.print(f"  {what:<13} {run.out / what}", highlight=False, soft_wrap=True)
    return FAULT if "grader_fault" in statuses else REFUSED if "refused" in statuses else DONE


def _release(options, console):
    from grader import course, release

    paths = release.differences() if options.check else release.write()
    for path in paths:
        console.print(f"{'differs' if options.check else 'written'}: {path.relative_to(course.ROOT)}", highlight=False)
    if options.check and paths:
        console.print("run `make notebooks`: notebooks/ is not what solutions/ gives", highlight=False)
        return REFUSED
    return DONE


def _prove(options, console):
    from grader import course, prove, terminal
    from grader.grading import Grader

    unknown = [name for name in options.exercises if course.exercise(name) is None]
    if unknown:
        print(f"grader: no exercise is called {unknown[0]}", file=sys.stderr)
        return USAGE
    chosen = [
        each
        for notebook in course.notebooks()
        for each in notebook.exercises
        if not options.exercises or each.name in options.exercises
    ]
    with Grader(options.seed) as grader:
        proofs = []
        for exercise in chosen:
            proofs.append(prove.prove(exercise, grader))
            terminal.kill_matrix(proofs[-1], console)
    problems = [problem for proof in proofs for problem in proof.problems]
    for problem in problems:
        console.print(f"✗ {problem}", style="red", highlight=False, markup=False)
    wrong = sum(len(proof.kills) for proof in proofs)
    checks = sum(len(proof.check_names) for proof in proofs)
    counts = f"{len(proofs)} exercises, {checks} hidden checks, {wrong} wrong answers; {len(problems)} problems"
    console.print(f"\n{counts}; seed {options.seed}")
    return REFUSED if problems else DONE


def _nbgrader(options, console):
    from grader import nbgrader_course

    try:
        paths = nbgrader_course.write(options.folder)
    except FileExistsError as error:
        print(f"grader: {error}", file=sys.stderr)
        return USAGE
    for path in paths:
        console.print(f"written: {path}", highlight=False, soft_wrap=True)
    return DONE


def _doctor(options, console):
    import platform

    import torch

    from grader import course, ladder, report

    level, reason = ladder.best()
    for what, value in (
        ("course", course.VERSION),
        ("python", platform.python_version()),
        ("torch", torch.__version__),
        ("isolation", report.isolation_line(level)),
    ):
        console.print(f"{what:<10} {value}", highlight=False)
    if reason:
        console.print(f"not higher, because {reason}", highlight=False)
    return DONE


if __name__ == "__main__":
    sys.exit(main())
