"""my_transformer.py: the file beside the notebook in which a learner's passing answers become one model."""

import ast
import linecache
import re
import sys
from pathlib import Path
from types import ModuleType

from course_utils import manifest
from course_utils.files import explain, write_whole
from course_utils.pytorch_parts import PARTS
from course_utils.sources import NotCollectable, gather

FILE = "my_transformer.py"
MODULE = "my_transformer"
HEADER = """\
# Your Transformer, part by part: each answer came here when it passed its public checks.
# The next pass of an answer replaces the section of its name. What you write in other sections stays.
"""
IMPORTS = "imports"
MARK = re.compile(r"^# %% (\w+)[ \t]*$", re.MULTILINE)


def collect(answer):
    """Write a passing answer into my_transformer.py, with all that it needs. Returns a line that says what was done.

    A file that can't be read or parsed is left as it is.
    """
    path = Path.cwd() / FILE
    try:
        course = manifest.load()
        pieces = gather(answer, course.exercises)
        before = read(path)
        after = _merge(before, answer.__name__, pieces, course)
        if after != before:
            execute(after, path)
    except NotCollectable as reason:
        return f"not added to {FILE}: {reason}"
    except (Exception, SystemExit) as error:
        return f"not added to {FILE}, which would stop with {explain(error, path)}. Mend that, and check again"
    try:
        write_whole(path, after)
    except OSError as error:
        return f"not added to {FILE}: the file can't be written ({error.strerror})"
    return f"added to {FILE}"


def read(path):
    """The text of my_transformer.py, "" where there is none. Raises NotCollectable where it is broken."""
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        ast.parse(text)
    except FileNotFoundError:
        return ""
    except OSError as error:
        reason = f"the file can't be read ({error.strerror})"
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        reason = f"line {line} of the file is not UTF-8 text"
    except SyntaxError as error:
        reason = f"line {error.lineno} of the file is not Python ({error.msg})"
    except ValueError as error:
        reason = f"the file is not Python ({error})"
    else:
        return text
    raise NotCollectable(f"{reason}. Mend it or give the file another name, and check again")


def execute(text, path):
    """Run the text of my_transformer.py as a fresh module, which then stands in sys.modules, and return it.

    Raises whatever the text raises; then sys.modules is as before.
    """
    module = ModuleType(MODULE)
    module.__file__ = str(path)
    before = sys.modules.get(MODULE)
    # Dataclasses look their own module up while they are being made.
    sys.modules[MODULE] = module
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[MODULE]
        if before is not None:
            sys.modules[MODULE] = before
        raise
    linecache.checkcache(str(path))
    return module


def _merge(text, name, pieces, course):
    """The text of the file with the section of one answer put in or replaced. Raises NotCollectable."""
    header, sections = _split(text)
    _update_helpers(sections, name, pieces.definitions, course)
    sections[name] = "\n\n\n".join(pieces.definitions.values())
    wanted = dict(pieces.imports)
    present = _top_level_names(sections)
    for borrowed in pieces.borrowed:
        if borrowed not in present:
            if borrowed not in PARTS:
                raise NotCollectable(f"it calls `{borrowed}`, which is not there yet; run check({borrowed}) first")
            wanted[borrowed] = f"from course_utils.parts import {borrowed}"
    sections[IMPORTS] = _merge_imports(sections.get(IMPORTS, ""), wanted, present)
    blocks = [f"# %% {title}\n{sections[title]}".rstrip() for title in _in_order(sections, name, course)]
    return "\n\n\n".join([header.rstrip(), *blocks]) + "\n"


def _split(text):
    """The header, and {title: text below its mark} in the order of the file."""
    header, *rest = MARK.split(text) if text else [HEADER]
    return header, {title: body.strip("\n") for title, body in zip(rest[::2], rest[1::2], strict=True)}


def _in_order(sections, name, course):
    """Titles as they stand in the file; a new one goes before the first answer that comes later in the course."""
    rank = {exercise: place for place, exercise in enumerate(course.exercises)}
    titles = [title for title in sections if title not in (IMPORTS, name)]
    if list(sections).index(name) < len(titles):
        titles = [title for title in sections if title != IMPORTS]
    else:
        later = (place for place, title in enumerate(titles) if rank.get(title, -1) > rank[name])
        titles.insert(next(later, len(titles)), name)
    return [IMPORTS, *titles]


def _update_helpers(sections, name, definitions, course):
    """Bring a helper that other answers of the same notebook use up to date; the file has room for one of each name.

    Raises NotCollectable where an answer of another notebook needs another helper of the same name.
    """
    notebook = course.find(name).notebook
    for title, body in sections.items():
        if title in (IMPORTS, name):
            continue
        for helper, found in _definitions(body).items():
            if helper not in definitions or helper == name or found == definitions[helper]:
                continue
            if title not in course.exercises or course.find(title).notebook != notebook:
                raise NotCollectable(f"its `{helper}` differs from the one in section {title}; give it another name")
            sections[title] = sections[title].replace(found, definitions[helper])


def _definitions(body):
    """{name: source} of what a section defines at its top level."""
    found = {}
    lines = body.splitlines()
    for node in ast.parse(body).body:
        first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
        source = "\n".join(lines[first - 1 : node.end_lineno])
        targets = [target.id for target in getattr(node, "targets", []) if isinstance(target, ast.Name)]
        found.update(dict.fromkeys(targets + [node.name] if hasattr(node, "name") else targets, source))
    return found


def _top_level_names(sections):
    return {name for title, body in sections.items() if title != IMPORTS for name in _definitions(body)}


def _merge_imports(body, wanted, present):
    """The lines of the imports section, with the wanted ones that it lacks. Raises NotCollectable for a name taken."""
    stale = {f"from course_utils.parts import {name}" for name in present}
    lines = [line for line in body.splitlines() if line.strip() not in stale]
    bound = _bindings("\n".join(lines))
    for name, line in wanted.items():
        if name not in bound:
            lines.append(line)
        elif bound[name] != line:
            raise NotCollectable(f"it needs `{line}`, and the file has `{bound[name]}`; import it under another name")
    return "\n".join(lines)


def _bindings(body):
    """{name: the import line that binds it}, one line for each name."""
    found = {}
    for node in ast.walk(ast.parse(body)):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                single = ast.Import([alias]) if isinstance(node, ast.Import) else ast.ImportFrom(node.module, [alias], node.level)
                found[alias.asname or alias.name.split(".")[0]] = ast.unparse(single)
    return found
