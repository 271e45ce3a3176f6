# SPDX-License-Identifier: Apache-2.0
"""Expressions over columns as text: parsed to a tree and walked, never evaluated as code."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.series import Series

if TYPE_CHECKING:
    from headrace.frame import DataFrame

#: Strings are left alone; then names in backticks, variables of the caller, and signs for words.
_PARTS = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|`([^`]*)`|@([A-Za-z_]\w*)|([&|])""")
_WORDS = {"&": " and ", "|": " or "}
_TARGET = re.compile(r"\s*(?:`([^`]+)`|([A-Za-z_]\w*))\s*=(?!=)(.*)", re.DOTALL)
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_EQUAL = (ast.Eq, ast.NotEq)
_UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.invert,
}
_METHODS = (
    *("abs", "between", "clip", "fillna", "round", "shift", "diff", "rank", "duplicated"),
    *("is_nan", "is_null", "isin", "isna", "isnull", "notna", "notnull"),
    *("sum", "mean", "median", "min", "max", "std", "var", "count", "quantile"),
)
_FUNCTIONS = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arctan2"),
    *("exp", "expm1", "log", "log1p", "log10", "sqrt", "abs", "floor", "ceil"),
)


class _Walk:
    def __init__(self, text: str, frame: DataFrame, variables: Mapping[str, Any]) -> None:
        self.text, self.frame, self.variables = text, frame, variables
        self.names: dict[str, str] = {}  # stand-in: column
        self.values: dict[str, str] = {}  # stand-in: variable

    def run(self) -> Any:
        plain = _PARTS.sub(self._stand_in, self.text.strip())
        try:
            tree = ast.parse(plain, mode="eval")
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise InvalidArgumentError(
                f"query: this is no expression: text={self.text!r}, reason={error.args[0]!r}"
            ) from None
        return self._value(tree.body)

    def _stand_in(self, match: re.Match[str]) -> str:
        literal, column, variable, sign = match.groups()
        if literal is not None:
            return literal
        if sign is not None:
            return _WORDS[sign]
        names, text = (self.names, column) if column is not None else (self.values, variable)
        word = f"_{'column' if names is self.names else 'variable'}_{len(names)}_"
        names[word] = text
        return word

    def _refuse(self, what: str, node: ast.AST) -> InvalidArgumentError:
        at = ast.unparse(node)
        for word, name in (*self.names.items(), *self.values.items()):
            at = at.replace(word, f"@{name}" if word in self.values else f"`{name}`")
        return InvalidArgumentError(
            f"query: {what} has no meaning here: at={at!r}, text={self.text!r}"
        )

    def _value(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool | int | float | str) or node.value is None:
                return node.value
        elif isinstance(node, ast.Name):
            return self._name(node.id)
        elif isinstance(node, ast.List | ast.Tuple):
            return [self._value(each) for each in node.elts]
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
            return _BINARY[type(node.op)](self._value(node.left), self._value(node.right))
        elif isinstance(node, ast.UnaryOp):
            value = self._value(node.operand)
            if isinstance(node.op, ast.Not) and not isinstance(value, Series):
                return not value
            return _UNARY[type(node.op)](value)
        elif isinstance(node, ast.BoolOp):
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            parts = [self._value(each) for each in node.values]
            result = parts[0]
            for part in parts[1:]:
                result = join(result, part)
            return result
        elif isinstance(node, ast.Compare):
            return self._compare(node)
        elif isinstance(node, ast.Call):
            return self._call(node)
        elif isinstance(node, ast.Attribute):
            return self._attribute(node)
        elif isinstance(node, ast.Subscript) and self._is_of_variable(node):
            try:
                return self._value(node.value)[self._value(node.slice)]
            except (LookupError, TypeError):
                pass
        raise self._refuse(type(node).__name__, node)

    def _name(self, name: str) -> Any:
        if name in self.values:
            variable = self.values[name]
            if variable not in self.variables:
                raise InvalidArgumentError(
                    f"query: no such variable: name={variable!r}, text={self.text!r}"
                )
            return self.variables[variable]
        name = self.names.get(name, name)
        if name == "index" and name not in self.frame:
            return self.frame.index
        return self.frame[name]

    def _compare(self, node: ast.Compare) -> Any:
        result = None
        left = self._value(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self._value(each)
            if isinstance(op, ast.In | ast.NotIn):
                if not isinstance(left, Series):
                    raise self._refuse("in without a column on its left", node)
                found = left.isin(right)
                part = ~found if isinstance(op, ast.NotIn) else found
            elif isinstance(right, list) and isinstance(left, Series) and type(op) in _EQUAL:
                found = left.isin(right)
                part = ~found if isinstance(op, ast.NotEq) else found
            elif type(op) in _COMPARE and right is not None and left is not None:
                part = _COMPARE[type(op)](left, right)
            else:
                raise self._refuse("this comparison (is_null() finds nulls)", node)
            result = part if result is None else result & part
            left = right
        return result

    def _is_of_variable(self, node: ast.AST) -> bool:
        """Whether this is a variable of the caller, or an item or attribute of one."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.values

    def _attribute(self, node: ast.Attribute) -> Any:
        """What a column has by name: `.str`, `.dt` and the fields of these; that of a variable."""
        owner = self._value(node.value)
        if self._is_of_variable(node) and not node.attr.startswith("_"):
            try:
                return getattr(owner, node.attr)
            except AttributeError:
                raise self._refuse(f"{node.attr} of this", node) from None
        if isinstance(owner, Series) and node.attr in ("str", "dt"):
            return getattr(owner, node.attr)
        if _is_accessor(owner) and not node.attr.startswith("_") and hasattr(owner, node.attr):
            return getattr(owner, node.attr)
        raise self._refuse(f"{node.attr} of this", node)

    def _call(self, node: ast.Call) -> Any:
        target = node.func
        values = [self._value(each) for each in node.args]
        options = {each.arg: self._value(each.value) for each in node.keywords if each.arg}
        if isinstance(target, ast.Name) and target.id in _FUNCTIONS and not options:
            import numpy as np

            return getattr(np, target.id)(*values)
        if not isinstance(target, ast.Attribute):
            raise self._refuse(f"a call of anything but {', '.join(_FUNCTIONS)}", node)
        owner = self._value(target.value)
        if isinstance(owner, Series) and target.attr in _METHODS:
            return getattr(owner, target.attr)(*values, **options)
        if _is_accessor(owner):
            method = self._attribute(target)
            if callable(method):
                return method(*values, **options)
        raise self._refuse(f"a call of anything but {', '.join(_METHODS)}", node)


def _is_accessor(value: Any) -> bool:
    return type(value).__name__ in ("TextAccessor", "TimeAccessor", "DurationAccessor")


def target_of(text: str) -> tuple[str | None, str]:
    """The name before ``=`` in a text, if there is one, and the expression."""
    match = _TARGET.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None, text
    return match[1] or match[2], match[3]


def evaluate(text: str, frame: DataFrame, variables: Mapping[str, Any]) -> Any:
    """The series (or plain value) that the text stands for; nothing runs yet.

    Names are columns (in backticks if they are no words), ``@name`` is a variable.
    """
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgumentError(f"query: a text is wanted: text={text!r}")
    return _Walk(text, frame, variables).run()
