"""Which statements of a notebook an answer needs: its own, and the helpers that they name, one after the other."""

import ast
import builtins
import re
import symtable


class Pool:
    """All code cells of a notebook. Cells are known by their position; `labels` are their grade_ids, None without."""

    def __init__(self, cells):
        self.labels, self.broken = [], []
        self._statements = []  # for each cell, pairs of a statement and the names that it binds
        for label, source in cells:
            try:
                statements = ast.parse(source).body
                used(statements)  # what the compiler refuses is left to the worker as it is
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self.broken.append((label, source))
                continue
            self.labels.append(label)
            self._statements.append([(statement, bound(statement)) for statement in statements])

    def holders(self, name):
        """Positions of the cells that bind `name` at their top level."""
        return [place for place, statements in enumerate(self._statements) if any(name in names for _, names in statements)]

    def answer(self, holder, name):
        """The source of an answer cell without bare expressions: printing, plotting and training are not part of an answer."""
        kept = [each for each, names in self._statements[holder] if not isinstance(each, ast.Expr) or name in names]
        return "\n".join(map(ast.unparse, kept))

    def helpers(self, holder, name, without):
        """The statements of other cells that the answer needs, as sources in order. Names in `without` are not looked up."""
        foreign = {name, *without}
        wanted = used([statement for statement, _ in self._statements[holder]]) - foreign
        taken, known = {}, set()
        while new := wanted - known:
            known |= new
            for place, statements in enumerate(self._statements):
                for number, (statement, names) in enumerate(statements):
                    if place != holder and (place, number) not in taken and names & new and name not in names:
                        taken[place, number] = statement
                        wanted |= used([statement]) - foreign
        return tuple(ast.unparse(taken[where]) for where in sorted(taken))


def bound(statement):
    """The names that a top-level statement binds, or changes an attribute or an item of."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).split(".")[0] for alias in statement.names}
    names = set()
    for node in _own_scope(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            names |= {root} if (root := _root(node)) else set()
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return names


def used(statements):
    """The global names that statements read, also from inside their functions; local names and builtins don't count."""
    table = symtable.symtable("\n".join(map(ast.unparse, statements)), "<cell>", "exec")
    names = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    inner = table.get_children()
    while inner:
        scope = inner.pop()
        names |= {symbol.get_name() for symbol in scope.get_symbols() if symbol.is_global() and symbol.is_referenced()}
        inner.extend(scope.get_children())
    return {name for name in names if not hasattr(builtins, name)}


def is_blank(source, name):
    """Whether the definition does nothing yet: only a docstring, pass, ..., or raise NotImplementedError."""
    node = next((each for each in reversed(ast.parse(source).body) if name in bound(each)), None)
    if not isinstance(node, ast.FunctionDef):
        return False
    return all(_does_nothing(statement) for statement in node.body)


def _does_nothing(statement):
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Raise) and re.match(r"raise NotImplementedError\b", ast.unparse(statement)) is not None


def _own_scope(statement):
    """The nodes of a statement, without what lies inside functions and classes."""
    todo = [statement]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo.extend(ast.iter_child_nodes(node))


def _root(node):
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
