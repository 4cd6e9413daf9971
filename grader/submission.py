"""An untrusted notebook file → the learner's answers, and findings about what was odd.

Reads bytes, runs nothing. Answers are found by the Python name that an exercise asks for; a cell's grade_id only helps where
that fails (a cell turned to text, or split in two).
"""

import ast
import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass, field

from grader import course
from grader.slices import Pool, is_blank

SIZE_LIMIT = 100 << 20
CODE_LIMIT = 1 << 20  # characters in all code cells; the lessons have a fiftieth of it
CELL_LIMIT = 5000
HALVES = 3  # into how many pieces a cell may have been split
IDENTITY = "transformers_from_scratch"


class Refused(Exception):
    """This file can't be graded. The message is one line for the instructor."""


@dataclass(frozen=True)
class Cell:
    """One cell as far as grading needs it."""

    kind: str
    source: str
    grade_id: str | None


@dataclass
class Answer:
    """The learner's answer to one exercise. `source` is None where there is none; `helpers` is what the answer needs besides."""

    source: str | None
    helpers: tuple[str, ...] = ()
    attempted: bool = True


@dataclass
class Submission:
    """What a file says. `answers` has one entry for every exercise of the notebook."""

    notebook: course.Notebook
    sha256: str
    answers: dict[str, Answer]
    findings: list[str] = field(default_factory=list)


def load(path):
    """The bytes of a file. Raises OSError, or Refused where they are too many to be a notebook."""
    with open(path, "rb") as file:
        raw = file.read(SIZE_LIMIT + 1)
    if len(raw) > SIZE_LIMIT:
        raise Refused(f"the file is larger than {SIZE_LIMIT >> 20} MiB")
    return raw


def read(raw, name=""):
    """Read the bytes of a notebook file. name: the file's name without its ending, as a first guess. Raises Refused."""
    findings = []
    content = _json(raw, findings)
    cells = _cells(content, findings)
    notebook = _identify(content, cells, name, findings)
    submission = Submission(notebook, hashlib.sha256(raw).hexdigest(), {}, findings)
    findings += _missing_cells(notebook, cells)
    pool = Pool(_code(notebook, cells, findings))
    for exercise in notebook.exercises:
        submission.answers[exercise.name] = _answer(notebook, exercise, pool, findings)
    return submission


def _json(raw, findings):
    if not raw.strip():
        raise Refused("the file is empty")
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = raw.decode(encoding, "replace")
    if "\N{REPLACEMENT CHARACTER}" in text:
        findings.append(f"some bytes of the file are not text in {encoding}: read as unknown characters")
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise Refused("the file is nested too deeply") from error
    except ValueError as error:
        raise Refused(f"the file is not a notebook: its JSON is broken ({str(error)[:80]})") from error
    if not isinstance(content, dict):
        raise Refused("the file is not a notebook: no JSON object")
    return content


def _cells(content, findings):
    """The cells of a notebook of format 3 or 4. A format that is no number counts as 4."""
    major = content.get("nbformat")
    if type(major) is not int:
        major = 4
    if major not in (3, 4):
        raise Refused(f"notebook format {str(major)[:20]} is unknown")
    sheets = content.get("worksheets")
    holder = content if major == 4 else sheets[0] if isinstance(sheets, list) and sheets else None
    listed = holder.get("cells") if isinstance(holder, dict) else None
    if not isinstance(listed, list):
        raise Refused("the file is not a notebook: no list of cells")
    if len(listed) > CELL_LIMIT:
        raise Refused(f"the notebook has {len(listed)} cells, more than {CELL_LIMIT}")
    cells = [cell for cell in map(_cell, listed) if cell]
    if lost := len(listed) - len(cells):
        findings.append(f"{lost} cells could not be read")
    if sum(len(cell.source) for cell in cells if cell.kind == "code") > CODE_LIMIT:
        raise Refused(f"the notebook has more than {CODE_LIMIT >> 20} MiB of code")
    return cells


def _cell(raw):
    if not isinstance(raw, dict):
        return None
    source = raw.get("source", raw.get("input", ""))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")
    metadata = raw.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return Cell(str(raw.get("cell_type", "code")), source, grade_id if isinstance(grade_id, str) else None)


def _identify(content, cells, name, findings):
    """Which notebook of the course this is: by its metadata, by the file's name, by the exercises that it holds."""
    metadata = content.get("metadata")
    identity = metadata.get(IDENTITY) if isinstance(metadata, dict) else None
    identity = identity if isinstance(identity, dict) else {}
    version = identity.get("version", course.VERSION)
    by_content = _by_content(cells)
    found = course.notebook(identity.get("notebook")) or by_content or course.notebook(name)
    if found is None:
        raise Refused("cannot tell which notebook of the course this is: none of its exercises is here")
    if by_content and by_content.stem != found.stem:
        raise Refused(f"says that it is {found.stem} but holds the exercises of {by_content.stem}")
    if version != course.VERSION:
        findings.append(f"made for version {str(version)[:20]} of the course, graded by version {course.VERSION}")
    return found


def _by_content(cells):
    text = "\n".join(cell.source for cell in cells)
    defined = set(re.findall(r"^(?:def|class)\s+(\w+)", text, re.M)) | {cell.grade_id for cell in cells}
    counts = [(sum(each.name in defined for each in notebook.exercises), notebook) for notebook in course.notebooks()]
    best, notebook = max(counts, key=lambda pair: pair[0], default=(0, None))
    return notebook if best else None


def _missing_cells(notebook, cells):
    here = {cell.grade_id for cell in cells if cell.kind == "code"}
    if not any(here):
        return ["all cell metadata was missing: answers were found by name"]
    missing = [each.name for each in notebook.exercises if f"check_{each.name}" not in here]
    return [f"check cell of {name} was missing: taken from the course" for name in missing]


def _code(notebook, cells, findings):
    """(label, source) of every cell that may hold code of the learner; the course's own setup and check cells are left out."""
    names = {each.name for each in notebook.exercises}
    fixed = {"setup"} | {f"check_{name}" for name in names}
    code = []
    for cell in cells:
        if cell.kind == "code" and cell.grade_id not in fixed:
            code.append((cell.grade_id, _plain_python(cell, findings)))
        elif cell.kind != "code" and cell.grade_id in names:
            findings.append(f"the answer cell of {cell.grade_id} is a {cell.kind[:20]} cell: read as code")
            code.append((cell.grade_id, cell.source))
    return _joined(code, names, findings)


def _plain_python(cell, findings):
    """The cell without lines that only a notebook understands. A whole cell of another language is empty."""
    if cell.source.lstrip().startswith("%%") and not re.match(r"\s*%%(time|timeit|capture)\b", cell.source):
        return ""
    if parses(cell.source):
        return cell.source
    plain = re.sub(r"^(?:[%!?].*|.*\w\?{1,2})$", "", cell.source, flags=re.M)
    if plain != cell.source and parses(plain):
        findings.append(f"magics and shell lines were left out{f' of the cell {cell.grade_id}' if cell.grade_id else ''}")
        return plain
    return cell.source


def _joined(code, names, findings):
    """Put the halves of a split answer cell together again, where the whole parses and the halves don't."""
    joined, pieces = [], Counter(label for label, _ in code)
    for label, source in code:
        split = label in names and 1 < pieces[label] <= HALVES and joined and joined[-1][0] == label
        if split and not (parses(joined[-1][1]) and parses(source)):
            whole = joined[-1][1] + "\n" + source
            if parses(whole):
                findings.append(f"the answer cell of {label} was split: its halves were joined")
                joined[-1] = (label, whole)
                continue
        joined.append((label, source))
    return joined


def _answer(notebook, exercise, pool, findings):
    """The last definition of the exercise's name, as Run All would leave it."""
    holders = pool.holders(exercise.name)
    if not holders:
        broken = next(
            (source for label, source in pool.broken if label == exercise.name or _mentions(source, exercise.name)),
            None,
        )
        if broken is not None:
            return Answer(broken)
        findings.append(f"no cell defines {exercise.name}")
        return Answer(None, attempted=False)
    if len(holders) > 1:
        findings.append(f"{exercise.name} is defined in {len(holders)} cells: the last one counts")
    holder = holders[-1]
    if pool.labels[holder] != exercise.name:
        findings.append(f"{exercise.name} was found by name, not in its own cell")
    source = pool.answer(holder, exercise.name)
    if is_blank(source, exercise.name) or _same_code(source, exercise.stub):
        return Answer(source, attempted=False)
    stood_in = [name for name in exercise.uses if notebook.exercise(name)]
    along = filter(None, map(notebook.exercise, exercise.along))
    own = [source for part in along for source in _own_part(exercise, part, pool, stood_in)]
    return Answer(source, (*pool.helpers(holder, exercise.name, without=stood_in), *own))


def _own_part(exercise, part, pool, stood_in):
    """The learner's answer to another exercise and what it needs, as sources; called own_NAME where a stand-in has its name."""
    holder = (pool.holders(part.name) or [None])[-1]
    source = pool.answer(holder, part.name) if holder is not None else ""
    if not source or is_blank(source, part.name) or _same_code(source, part.stub):
        return []
    if part.name in exercise.uses:
        source = f"stand_in = {part.name}\n{source}\nown_{part.name} = {part.name}\n{part.name} = stand_in"
    return [*pool.helpers(holder, part.name, without=stood_in), source]


def _mentions(source, name):
    return re.search(rf"^(?:def|class)\s+{name}\b", source, re.M) is not None


def _same_code(one, other):
    return ast.dump(ast.parse(one)) == ast.dump(ast.parse(other))


def parses(source):
    """Whether this is Python."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
