"""The source of an answer, with all that it needs of the notebook in which it was defined."""

import ast
import builtins
import inspect
import linecache
import symtable
import sys
import textwrap
from dataclasses import dataclass, field
from types import FunctionType, ModuleType

# Where an imported object is looked for before the module that it names as its own, which may be a private one.
PUBLIC_HOMES = ("math", "torch", "torch.nn", "torch.nn.functional", "numpy", "typing", "collections.abc")
CONSTANTS = (int, float, str, bool, type(None))


class NotCollectable(Exception):
    """An answer that can't stand outside its notebook; the message says why."""


@dataclass
class Pieces:
    """What makes an answer complete: import lines by the name that they bind, definitions by name in an order in which
    they can run (the answer is the last), and the names of other answers that it calls."""

    imports: dict = field(default_factory=dict)
    definitions: dict = field(default_factory=dict)
    borrowed: list = field(default_factory=list)


def gather(answer, exercises):
    """Collect the Pieces of an answer. `exercises` are the names of the course. Raises NotCollectable."""
    if "<locals>" in answer.__qualname__:
        raise NotCollectable("it is defined inside another function; define it at the left margin")
    pieces = Pieces()
    _define(answer.__name__, answer, _namespace(answer), set(exercises) - {answer.__name__}, pieces, {answer.__name__})
    return pieces


def _define(name, thing, namespace, exercises, pieces, seen):
    source = _source(thing)
    for needed in sorted(_global_names(source) - seen):
        seen.add(needed)
        if needed in namespace:
            _need(needed, namespace[needed], namespace, exercises, pieces, seen)
        elif not hasattr(builtins, needed) and not needed.startswith("__"):
            raise NotCollectable(f"it uses `{needed}`, which is not defined")
    pieces.definitions[name] = source


def _need(name, value, namespace, exercises, pieces, seen):
    home = getattr(value, "__module__", None)
    if isinstance(value, ModuleType):
        pieces.imports[name] = f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}")
    elif _is_constant(value):
        pieces.definitions[name] = f"{name} = {_literal(value)}"
    elif home in ("course_utils.pytorch_parts", "my_transformer") and _is_definition(value):
        if value.__name__ != name:
            raise NotCollectable(f"it uses `{name}`, another name for `{value.__name__}`; use that name itself")
        pieces.borrowed.append(name)
    elif home == namespace.get("__name__") and _is_definition(value):
        if name in exercises:
            pieces.borrowed.append(name)
        else:
            _define(name, value, namespace, exercises, pieces, seen)
    elif line := _import_line(name, value, home):
        pieces.imports[name] = line
    else:
        raise NotCollectable(f"it uses the notebook's variable `{name}`; hand it over as an argument instead")


def _is_constant(value):
    return type(value) in CONSTANTS or (type(value) is tuple and all(_is_constant(part) for part in value))


def _literal(value):
    """Source text of a constant; repr alone would write inf and nan as names."""
    if type(value) is tuple:
        return "(" + "".join(f"{_literal(part)}, " for part in value).rstrip() + ")"
    return f'float("{value}")' if isinstance(value, float) and value - value != 0 else repr(value)


def _is_definition(value):
    return isinstance(value, type) or isinstance(inspect.unwrap(value), FunctionType)


def _import_line(name, value, home):
    """The line that imports `value` under `name`, or None where no module holds it."""
    homes = PUBLIC_HOMES if home in (None, "__main__") else (*PUBLIC_HOMES, home)
    for module_name in homes:
        module = sys.modules.get(module_name)
        for attribute in (name, getattr(value, "__name__", name)):
            if module is not None and getattr(module, attribute, None) is value:
                return f"from {module_name} import {attribute}" + ("" if attribute == name else f" as {name}")
    return None


def _global_names(source):
    """The names that a definition looks up in its module, builtins included."""
    names = set()

    def visit(table, top):
        names.update(s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global()))
        for child in table.get_children():
            visit(child, False)

    visit(symtable.symtable(source, "<answer>", "exec"), True)
    return names


def _namespace(thing):
    function = inspect.unwrap(thing)
    return function.__globals__ if isinstance(function, FunctionType) else vars(sys.modules[thing.__module__])


def _source(thing):
    """The text of a function, a class or a named lambda, with its decorators. Raises NotCollectable."""
    for filename, line in _places(thing):
        if filename is None:
            continue
        linecache.checkcache(filename)
        text = "".join(linecache.getlines(filename))
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        for node in reversed(list(ast.walk(tree))):
            if _defines(node, thing.__name__, line):
                lines = text.splitlines()[_first_line(node) - 1 : node.end_lineno]
                return textwrap.dedent("\n".join(lines))
    raise NotCollectable(f"the source of `{thing.__name__}` can't be found; run its cell again")


def _places(thing):
    """(file, line) where a function or a method of a class begins; IPython keeps its cells as files of linecache."""
    if not isinstance(thing, type):
        code = inspect.unwrap(thing).__code__
        yield code.co_filename, code.co_firstlineno
        return
    for member in vars(thing).values():
        function = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", member)))
        if isinstance(function, FunctionType) and function.__qualname__ == f"{thing.__qualname__}.{function.__name__}":
            yield function.__code__.co_filename, function.__code__.co_firstlineno
    # A class without methods has no line of its own: the newest cell that defines its name.
    yield getattr(sys.modules.get(thing.__module__), "__file__", None), None
    for filename in reversed(list(linecache.cache)):
        if filename.startswith("<ipython") or "ipykernel" in filename:
            yield filename, None


def _defines(node, name, line):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        named = node.name == name
    else:
        named = name == "<lambda>" and isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda)
    return named and (line is None or _first_line(node) <= line <= node.end_lineno)


def _first_line(node):
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])
