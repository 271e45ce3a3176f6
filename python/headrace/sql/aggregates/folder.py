# SPDX-License-Identifier: Apache-2.0
"""Calls of aggregates made of their expressions."""

from __future__ import annotations

import math
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
    number,
    word,
)
from headrace.sql.aggregates.ordered import constant_text, end_of, first_in_order, listed, there
from headrace.sql.aggregates.ranked import (
    Order,
    deviation,
    entropy,
    first_few,
    for_each,
    mode,
    quantile_disc,
    quantile_of_times,
)
from headrace.sql.aggregates.statistics import PAIRS, kurtosis_pop, pairs
from headrace.sql.casts import cast
from headrace.sql.elementwise import run
from headrace.sql.expressions import condition, evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    column_of,
    is_nested,
    is_number,
    is_time,
    type_name,
)

Expression = Any


_QUANTILES = {
    exp.Median: "quantile_cont",
    exp.PercentileCont: "quantile_cont",
    exp.PercentileDisc: "quantile_disc",
    exp.Quantile: "quantile_disc",
}
_NAMES = {exp.ArgMax: "arg_max", exp.ArgMin: "arg_min", exp.First: "first", exp.Last: "last"}
_NAMES |= {exp.AnyValue: "any_value", exp.Corr: "corr", exp.CovarPop: "covar_pop"}
_NAMES |= {exp.CovarSamp: "covar_samp"}


_ARGS = (
    *("arg_max", "arg_min", "max_by", "min_by", "arg_max_null", "arg_min_null"),
    *("arg_max_nulls_last", "arg_min_nulls_last"),
)


def _arguments(node: Expression) -> list[Expression]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    return [node.this, node.expression]


class Folder:
    """Makes calls of aggregate expressions over the rows of a scope."""

    def __init__(self, scope: Scope, keys: list[_core.Node] | None = None) -> None:
        self.scope: Scope = scope
        self.like: _core.Node = scope.relation.rows
        #: What the groups are of; None in windows.
        self.keys: list[_core.Node] | None = None if keys is None else as_keys(keys)
        self._known: dict[Any, Operand] = {}

    def operand(self, node: Expression) -> Operand:
        """The value of an argument, each made once."""
        if node not in self._known:
            self._known[node] = evaluate(node, self.scope)
        return self._known[node]

    def call(self, node: Expression, mask: _core.Node | None = None) -> Call:
        """The call of an aggregate expression, of the rows where the mask is true."""
        ordered = None
        if isinstance(node, exp.Filter):
            test = column_of(condition(node.expression.this, self.scope), self.like, "bool")
            mask = test if mask is None else run("logical_and", mask, test)
            node = node.this
        skip_null = isinstance(node, exp.IgnoreNulls)
        if isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
            node = node.this
        if isinstance(node.this, exp.IgnoreNulls):
            skip_null, node = True, node.copy()
            node.set("this", node.this.this)
        if skip_null and not isinstance(node, exp.First | exp.Last | exp.AnyValue):
            raise UnsupportedError(f"sql: IGNORE NULLS is not supported here: word={node.key!r}")
        if isinstance(node, exp.WithinGroup):
            ordered, node = node.expression.expressions[0], node.this
        if isinstance(node, exp.ArrayAgg | exp.GroupConcat):
            return self._listed(node, mask)
        if type(node) in _QUANTILES:
            return self._quantile(node, mask, ordered)
        end = self._end(node, mask, skip_null)
        if end is not None:
            return end
        if self.keys is not None:
            special = self._special(node, mask, ordered)
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

    def _end(self, node: Expression, mask: _core.Node | None, skip_null: bool) -> Call | None:
        """The first or last of the kept rows; None for other aggregates."""
        name = named(_NAMES.get(type(node)) or (isinstance(node, exp.Anonymous) and node.this))
        if name not in ("first", "last", "any_value", "arbitrary"):
            return None
        inner, order = node.this, []
        if isinstance(node, exp.Anonymous):
            (inner,) = node.expressions
        if isinstance(inner, exp.Order):
            order, inner = self._order(inner), inner.this
        value = as_column(self.operand(inner), self.like)
        kept = there([value], mask) if skip_null or name == "any_value" else mask
        if not order:
            return end_of(value, kept, "max" if name == "last" else "min", self.like)
        if self.keys is None:
            raise UnsupportedError(f"sql: ORDER BY in a window function: word={name.upper()!r}")
        if name == "last":
            order = [(operand, not down, not first) for operand, down, first in order]
        return first_in_order(value, order, kept, self.like)

    def _quantile(
        self, node: Expression, mask: _core.Node | None, ordered: Expression | None
    ) -> Call:
        """A quantile of numbers, of ranks or of times, for one share or a list of them."""
        name = _QUANTILES[type(node)]
        inner = node.this if ordered is None else ordered.this
        share = node.args.get("quantile") or node.args.get("expression")
        down = False
        if ordered is not None:
            share, down = node.this, bool(ordered.args.get("desc"))
        if isinstance(inner, exp.Distinct | exp.Order):
            raise UnsupportedError(f"sql: DISTINCT or ORDER BY here: word={name.upper()!r}")
        value = as_column(self.operand(inner), self.like)
        shares = share.expressions if isinstance(share, exp.Array) else [share]
        calls = [self._one_quantile(name, value, self._share(q, down), mask) for q in shares]
        return for_each(calls) if isinstance(share, exp.Array) else calls[0]

    def _share(self, node: Expression | None, down: bool) -> float:
        operand = Constant(0.5, "float64") if node is None else self.operand(node)
        if not isinstance(operand, Constant) or operand.value is None:
            raise UnsupportedError("sql: expected a constant quantile: word='QUANTILE'")
        return -float(operand.value) if down else float(operand.value)

    def _one_quantile(self, name: str, value: Value, q: float, mask: _core.Node | None) -> Call:
        if name == "quantile_cont" and is_number(value.dtype):
            own: Operand = value
            if mask is not None:
                none = Constant(None, value.dtype)
                own = operators.choose(Value(mask, "bool", 1), value, none)
            share = 1 + q if math.copysign(1, q) < 0 else q
            return CALLS[name]([own, Constant(share, "float64")], self.like)
        if self.keys is None:
            raise UnsupportedError(f"sql: unsupported as a window function: word={name.upper()!r}")
        if name == "quantile_disc" or value.dtype == "string" or is_nested(value.dtype):
            return quantile_disc(value, q, mask, self.keys, self.like)
        if not is_time(value.dtype) or "," in value.dtype:
            raise UnsupportedError(
                f"sql: unsupported: word={name.upper()!r}, type={type_name(value.dtype)}"
            )
        return quantile_of_times(value, q, mask, self.keys, self.like)

    def _few(
        self, node: Expression, count: Expression, order: Order, value: Value, mask: Any
    ) -> Call:
        """The values of the first `count` rows."""
        assert self.keys is not None
        number = self.operand(count)
        if not isinstance(number, Constant) or type(number.value) is not int:
            raise UnsupportedError("sql: expected a constant number of values: word='ARG_MAX'")
        return first_few(value, order, number.value, mask, self.keys, self.like)

    def _special(
        self, node: Expression, mask: _core.Node | None, ordered: Expression | None
    ) -> Call | None:
        """An aggregate that needs an order or the keys; None for others."""
        assert self.keys is not None
        is_func = isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous)
        name = named(_NAMES.get(type(node)) or (node.sql_name() if is_func else node.this))
        if name in PAIRS:
            y, x = (self.operand(each) for each in _arguments(node)[:2])
            return pairs(name, y, x, mask, self.keys, self.like)
        if name == "mode":
            inner, order = node.this, []
            if ordered is not None:
                order, inner = self._order(exp.Order(expressions=[ordered])), ordered.this
            elif isinstance(inner, exp.Order):
                order, inner = self._order(inner), inner.this
            if isinstance(inner, exp.Distinct):
                raise UnsupportedError("sql: DISTINCT here: word='MODE'")
            value = as_column(self.operand(inner), self.like)
            return mode(value, order, mask, self.keys, self.like)
        if name in ("mad", "entropy"):
            value = as_column(self.operand(_arguments(node)[0]), self.like)
            if name == "entropy":
                return entropy(value, mask, self.keys, self.like)
            return deviation(number(value, self.like, "MAD"), mask, self.keys, self.like)
        if name in ("min", "max") and not isinstance(node.this, exp.Distinct):
            return self._extreme(node, name == "max", mask)
        if name == "kurtosis_pop":
            return kurtosis_pop(self.operand(_arguments(node)[0]), mask, self.keys, self.like)
        if name in _ARGS:
            arguments = _arguments(node)
            few = node.args.get("count")
            if few is None and len(arguments) == 3:
                few = arguments.pop()
            if len(arguments) != 2:
                raise UnsupportedError(f"sql: several values: word={name.upper()!r}")
            value, by = (as_column(self.operand(each), self.like) for each in arguments)
            kept = there([by] if name.endswith("null") else [value, by], mask)
            kept = mask if name.endswith("last") else kept
            down = name in ("arg_max", "max_by", "arg_max_null", "arg_max_nulls_last")
            if few is not None:
                return self._few(node, few, [(by, down, False)], value, kept)
            return first_in_order(value, [(by, down, False)], kept, self.like)
        return None

    def _extreme(self, node: Expression, down: bool, mask: _core.Node | None) -> Call | None:
        """The first few values in order, or the first list or struct; None for plain values."""
        value = as_column(self.operand(node.this), self.like)
        count = node.args.get("count")
        kept = there([value], mask)
        if count is not None:
            return self._few(node, count, [(value, down, False)], value, kept)
        if not is_nested(value.dtype):
            return None
        return first_in_order(value, [(value, down, False)], kept, self.like)

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
        given = Constant(",", "string") if separator is None else self.operand(separator)
        if isinstance(given, Constant) and given.value is None and is_text:  # null for all
            given, kept = Constant(",", "string"), _core.repeat(self.like, False)
        mark = constant_text(given, word_of)
        return listed(value, kept, items, self.keys, self.like, mark if is_text else None, once)


def call_of(node: Expression, scope: Scope) -> Call:
    """The call of an aggregate expression over the rows of a scope."""
    return Folder(scope).call(node)
