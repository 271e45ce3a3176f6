# SPDX-License-Identifier: Apache-2.0
"""Expressions over columns as strings: parsed to a tree and walked, never run as code.

The cost of an expression is bounded: its length, depth, number of column operations, constant
arithmetic (see `query_values`), and growth of strings.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import Error, InvalidArgumentError
from headrace.lazy.handle import Deferred
from headrace.lazy.query_values import LONGEST, UnknownValueError, computed, field, item, known
from headrace.series.column import Column, is_series, series_of
from headrace.series.datetime import TimeAccessor
from headrace.series.duration import DurationAccessor
from headrace.series.strings import TextAccessor

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

#: String literals are skipped; then backticked names, caller variables, and operators for words; an
#: unmatched quote opens an unterminated string.
_PARTS = re.compile(
    r"""("(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+')|`([^`]*+)`|@([A-Za-z_]\w*)|([&|])|(["'])""",
    re.DOTALL,
)
_WORDS = {"&": " and ", "|": " or "}
_TARGET = re.compile(r"\s*+(?:`([^`]+)`|([A-Za-z_]\w*+))\s*+=(?!=)(.*)", re.DOTALL)
_DEEPEST = 100  # nesting levels
_MOST = 2500  # operations on columns, about 0.1 ms each
_SHOWN = 200  # characters of an expression in a message
_LONGER = 1000  # limit on the growth of strings in a column
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
        self.plain = ""
        self.prefix = "_"  # of placeholders
        while f"{self.prefix}column_" in text or f"{self.prefix}variable_" in text:
            self.prefix += "_"
        self.names: dict[str, str] = {}  # placeholder: column
        self.values: dict[str, str] = {}  # placeholder: variable
        self.depth = self.operations = 0
        self.longer = 1

    def run(self) -> Any:
        self.plain = _PARTS.sub(self._stand_in, self.text).strip()
        try:
            tree = ast.parse(self.plain, mode="eval")
        except (MemoryError, RecursionError):  # as Python's parser words it
            raise self._too("nested too deeply") from None
        except (SyntaxError, ValueError, Warning) as error:
            reason = error.msg if isinstance(error, SyntaxError) else error
            raise self._no_expression(str(reason)) from None
        try:
            return self._operand(tree.body)
        except Error:
            raise
        except RecursionError:
            raise self._too("nested too deeply") from None
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, Warning) as e:
            raise InvalidArgumentError(f"query: {e}: text={cut(self.text)!r}") from e

    def _stand_in(self, match: re.Match[str]) -> str:
        literal, column, variable, sign, quote = match.groups()
        if quote is not None:
            raise self._no_expression("unterminated string literal")
        if literal is not None:
            return literal
        if sign is not None:
            return _WORDS[sign]
        names, text = (self.names, column) if column is not None else (self.values, variable)
        word = f"{self.prefix}{'column' if names is self.names else 'variable'}_{len(names)}_"
        names[word] = text
        return f" {word} "  # or two names would merge

    def _no_expression(self, reason: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"query: invalid syntax: text={cut(self.text)!r}, reason={reason!r}"
        )

    def _too(self, what: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"query: the expression is {what}: text={cut(self.text)!r}; combine masks "
            "instead, as df[(df.x > 1) & ...]"
        )

    def _refuse(self, what: str, node: ast.AST) -> InvalidArgumentError:
        at = cut(ast.get_source_segment(self.plain, node) or "")
        at = re.sub(
            rf" ?{self.prefix}(column|variable)_\d+_ ?",
            lambda m: self._written(m[0].strip()),
            at,
        )
        return InvalidArgumentError(
            f"query: {what} is not supported here: at={at!r}, text={cut(self.text)!r}"
        )

    def _written(self, word: str) -> str:
        return f"@{self.values[word]}" if word in self.values else f"`{self.names.get(word, word)}`"

    def _operand(self, node: ast.AST) -> Any:
        """The value of a subexpression, as the engine's operand."""
        try:
            return known(self._value(node))
        except UnknownValueError as error:
            raise self._refuse(str(error), node) from None

    def _count(self) -> None:
        self.operations += 1
        if self.operations > _MOST:
            raise self._too(f"too complex (more than {_MOST} operations on columns)")

    def _apply(self, node: ast.AST, op: Callable[..., Any], *values: Any) -> Any:
        """Apply an operation to columns or constants."""
        if any(isinstance(value, Deferred) for value in values):
            self._count()
            return op(*values)
        try:
            return computed(op, *values)
        except UnknownValueError as error:
            raise self._refuse(str(error), node) from None

    def _value(self, node: ast.AST) -> Any:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._too("nested too deeply")
        value = self._part(node)
        self.depth -= 1
        return value

    def _part(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, bool | int | float | str) or node.value is None:
                return node.value
        elif isinstance(node, ast.Name):
            return self._name(node.id)
        elif isinstance(node, ast.List | ast.Tuple):
            return [self._operand(each) for each in node.elts]
        elif isinstance(node, ast.BinOp):
            return self._binary(node)
        elif isinstance(node, ast.UnaryOp):
            value = self._operand(node.operand)
            plain = isinstance(node.op, ast.Not) and not is_series(value)
            return self._apply(node, operator.not_ if plain else _UNARY[type(node.op)], value)
        elif isinstance(node, ast.BoolOp):
            join = operator.and_ if isinstance(node.op, ast.And) else operator.or_
            result = self._operand(node.values[0])
            for each in node.values[1:]:
                result = self._apply(node, join, result, self._operand(each))
            return result
        elif isinstance(node, ast.Compare):
            return self._compare(node)
        elif isinstance(node, ast.Call):
            return self._call(node)
        elif isinstance(node, ast.Attribute):
            return self._attribute(node)
        elif isinstance(node, ast.Subscript) and self._is_of_variable(node):
            try:
                return item(self._value(node.value), self._operand(node.slice))
            except (LookupError, TypeError):
                pass
        raise self._refuse(type(node).__name__, node)

    def _binary(self, node: ast.BinOp) -> Any:
        """Walk chained operations without recursion: `a + b + c` is as deep as `a`."""
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        value = self._operand(spine[-1].left)
        for each in reversed(spine):
            if type(each.op) not in _BINARY:
                raise self._refuse(type(each.op).__name__, each)
            right = self._operand(each.right)
            value = self._apply(each, _BINARY[type(each.op)], value, right)
        return value

    def _name(self, name: str) -> Any:
        if name in self.values:
            variable = self.values[name]
            if variable not in self.variables or variable.startswith("__"):
                raise InvalidArgumentError(
                    f"query: no such variable: name={cut(variable)!r}, text={cut(self.text)!r}"
                )
            return self.variables[variable]
        name = self.names.get(name, name)
        if name == "index" and name not in self.frame:
            return self.frame.index
        if name in self.frame._labels and name not in self.frame:
            return series_of(self.frame._labels[name], name)
        return self.frame[name if name in self.frame else cut(name)]

    def _compare(self, node: ast.Compare) -> Any:
        result = None
        left = self._operand(node.left)
        for op, each in zip(node.ops, node.comparators, strict=True):
            right = self._operand(each)
            equals_one_of = type(op) in _EQUAL and type(right) is list and is_series(left)
            if isinstance(op, ast.In | ast.NotIn) or equals_one_of:
                if not is_series(left):
                    raise self._refuse("in without a column on its left-hand side", node)
                self._count()
                part = left.isin(right)
                part = ~part if isinstance(op, ast.NotIn | ast.NotEq) else part
            elif type(op) in _COMPARE and right is not None and left is not None:
                part = self._apply(node, _COMPARE[type(op)], left, right)
            else:
                raise self._refuse("this comparison (is_null() finds nulls)", node)
            result = part if result is None else self._apply(node, operator.and_, result, part)
            left = right
        return result

    def _is_of_variable(self, node: ast.AST) -> bool:
        """Whether this is a caller variable, or an item or attribute of one."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.values

    def _attribute(self, node: ast.Attribute) -> Any:
        """An attribute of a column (`.str`, `.dt` and their fields) or of a variable."""
        owner = self._value(node.value)
        if not issubclass(type(owner), (Column, *_ACCESSORS)):
            if not self._is_of_variable(node):
                raise self._refuse(f"{node.attr} of this value", node)
            try:
                return field(owner, node.attr)
            except UnknownValueError as error:
                raise self._refuse(str(error), node) from None
        accessor = is_series(owner) and node.attr in ("str", "dt")
        if accessor or (_is_accessor(owner) and not node.attr.startswith("_")):
            return getattr(owner, node.attr)
        raise self._refuse(f"{node.attr} of this value", node)

    def _call(self, node: ast.Call) -> Any:
        target = node.func
        values = [self._operand(each) for each in node.args]
        options = {each.arg or "**": self._operand(each.value) for each in node.keywords}
        self._count()
        if isinstance(target, ast.Name) and target.id in _FUNCTIONS and not options:
            return self._function(node, target.id, values)
        if not isinstance(target, ast.Attribute):
            raise self._refuse(f"a call of anything except {', '.join(_FUNCTIONS)}", node)
        owner = self._value(target.value)
        if issubclass(type(owner), Column) and target.attr in _METHODS:
            return getattr(owner, target.attr)(*values, **options)
        if _is_accessor(owner):
            method = self._attribute(target)
            if target.attr == "replace":
                self._lengthen(*values, **options)
            if callable(method):
                return method(*values, **options)
        raise self._refuse(f"a call of anything except {', '.join(_METHODS)}", node)

    def _function(self, node: ast.AST, name: str, values: list[Any]) -> Any:
        """A NumPy function of columns and numbers only: it calls methods of other objects."""
        import numpy as np

        function = getattr(np, name)
        kinds = (Deferred, bool, int, float, np.number, np.ndarray)
        if len(values) != function.nin or not all(isinstance(value, kinds) for value in values):
            raise self._refuse(f"{name} of this value (it takes columns and numbers)", node)
        return function(*values)

    def _lengthen(self, pat: Any = "", repl: Any = "", regex: Any = False, **_: Any) -> None:
        if isinstance(pat, str) and isinstance(repl, str):
            shortest = 1 if regex else max(len(pat), 1)
            self.longer *= max(1, -(-len(repl) // shortest))
        if self.longer > _LONGER:
            raise self._too(f"too expensive (strings grow more than {_LONGER} times)")


_ACCESSORS = (TextAccessor, TimeAccessor, DurationAccessor)


def _is_accessor(value: Any) -> bool:
    return issubclass(type(value), _ACCESSORS)


def cut(text: str) -> str:
    """The beginning of an expression, for a message."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _checked(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgumentError(f"query: expected a string: text={text!r}")
    if len(text) > LONGEST:
        raise InvalidArgumentError(
            f"query: the expression is too long: characters={len(text)}, limit={LONGEST}; "
            "put values into a list, as in 'x in @values'"
        )
    return text


def target_of(text: Any) -> tuple[str | None, str]:
    """The name before ``=``, if there is one, and the expression."""
    match = _TARGET.fullmatch(_checked(text))
    if match is None:
        return None, text
    return match[1] or match[2], match[3]


def evaluate(text: Any, frame: DataFrame, variables: Mapping[str, Any]) -> Any:
    """The series (or plain value) of an expression; lazy.

    Names are columns (in backticks if not identifiers), ``@name`` is a variable.
    """
    return _Walk(_checked(text), frame, variables).run()
