# SPDX-License-Identifier: Apache-2.0
"""Calls of aggregates made of their expressions."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql import operators
from headrace.sql.aggregates.calls import (
    CALLS,
    Call,
    as_column,
    count,
    counted,
    name_and_arguments,
    word,
)
from headrace.sql.aggregates.ordered import constant_text, first_in_order, listed, there
from headrace.sql.aggregates.statistics import PAIRS, pairs
from headrace.sql.casts import cast
from headrace.sql.elementwise import run
from headrace.sql.expressions import condition, evaluate
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    column_of,
)

Expression = Any


_NAMES = {exp.ArgMax: "arg_max", exp.ArgMin: "arg_min", exp.First: "first", exp.Last: "last"}
_NAMES |= {exp.AnyValue: "any_value", exp.Corr: "corr", exp.CovarPop: "covar_pop"}
_NAMES |= {exp.CovarSamp: "covar_samp"}


def _arguments(node: Expression) -> list[Expression]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [node.this, node.expression]


class Folder:
    """Makes calls of aggregate expressions over the rows of a scope."""

    def __init__(self, scope: Scope, keys: list[_core.Node] | None = None) -> None:
        self.scope = scope
        self.like = scope.relation.rows
        #: What the groups are of; None in windows.
        self.keys: list[_core.Node] | None = keys
        self._known: dict[Any, Operand] = {}

    def operand(self, node: Expression) -> Operand:
        """The value of an argument, each made once."""
        if node not in self._known:
            self._known[node] = evaluate(node, self.scope)
        return self._known[node]

    def call(self, node: Expression) -> Call:
        """The call of an aggregate expression."""
        mask: _core.Node | None = None
        ordered = None
        if isinstance(node, exp.Filter):
            test = condition(node.expression.this, self.scope)
            mask = column_of(test, self.like, "bool")
            node = node.this
        if isinstance(node, exp.IgnoreNulls):  # as sqlglot reads any_value
            node = node.this
        if isinstance(node, exp.WithinGroup):
            ordered, node = node.expression.expressions[0], node.this
        if isinstance(node, exp.ArrayAgg | exp.GroupConcat):
            return self._listed(node, mask)
        if self.keys is not None:
            special = self._special(node, mask)
            if special is not None:
                return special
        name, arguments = name_and_arguments(node, ordered)
        make = CALLS.get(name)
        if make is None:
            raise UnsupportedError(
                f"sql: unsupported aggregate: word={name.upper()!r}, "
                f"expression={node.sql('duckdb')[:80]!r}"
            )
        if name == "count_star" and mask is None:
            return Call([word("size")], counted, 0)
        if name == "count_star":
            arguments = []
            values: list[Operand] = [Constant(1, "int32")]
            make = count
        else:
            values = [self.operand(each) for each in arguments]
        if mask is not None:
            values[0] = operators.choose(
                Value(mask, "bool", 1), values[0], Constant(None, values[0].dtype)
            )
        return make(values, self.like)

    def _special(self, node: Expression, mask: _core.Node | None) -> Call | None:
        """An aggregate that needs an order or the keys; None for others."""
        assert self.keys is not None
        is_func = isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous)
        name = named(_NAMES.get(type(node)) or (node.sql_name() if is_func else node.this))
        if name in PAIRS:
            y, x = (self.operand(each) for each in _arguments(node)[:2])
            return pairs(name, y, x, mask, self.keys, self.like)
        inner, order = node.this, []
        if isinstance(inner, exp.Order):
            order, inner = self._order(inner), inner.this
        elif isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
            inner = node.expressions[0]
            if isinstance(inner, exp.Order):
                order, inner = self._order(inner), inner.this
        if name in ("arg_max", "arg_min", "max_by", "min_by", "arg_max_null", "arg_min_null"):
            arguments = _arguments(node)
            if len(arguments) != 2 or node.args.get("count") is not None:
                raise UnsupportedError(f"sql: several values: word={name.upper()!r}")
            value, by = (as_column(self.operand(each), self.like) for each in arguments)
            kept = there([by] if name.endswith("null") else [value, by], mask)
            down = name in ("arg_max", "max_by", "arg_max_null")
            return first_in_order(value, [(by, down, False)], kept, self.like)
        if not order or name not in ("first", "last", "any_value", "arbitrary"):
            return None
        value = as_column(self.operand(inner), self.like)
        if name == "last":
            order = [(operand, not down, not first) for operand, down, first in order]
        kept = there([value], mask) if name == "any_value" else mask
        return first_in_order(value, order, kept, self.like)

    def _order(self, node: Expression) -> list[tuple[Operand, bool, bool]]:
        return [
            (self.operand(o.this), bool(o.args.get("desc")), bool(o.args.get("nulls_first")))
            for o in node.expressions
        ]

    def _listed(self, node: Expression, mask: _core.Node | None) -> Call:
        """The values of a group as a list, or as one string."""
        is_text = isinstance(node, exp.GroupConcat)
        word_of = "STRING_AGG" if is_text else "LIST"
        if self.keys is None:
            raise UnsupportedError(f"sql: unsupported as a window function: word={word_of!r}")
        inner, order = node.this, []
        if isinstance(inner, exp.Order):
            order, inner = inner.expressions, inner.this
        once = isinstance(inner, exp.Distinct)
        if once:
            (inner,) = inner.expressions
        value = as_column(self.operand(inner), self.like)
        if is_text:
            text = cast(value, "string")
            assert isinstance(text, Value)
            value = text
        kept = mask
        if is_text and value.node.nullable:
            there = run("logical_not", run("is_null", value.node))
            kept = there if kept is None else run("logical_and", kept, there)
        items = self._order(exp.Order(expressions=list(order)))
        separator = node.args.get("separator")
        mark = "," if separator is None else constant_text(self.operand(separator), word_of)
        return listed(value, kept, items, self.keys, self.like, mark if is_text else None, once)


def call_of(node: Expression, scope: Scope) -> Call:
    """The call of an aggregate expression over the rows of a scope."""
    return Folder(scope).call(node)
