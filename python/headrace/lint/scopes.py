# SPDX-License-Identifier: Apache-2.0
"""Rules for all of a function: how often a frame is exported, and which columns it uses."""

from __future__ import annotations

import ast
import re

from headrace.lint.checker import Check, Checker, Scope, parts_of
from headrace.lint.kinds import FRAMES, keyword, library_function

#: Exports of one frame from which on HR014 reports, and columns up to which HR015 does.
_MANY, _A_FEW = 3, 3
#: The option of a reader that takes columns.
_COLUMNS = {
    ("pandas", "read_csv"): "usecols",
    ("cudf", "read_csv"): "usecols",
    ("pandas", "read_table"): "usecols",
}
_READERS = ("read_csv", "read_table", "read_parquet", "read_feather", "read_ipc")


def _column(node: ast.expr) -> tuple[str, str] | None:
    """The frame's name and the column's, of `frame.a` or `frame["a"]`."""
    if type(node) is ast.Attribute and type(node.value) is ast.Name:
        return node.value.id, node.attr
    if type(node) is ast.Subscript and type(node.value) is ast.Name:
        key = node.slice.value if type(node.slice) is ast.Constant else None
        return (node.value.id, key) if type(key) is str else None
    return None


def exported(checker: Checker, node: ast.Call) -> None:
    """Remember `frame.a.to_numpy()` of lazy frames."""
    if type(node.func) is not ast.Attribute or node.func.attr != "to_numpy":
        return
    if found := _column(node.func.value):
        kind = checker.names.get(found[0])
        if kind and (kind.what, kind.library) == ("frame", "headrace"):
            checker.scope.exports.setdefault(found[0], {}).setdefault(found[1], node)


def many_exports(checker: Checker, scope: Scope) -> None:
    """HR014: `a = frame.a.to_numpy(); b = frame.b.to_numpy(); ...`."""
    for name, columns in scope.exports.items():
        if len(columns) >= _MANY:
            last = list(columns.values())[_MANY - 1]
            checker.report(last, "HR014", len(columns), name)


def few_columns(checker: Checker, scope: Scope) -> None:
    """HR015: a file is read whole, and one or two of its columns are used."""
    node = scope.node
    if type(node) not in (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module):
        return
    reads: dict[str, ast.Call] = {}
    for each in parts_of(node):
        if type(each) is ast.Assign and len(each.targets) == 1:
            target, value = each.targets[0], each.value
            if type(target) is ast.Name and type(value) is ast.Call:
                library, word = library_function(value.func, scope.names)
                if library in FRAMES and word in _READERS and not _is_in_memory(value):
                    reads[target.id] = value
    for name, read in reads.items():
        if not keyword(read, "usecols", "columns", "names", "chunksize", "iterator", "header"):
            _report_few(checker, scope, name, read)


def _is_in_memory(read: ast.Call) -> bool:
    """Whether this reads what the line itself makes, such as `StringIO(text)`."""
    return bool(read.args) and type(read.args[0]) is ast.Call and "IO(" in ast.unparse(read.args[0])


def _report_few(checker: Checker, scope: Scope, name: str, read: ast.Call) -> None:
    columns: dict[str, None] = {}
    counted = 1  # the assignment
    names = 0
    for each in ast.walk(scope.node):
        names += type(each) is ast.Name and each.id == name
        if type(each) is not ast.Subscript or type(each.value) is not ast.Name:
            continue
        if each.value.id != name or type(each.ctx) is not ast.Load:
            continue
        keys = each.slice.elts if type(each.slice) is ast.List else [each.slice]
        if all(type(k) is ast.Constant and type(k.value) is str for k in keys):
            columns.update(dict.fromkeys(k.value for k in keys))  # type: ignore[attr-defined]
            counted += 1
    if names != counted or not 0 < len(columns) <= _A_FEW:
        return
    if type(scope.node) is ast.Module:
        mentions = len(re.findall(rf"\b{re.escape(name)}\b", checker.text))
        if mentions != counted:
            return
    library, word = library_function(read.func, scope.names)
    option = _COLUMNS.get((library, word), "columns")
    few = f"{len(columns)} {'is' if len(columns) == 1 else 'are'}"
    checker.report(read, "HR015", word, few, option, ", ".join(map(repr, columns)))


CHECKS: dict[type, list[Check]] = {ast.Call: [exported], Scope: [many_exports, few_columns]}
