# SPDX-License-Identifier: Apache-2.0
"""Rules for loops: rows in Python, growing frames, single elements, files and merges one by one."""

from __future__ import annotations

import ast

from headrace.lint.checker import Check, Checker, parts_of, same
from headrace.lint.kinds import FILES, FRAMES, keyword, kind_of, library_function

_ROWS = ("iterrows", "itertuples", "iter_rows")
_GROW = ("concat", "concatenate", "append", "hstack", "vstack", "column_stack")
_MERGE = ("merge", "join", "merge_asof", "merge_ordered")
#: Options that only the joins of frames have.
_OF_MERGE = ("on", "left_on", "right_on", "how", "left_index", "right_index", "suffixes", "by")


def rows_in_python(checker: Checker, node: ast.For | ast.comprehension) -> None:
    """HR001: `for _, row in frame.iterrows()`."""
    of = node.iter
    while isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.args:
        of = of.args[0]  # enumerate(...), zip(...), list(...), tqdm(...)
    if type(of) is not ast.Call or type(of.func) is not ast.Attribute:
        return
    name = keyword(of, "name")  # None: an export of rows as tuples
    if of.func.attr in _ROWS and not (type(name) is ast.Constant and name.value is None):
        checker.report(of, "HR001", of.func.attr)


def _is_grown(checker: Checker, target: ast.expr, value: ast.expr) -> bool:
    """Whether the innermost loop keeps what it has added to the target so far."""
    loop = checker.loops[-1]
    if loop not in checker.row_loops() or loop.node is None:
        return False
    if type(target) is ast.Name and target.id in loop.targets:
        return False
    for each in parts_of(loop.node):
        if type(each) is ast.Assign and each.value is not value:
            for other in each.targets:
                others = other.elts if isinstance(other, ast.Tuple | ast.List) else [other]
                if any(same(o, target) for o in others) and not any(
                    same(part, target)
                    for part in ast.walk(each.value)
                    if type(part) is type(target)
                ):
                    return False
    return True


def _own(value: ast.Call, target: ast.expr) -> bool:
    """Whether the first argument is, or begins with, the target."""
    if not value.args:
        return False
    first = value.args[0]
    parts = first.elts if type(first) in (ast.List, ast.Tuple) else [first]  # type: ignore[attr-defined]
    return any(same(part, target) for part in parts)


def grown_in_loop(checker: Checker, node: ast.Assign) -> None:
    """HR002 and HR012: `x = concat([x, ...])` and `x = x.merge(...)` in a loop."""
    if not checker.loops or type(node) is not ast.Assign or len(node.targets) != 1:
        return
    target, value = node.targets[0], node.value
    if type(value) is not ast.Call or type(target) not in (ast.Name, ast.Attribute):
        return
    library, word = library_function(value.func, checker.names)
    if library:
        grows = library in (*FRAMES, "numpy") and word in _GROW and _own(value, target)
        merges = library in FRAMES and word in _MERGE and _own(value, target)
    elif type(value.func) is ast.Attribute and same(value.func.value, target):
        word = value.func.attr
        grows = word == "append" and bool(value.args)
        kind = kind_of(target, checker.names)
        known = bool(kind and kind.what in ("frame", "lazy")) or keyword(value, *_OF_MERGE)
        merges = word in _MERGE and bool(known) and bool(value.args)
    else:
        return
    if (grows or merges) and _is_grown(checker, target, value):
        checker.report(value, "HR002" if grows else "HR012", word)


def _counts(node: ast.expr, numbers: set[str]) -> bool:
    """Whether this is a row number of a loop, or one before or after it."""
    if type(node) is ast.BinOp and type(node.op) in (ast.Add, ast.Sub):
        return _counts(node.left, numbers) and type(node.right) is ast.Constant
    return type(node) is ast.Name and node.id in numbers


def _element(checker: Checker, node: ast.expr) -> str:
    """The attribute through which this reads one row by the number of a loop; empty if none."""
    if type(node) is not ast.Subscript or type(node.ctx) is not ast.Load:
        return ""
    loops = checker.row_loops()
    numbers = {name for loop in loops for name in loop.numbers}
    key = node.slice
    row = key.elts[0] if type(key) is ast.Tuple and key.elts else key
    if not numbers or not _counts(row, numbers):
        return ""
    if type(key) is ast.Tuple and any(type(e) is ast.Slice for e in key.elts):
        return ""
    of = node.value
    if type(of) is ast.Attribute and of.attr in ("iloc", "iat"):
        return f".{of.attr}[i]" if not _of_few(of.value) else ""
    if type(of) is ast.Attribute and of.attr in ("loc", "at") and type(of.value) is ast.Name:
        is_label = any(loop.of_index == of.value.id for loop in loops)
        return f".{of.attr}[i]" if is_label else ""
    return "[i]" if type(key) is not ast.Tuple else ""


def _of_few(node: ast.expr) -> bool:
    """Whether this has an entry for each column instead of each row."""
    return type(node) is ast.Attribute and node.attr in ("dtypes", "columns")


def element_read(checker: Checker, node: ast.AST) -> None:
    """HR004: `.iloc[i]`, `x[i].item()` and `float(series[i])` in a loop over row numbers."""
    if not checker.loops:
        return
    if type(node) is ast.Subscript:
        way = _element(checker, node)
        if way.startswith("."):
            checker.report(node, "HR004", way)
    elif type(node) is ast.Call and type(node.func) is ast.Attribute:
        if (
            node.func.attr == "item"
            and not node.args
            and _element(checker, node.func.value) == "[i]"
        ):
            checker.report(node, "HR004", ".item()")
    elif type(node) is ast.Call and type(node.func) is ast.Name and len(node.args) == 1:
        of = node.args[0]
        if node.func.id in ("float", "int") and _element(checker, of) == "[i]":
            kind = kind_of(of.value, checker.names)  # type: ignore[attr-defined]
            if kind and (kind.what == "series" or kind == ("array", "headrace", 0, "")):
                checker.report(node, "HR004", f"{node.func.id}(x[i])")


def _read(checker: Checker, node: ast.expr | None) -> tuple[ast.Call, str] | None:
    """The call that reads a whole file, and its word."""
    if type(node) is not ast.Call:
        return None
    library, word = library_function(node.func, checker.names)
    if library in FRAMES and word in FILES and not keyword(node, "chunksize", "iterator"):
        return node, word
    return None


def read_appended(checker: Checker, node: ast.Call) -> None:
    """Remember lists of frames that a loop reads."""
    is_append = type(node.func) is ast.Attribute and node.func.attr == "append"
    if not is_append or not checker.row_loops() or len(node.args) != 1:
        return
    owner = node.func.value  # type: ignore[attr-defined]
    value = node.args[0]
    if type(value) is ast.Name:
        value = checker.scope.read_by.get(value.id, value)
    if type(owner) is ast.Name and (read := _read(checker, value)):
        checker.scope.reads.setdefault(owner.id, []).append(read)


def reads_listed(checker: Checker, node: ast.Assign) -> None:
    """Remember names of comprehensions that read files."""
    if type(node) is ast.Assign and type(node.value) is ast.ListComp:
        target = node.targets[0]
        if type(target) is ast.Name and (read := _read(checker, node.value.elt)):
            checker.scope.reads[target.id] = [read]


def reads_joined(checker: Checker, node: ast.Call) -> None:
    """HR011: `concat` of frames that a loop reads."""
    library, word = library_function(node.func, checker.names)
    if library not in FRAMES or word != "concat" or not node.args:
        return
    parts = node.args[0]
    axis = keyword(node, "axis")
    if type(axis) is ast.Constant and axis.value in (1, "columns"):
        return
    if type(parts) is ast.Name:
        for read, name in checker.scope.reads.get(parts.id, ()):
            checker.report(read, "HR011", name)
    elif isinstance(parts, ast.ListComp | ast.GeneratorExp):
        if one := _read(checker, parts.elt):
            checker.report(one[0], "HR011", one[1])
    elif type(parts) is ast.Call and type(parts.func) is ast.Name and parts.func.id == "map":
        library, name = library_function(parts.args[0], checker.names) if parts.args else ("", "")
        if library in FRAMES and name in FILES:
            checker.report(parts, "HR011", name)


CHECKS: dict[type, list[Check]] = {
    ast.For: [rows_in_python],
    ast.comprehension: [rows_in_python],
    ast.Assign: [grown_in_loop, reads_listed],
    ast.Subscript: [element_read],
    ast.Call: [element_read, read_appended, reads_joined],
}
