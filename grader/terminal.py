"""What a person sees on the terminal: the table of a class, the kill matrix, a progress bar."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from grader import course, names

MARKS = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "not_attempted": ("·", "dim"),
    "grader_fault": ("!", "bold magenta"),
}
STATUS = {"refused": ("refused", "yellow"), "grader_fault": ("grader fault", "bold magenta")}


def class_table(submissions, console):
    """Print one table per notebook, then what the answers say, then what could not be graded."""
    for stem in dict.fromkeys(each.notebook for each in submissions if each.notebook):
        here = [each for each in submissions if each.notebook == stem]
        console.print(_notebook_table(course.notebook(stem), here))
    _print_diagnoses(submissions, console)
    rest = [each for each in submissions if each.status != "graded"]
    if not rest:
        return
    console.print("\nNot graded", style="bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    for each in rest:
        word, colour = STATUS[each.status]
        grid.add_row(Text(f"  {_clean(each.file)}"), Text(word, colour), Text(_clean(each.reason)))
    console.print(grid)


def _notebook_table(notebook, submissions):
    table = Table(
        title=f"\n{notebook.stem}: {notebook.title}",
        title_justify="left",
        title_style="bold",
        header_style="bold",
        pad_edge=False,
    )
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    for exercise in notebook.exercises:
        table.add_column(exercise.name.replace("_", " "), overflow="fold")
    for each in submissions:
        table.add_row(_clean(each.student), _score(each), *(_mark(exercise) for exercise in each.exercises))
    table.caption = "✓ full marks   ✗ not yet   · not attempted"
    table.caption_justify = "left"
    return table


def _score(submission):
    if submission.status != "graded":
        word, colour = STATUS[submission.status]
        return Text(word, colour)
    return Text(
        f"{submission.score:g} / {submission.max_score:g}"
        if submission.score % 1 == 0
        else f"{submission.score:.2f} / {submission.max_score:g}"
    )


def _mark(exercise):
    sign, colour = MARKS[exercise.status]
    if exercise.status == "failed":
        passed = sum(check["passed"] for check in exercise.checks)
        return Text(f"{sign} {passed} of {len(exercise.checks)}", colour)
    return Text(sign, colour)


def _print_diagnoses(submissions, console):
    """Named mistakes; and for the other failures the reason of the first failed check, where all failed alike."""
    lines = [
        (each.student, exercise.name, sentence)
        for each in submissions
        for exercise in each.exercises
        if (sentence := _sentence(exercise))
    ]
    if lines:
        console.print("\nWhat went wrong", style="bold")
    grid = Table.grid(padding=(0, 2, 0, 0))
    for student, exercise, sentence in lines:
        grid.add_row(Text(f"  {_clean(student)}"), Text(exercise, "cyan"), Text(_clean(sentence)))
    console.print(grid)


def _sentence(exercise):
    if exercise.diagnosis or exercise.status != "failed":
        return exercise.diagnosis
    return next((check["message"] for check in exercise.checks if not check["passed"]), None)


def kill_matrix(proof, console):
    """Print which check kills which wrong answer, for one exercise."""
    table = Table(title=f"\n{proof.exercise.name}", title_justify="left", title_style="bold", pad_edge=False)
    table.add_column("wrong answer", overflow="fold")
    for number, _ in enumerate(proof.check_names, start=1):
        table.add_column(str(number), justify="center")
    for title, failed in proof.kills.items():
        table.add_row(title.replace("_", " "), *("×" if name in failed else "" for name in proof.check_names))
    console.print(table)
    for number, name in enumerate(proof.check_names, start=1):
        console.print(f"  {number:>2}  {name.replace('_', ' ')}", highlight=False)


def progress(total):
    """A progress bar on standard error where that is a terminal; call the result's `advance` once per item."""
    console = Console(stderr=True)
    columns = [TextColumn("grading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    bar.add_task("grading", total=total)
    return bar


def _clean(text):
    return names.for_terminal(text or "")
