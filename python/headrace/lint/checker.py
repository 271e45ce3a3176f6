# SPDX-License-Identifier: Apache-2.0
"""Go through a file's statements in order, and call the rules with what is known there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from headrace.lint.kinds import Kind, Names, annotated, kind_of
from headrace.lint.rules import message

#: Loops over fewer constants than this are no matter.
_FEW = 9


class Loop(NamedTuple):
    """A loop around a statement."""

    node: ast.For | ast.While | ast.AsyncFor | None  # None: a comprehension
    numbers: frozenset[str]  # names that count rows: of range, enumerate, or an index
    of_index: str  # the frame over whose index it goes, or empty
    targets: frozenset[str]


class Found(NamedTuple):
    """A node that a rule finds, and what is to be said."""

    node: ast.AST
    code: str
    message: str


#: Fields that hold no expression.
_PLAIN = {"ctx", "op", "ops", "id", "attr", "kind", "type_comment", "type_params", "conversion"}
_LEAVES = (ast.Name, ast.Constant)
_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _PLAIN)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_FIELDS.update(dict.fromkeys((ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal), ()))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

Check = Callable[["Checker", Any], None]


class Scope:
    """A function or the module: its names, its loops, and what rules remember of it."""

    def __init__(self, node: ast.AST, names: Names) -> None:
        self.node = node
        self.names = names
        self.loops: list[Loop] = []
        #: Read calls by the name of the list that they are appended to.
        self.reads: dict[str, list[tuple[ast.Call, str]]] = {}
        #: The read call by the name that holds its frame.
        self.read_by: dict[str, ast.Call] = {}
        #: `frame.column.to_numpy()` by the name of the frame.
        self.exports: dict[str, dict[str, ast.Call]] = {}


class Checker:
    """Collects what rules find in one file."""

    def __init__(self, tree: ast.Module, text: str, checks: dict[type, list[Check]]) -> None:
        self.tree, self.text, self.checks = tree, text, checks
        self.found: list[Found] = []
        self.functions: dict[str, ast.FunctionDef] = {}
        self.scope = Scope(tree, {})
        #: Operands of large operators, which their outermost operator reports.
        self.inner_operators: set[int] = set()
        #: How many `with pytest.raises(...)` are around this place.
        self.expected_errors = 0

    @property
    def names(self) -> Names:
        """What is known of names here."""
        return self.scope.names

    @property
    def loops(self) -> list[Loop]:
        """The loops around this place, the innermost last."""
        return self.scope.loops

    def report(self, node: ast.AST, code: str, *words: object) -> None:
        """A rule has found this; code that is meant to fail shows no way to write."""
        if not self.expected_errors:
            self.found.append(Found(node, code, message(code, *words)))

    def run(self) -> list[Found]:
        """Check the whole file."""
        self._block(self.tree.body)
        self._call(Scope, self.scope)
        return self.found

    def _call(self, kind: type, node: ast.AST | Scope) -> None:
        for check in self.checks.get(kind, ()):
            check(self, node)

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if type(statement) is ast.FunctionDef:
                self.functions[statement.name] = statement
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        handler = _STATEMENTS.get(type(node))
        if handler:
            handler(self, node)
            return
        blocks = []
        for name in node._fields:
            value = getattr(node, name, None)
            if type(value) is list:
                if value and isinstance(value[0], ast.stmt | ast.ExceptHandler | ast.match_case):
                    blocks.append(value)
                else:
                    for each in value:
                        if isinstance(each, ast.AST):
                            self.expression(each)
            elif isinstance(value, ast.AST):
                self.expression(value)
        self._call(type(node), node)
        for block in blocks:
            if isinstance(block[0], ast.stmt):
                self._block(block)
            else:
                for each in block:
                    self._block(each.body)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self._with_item(item)
        calls = [item.context_expr for item in node.items]
        fails = any(
            type(each) is ast.Call
            and type(each.func) is ast.Attribute
            and each.func.attr.startswith(("raises", "assertRaises", "suppress"))
            for each in calls
        )
        self.expected_errors += fails
        self._block(node.body)
        self.expected_errors -= fails

    def _with_item(self, node: ast.withitem) -> None:
        self.expression(node.context_expr)
        if node.optional_vars:
            self._forget(node.optional_vars)

    def expression(self, top: ast.AST) -> None:
        """Check an expression and all within, comprehensions and lambdas included."""
        left = [top]
        while left:
            node = left.pop()
            kind = type(node)
            if kind in _COMPREHENSIONS:
                self._comprehension(node)  # type: ignore[arg-type]
                continue
            if kind is ast.Lambda:
                self._inner(node, node.args, [node.body])  # type: ignore[attr-defined]
                continue
            if kind in self.checks:
                self._call(kind, node)
            for name in _FIELDS[kind]:
                value = getattr(node, name)
                if type(value) is list:
                    left += [v for v in value if type(v) not in _LEAVES and v is not None]
                elif value is not None and type(value) not in _LEAVES and type(value) is not str:
                    left.append(value)

    def _comprehension(self, node: ast.ListComp | ast.DictComp) -> None:
        former = self.names
        self.scope.names = dict(former)
        loops = len(self.loops)
        for each in node.generators:
            self.expression(each.iter)
            self._call(ast.comprehension, each)
            self.loops.append(self._loop(None, each.target, each.iter))
            self._forget(each.target)
            for test in each.ifs:
                self.expression(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        for part in parts:
            self.expression(part)
        del self.loops[loops:]
        self.scope.names = former

    def _inner(self, node: ast.AST, arguments: ast.arguments, body: list[ast.expr]) -> None:
        """The inside of a function: names of its own, and no loop around it."""
        outer = self.scope
        self.scope = Scope(node, dict(outer.names))
        given = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for each in (*given, arguments.vararg, arguments.kwarg):
            if each:
                self.names[each.arg] = annotated(each.annotation, outer.names)
        for part in body:
            self.expression(part)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._block(node.body)
            self._call(Scope, self.scope)
        self.scope = outer

    def _function(self, node: ast.FunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults):
            self.expression(each)
        self.names[node.name] = None
        self._inner(node, node.args, [])

    def _class(self, node: ast.ClassDef) -> None:
        outer = self.scope
        self.scope = Scope(node, dict(outer.names))
        self._block(node.body)
        self.scope = outer
        self.names[node.name] = None

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for each in node.names:
            if isinstance(node, ast.Import):
                path = each.name if each.asname else each.name.partition(".")[0]
                self.names[each.asname or path] = Kind("name", path)
            elif node.module and not node.level:
                self.names[each.asname or each.name] = Kind("name", f"{node.module}.{each.name}")

    def _forget(self, target: ast.expr) -> None:
        for each in ast.walk(target):
            if type(each) is ast.Name and type(each.ctx) is ast.Store:
                self.names[each.id] = None

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if node.value:
            self.expression(node.value)
        for target in targets:
            self.expression(target)
        self._call(ast.Assign, node)
        kind = kind_of(node.value, self.names)
        for target in targets:
            if type(target) is not ast.Name:
                self._forget(target)
            elif not isinstance(node, ast.AugAssign):
                self.names[target.id] = kind
                self.scope.read_by.pop(target.id, None)
                if type(node.value) is ast.Call:
                    self.scope.read_by[target.id] = node.value

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        self.expression(node.iter)
        self._call(ast.For, node)
        self._forget(node.target)
        self.loops.append(self._loop(node, node.target, node.iter))
        self._block(node.body)
        self.loops.pop()
        self._block(node.orelse)

    def _while(self, node: ast.While) -> None:
        self.expression(node.test)
        self.loops.append(Loop(node, frozenset(), "", frozenset()))
        self._block(node.body)
        self.loops.pop()
        self._block(node.orelse)

    def _loop(self, node: ast.For | ast.AsyncFor | None, target: ast.expr, of: ast.expr) -> Loop:
        targets = frozenset(each.id for each in ast.walk(target) if type(each) is ast.Name)
        first = target.elts[0] if type(target) is ast.Tuple and target.elts else target
        name = first.id if type(first) is ast.Name else ""
        numbers, of_index = frozenset[str](), ""
        if type(of) is ast.Call and type(of.func) is ast.Name:
            if of.func.id == "range" and type(target) is ast.Name and not _counts_columns(of):
                numbers = frozenset([name])
            elif of.func.id == "enumerate" and type(target) is ast.Tuple:
                kind = kind_of(of.args[0], self.names) if of.args else None
                numbers = frozenset([name]) if kind and kind.what == "series" else numbers
        elif type(of) is ast.Attribute and of.attr == "index" and type(of.value) is ast.Name:
            of_index = of.value.id
            numbers = frozenset([name])
        return Loop(node, numbers, of_index, targets)

    def row_loops(self) -> list[Loop]:
        """The loops around this place that may be long."""
        return [each for each in self.loops if each.node is None or not is_short(each.node)]


def is_short(node: ast.For | ast.While | ast.AsyncFor) -> bool:
    """Whether the loop runs over a few constants."""
    if isinstance(node, ast.While):
        return False
    of = node.iter
    if isinstance(of, ast.Tuple | ast.List | ast.Set):
        return len(of.elts) < _FEW and not any(type(each) is ast.Starred for each in of.elts)
    if type(of) is ast.Call and type(of.func) is ast.Name and of.func.id == "range":
        ends = [each.value for each in of.args if type(each) is ast.Constant]
        return len(ends) == len(of.args) and all(type(e) is int and e < _FEW for e in ends)
    return False


def _counts_columns(of: ast.Call) -> bool:
    """Whether `range` goes over columns, as far as its text tells."""
    words = ast.unparse(of)
    return any(word in words for word in ("columns", "shape[1]", "shape[-1]", "dtypes", "col"))


def parts_of(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes within, without those of inner functions."""
    left = [node]
    while left:
        each = left.pop()
        yield each
        left.extend(c for c in ast.iter_child_nodes(each) if not isinstance(c, _FUNCTIONS))


def same(left: ast.expr, right: ast.expr) -> bool:
    """Whether both are the same name, attribute, or column."""
    if type(left) is not type(right):
        return False
    if type(left) is ast.Name:
        return left.id == right.id  # type: ignore[attr-defined]
    if type(left) is ast.Attribute:
        return left.attr == right.attr and same(left.value, right.value)  # type: ignore[attr-defined]
    return False


def root_of(node: ast.expr) -> ast.expr:
    """The name whose column, part or method this is."""
    while type(node) in (ast.Attribute, ast.Subscript, ast.Call):
        node = node.func if type(node) is ast.Call else node.value  # type: ignore[attr-defined]
    return node


_STATEMENTS: dict[type, Callable[..., None]] = {
    ast.FunctionDef: Checker._function,
    ast.AsyncFunctionDef: Checker._function,
    ast.ClassDef: Checker._class,
    ast.Import: Checker._import,
    ast.ImportFrom: Checker._import,
    ast.Assign: Checker._assign,
    ast.AnnAssign: Checker._assign,
    ast.AugAssign: Checker._assign,
    ast.For: Checker._for,
    ast.AsyncFor: Checker._for,
    ast.While: Checker._while,
    ast.With: Checker._with,
    ast.AsyncWith: Checker._with,
}
