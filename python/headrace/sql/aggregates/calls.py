# SPDX-License-Identifier: Apache-2.0
"""Aggregates of all values of a group: what the engine folds, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from headrace import _core
from headrace.errors import TypeMismatchError, UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.elementwise import HALF, filled, halves_of, run, where, whole_of
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    FLOATS,
    INTEGERS,
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    is_decimal,
    is_nested,
    is_number,
    precision_and_scale,
    type_name,
    value_of,
)

Expression = Any
Finish = Callable[[list[_core.Node]], Operand]


class Call(NamedTuple):
    """An aggregate: what the engine folds, and what is made of the results."""

    words: list[Words]
    finish: Finish
    #: Its value of no rows.
    empty: Any = None


def word(kind: str, node: _core.Node | None = None, q: float = 0.5, ddof: int = 1) -> Words:
    """One aggregate in the engine's terms; a sum of no values is null."""
    return Words("", kind, node, None, q, ddof, 1 if kind == "sum" else 0)


def counted(nodes: list[_core.Node]) -> Operand:
    """A number of rows, 0 of none."""
    return value_of(filled(nodes[0], 0), 48)


_CLASSES = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.AnyValue: "any_value",
    exp.First: "first",
    exp.Last: "last",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.Median: "median",
    exp.PercentileCont: "quantile_cont",
    exp.ArgMax: "arg_max",
    exp.ArgMin: "arg_min",
    exp.CountIf: "count_if",
    exp.Skewness: "skewness",
    exp.Kurtosis: "kurtosis",
    exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or",
    exp.BitwiseXorAgg: "bit_xor",
}


def name_of(node: Expression) -> str:
    """What a call is named."""
    if isinstance(node, exp.Anonymous):
        return named(node.this)
    return _CLASSES.get(type(node), node.sql_name().lower() if isinstance(node, exp.Func) else "")


def name_and_arguments(node: Expression, ordered: Expression | None) -> tuple[str, list[Any]]:
    """What a call is named, and its arguments."""
    name = name_of(node)
    if isinstance(node, exp.Anonymous):
        return name, list(node.expressions)
    if isinstance(node.this, exp.Star):
        return "count_star", []
    if isinstance(node.this, exp.Distinct):
        raise UnsupportedError(f"sql: DISTINCT is not supported here: word={name.upper()!r}")
    if isinstance(node, exp.Count) and node.this is None:
        return "count_star", []
    if isinstance(node.this, exp.Order) and isinstance(node, exp.Count | exp.Min | exp.Max):
        node = node.copy()  # which do not depend on an order
        node.set("this", node.this.this)
    if node.args.get("order") is not None or isinstance(node.this, exp.Order):
        raise UnsupportedError(f"sql: ORDER BY in an aggregate: word={name.upper()!r}")
    arguments = [node.this, *([node.expression] if node.args.get("expression") else [])]
    if ordered is not None:
        arguments = [ordered.this, node.this]
        if ordered.args.get("desc"):
            raise UnsupportedError(f"sql: DESC in WITHIN GROUP: word={name.upper()!r}")
    arguments += node.expressions if isinstance(node, exp.Count) else []
    return name, [each for each in arguments if each is not None]


# ---- the calls -----------------------------------------------------------------------------------


def _presence(value: Value) -> Words:
    """How many values are not null."""
    if not value.node.nullable:
        return word("size")
    if value.dtype not in FLOATS:  # of which the engine takes NaN for missing, too
        return word("count", value.node)
    there = run("logical_not", run("is_null", value.node))
    return word("sum", _core.astype(there, "int64"))


def as_column(operand: Operand, like: _core.Node, name: str = "") -> Value:
    """An operand as a column."""
    if isinstance(operand, Value):
        return operand
    dtype = "int32" if operand.dtype == NULL else operand.dtype
    return value_of(column_of(operand, like, dtype))


def count(values: list[Operand], like: _core.Node) -> Call:
    """COUNT of a value."""
    if len(values) != 1:
        raise UnsupportedError("sql: several values in an aggregate: word='COUNT'")
    return Call([_presence(as_column(values[0], like))], counted, 0)


def _count_if(values: list[Operand], like: _core.Node) -> Call:
    there = as_column(operators.as_bool(values[0]), like).node
    return Call([word("sum", _core.astype(filled(there, False), "int64"))], counted, 0)


def number(operand: Operand, like: _core.Node, name: str) -> Value:
    """A column of numbers; raises for other types."""
    if operand.dtype == "bool" and name == "SUM":
        operand = cast(operand, "int32")
    if isinstance(operand, Constant) and operand.untyped:
        operand = cast(operand, "float64")
    value = as_column(operand, like)
    if not is_number(value.dtype):
        raise TypeMismatchError(
            f"sql: expected numbers: function={name!r}, type={type_name(value.dtype)}; use CAST"
        )
    if value.dtype == "float32":
        value = value_of(_core.astype(value.node, "float64"))
    if value.dtype == "uint64":
        value = value_of(_core.astype(value.node, "decimal128(20, 0)"))
    return value


def with_nan(folding: Words) -> list[Words]:
    """An aggregate of values of which NaN is one, the greatest: null is what is missing.

    Without nulls the engine does it, which else leaves out both: then one word more tells whether
    a group has a NaN.
    """
    node = folding.values
    if node is None or node.dtype not in FLOATS:
        return [folding]
    if not node.nullable:
        return [folding._replace(nan_is_value=True)]
    is_nan = _core.astype(filled(run("isnan", node), False), "int8")
    return [folding, word("max", is_nan)]


def finished(kind: str, folded: list[_core.Node]) -> _core.Node:
    """The aggregate by the results of `with_nan`."""
    if len(folded) == 1:
        return folded[0]
    made, any_nan = folded
    is_nan = filled(run("equal", any_nan, 1), False)
    if kind == "min":
        is_nan = run("logical_and", run("is_null", made), is_nan)
    return where(is_nan, float("nan"), made)


#: Of decimals whose quantiles a double holds.
EXACT_DIGITS = 15


def _halves(value: Value) -> list[Words]:
    return [word("sum", half) for half in halves_of(_core.astype(value.node, "int64"))]


def _sum(values: list[Operand], like: _core.Node) -> Call:
    value = number(values[0], like, "SUM")
    if value.dtype in INTEGERS:
        if value.bits + 31 <= 63:
            wide = value.node if value.dtype == "int64" else _core.astype(value.node, "int64")
            return Call([word("sum", wide)], lambda nodes: value_of(nodes[0]))
        return Call(_halves(value), lambda nodes: value_of(whole_of(*nodes)))
    words = with_nan(word("sum", value.node))
    return Call(words, lambda nodes: value_of(finished("sum", nodes)))


def _avg(values: list[Operand], like: _core.Node) -> Call:
    value = number(values[0], like, "AVG")
    count = _presence(value)

    def mean(total: _core.Node, rows: _core.Node) -> _core.Node:
        known = run("greater", rows, 0)
        return where(filled(known, False), run("divide", total, rows), None)

    if value.dtype in INTEGERS:
        if value.bits + 31 <= 63:
            wide = _core.astype(value.node, "int64")
            return Call(
                [word("sum", wide), count],
                lambda n: value_of(mean(_core.astype(n[0], "float64"), n[1])),
            )

        def of_halves(nodes: list[_core.Node]) -> Operand:
            high, low = (_core.astype(n, "float64") for n in nodes[:2])
            return value_of(
                mean(run("add", run("multiply", high, float(1 << HALF)), low), nodes[2])
            )

        return Call([*_halves(value), count], of_halves)
    if is_decimal(value.dtype):
        return Call(
            [word("sum", value.node), count],
            lambda n: value_of(mean(_core.decimal_to_float(n[0]), n[1])),
        )
    return Call(
        [count, *with_nan(word("sum", value.node))],
        lambda n: value_of(mean(finished("sum", n[1:]), n[0])),
    )


def _extreme(kind: str) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        if len(values) != 1:
            raise UnsupportedError(f"sql: several values: word={kind.upper()!r}")
        value = as_column(values[0], like)
        if is_nested(value.dtype):
            raise UnsupportedError(
                f"sql: an order of lists and structs: word={kind.upper()!r}, "
                f"type={type_name(value.dtype)}"
            )
        if value.dtype == "bool":
            return Call(
                [word(kind, _core.astype(value.node, "int8"))],
                lambda n: cast(value_of(n[0]), "bool"),
            )
        words = with_nan(word(kind, value.node))
        return Call(words, lambda n: value_of(finished(kind, n), value.bits))

    return make


def _spread(kind: str, ddof: int) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        value = number(values[0], like, kind.upper())
        if value.dtype not in FLOATS:
            wide = _core.astype(value.node, "float64")
            return Call([word(kind, wide, ddof=ddof)], lambda n: value_of(n[0]))

        def finish(nodes: list[_core.Node]) -> Operand:
            rows, *folded = nodes
            enough = filled(run("greater", rows, ddof), False)  # NaN of one value is null
            made = where(enough, finished(kind, folded), None)
            single = filled(run("equal", rows, 1), False)  # whatever the value is
            return value_of(where(single, 0.0, made) if ddof == 0 else made)

        return Call([_presence(value), *with_nan(word(kind, value.node, ddof=ddof))], finish)

    return make


def _shape(kind: str) -> Callable[[list[Operand], _core.Node], Call]:
    """Skewness and kurtosis; null where too few values, or equal ones, give none."""

    def make(values: list[Operand], like: _core.Node) -> Call:
        value = number(values[0], like, kind.upper())
        made = word("kurt" if kind == "kurtosis" else "skew", refusing_nan(value))
        spread = word("var", refusing_nan(value))

        def finish(nodes: list[_core.Node]) -> Operand:
            found, variance = nodes
            there = filled(run("greater", variance, 0), False)
            there = run("logical_and", there, run("logical_not", filled(run("isnan", found), True)))
            return value_of(where(there, found, None))

        return Call([made, spread], finish)

    return make


def _product(values: list[Operand], like: _core.Node) -> Call:
    value = number(values[0], like, "PRODUCT")
    node = _core.astype(value.node, "float64")
    words = with_nan(Words("", "prod", node, None, 0.5, 1, 1))
    return Call(words, lambda n: value_of(finished("prod", n)))


def _sem(values: list[Operand], like: _core.Node) -> Call:
    value = number(values[0], like, "SEM")
    wide = value_of(_core.astype(value.node, "float64"))
    return Call(
        [_presence(wide), *with_nan(word("std", wide.node, ddof=0))],
        lambda n: value_of(run("divide", finished("std", n[1:]), run("sqrt", n[0]))),
    )


def _truth(kind: str) -> Callable[[list[Operand], _core.Node], Call]:
    def make(values: list[Operand], like: _core.Node) -> Call:
        return _extreme(kind)([operators.as_bool(values[0])], like)

    return make


def refusing_nan(value: Value) -> _core.Node:
    """Doubles of which NaN is an error: the engine leaves it out where DuckDB does not."""
    if value.dtype not in FLOATS:
        return _core.astype(value.node, "float64")
    wide = _core.astype(value.node, "float64")
    bad = where(filled(run("isnan", wide), False), float("inf"), 0.0)
    return run("add", wide, _core.astype(_core.astype(bad, "int64"), "float64"))


def _quantile(values: list[Operand], like: _core.Node) -> Call:
    value = number(values[0], like, "QUANTILE")
    q = 0.5
    if len(values) > 1:
        if not isinstance(values[1], Constant):
            raise UnsupportedError("sql: a column as a quantile: word='QUANTILE_CONT'")
        q = float(values[1].value)
    dtype = value.dtype

    def finish(nodes: list[_core.Node]) -> Operand:
        made = value_of(nodes[0])
        is_exact = is_decimal(dtype) and precision_and_scale(dtype)[0] <= EXACT_DIGITS
        return cast(made, dtype) if is_exact else made

    return Call([word("quantile", refusing_nan(value), q)], finish)


def at_rows(value: Value, places: _core.Node) -> Operand:
    """The values in these rows, null for none."""
    found = _core.asof_values(value.node, filled(places, -1))
    return value_of(_core.in_domain(found, places.domain), value.bits)


def _bitwise(op: str) -> Callable[[list[Operand], _core.Node], Call]:
    """BIT_AND, BIT_OR and BIT_XOR of integers: each bit is folded by itself."""
    kind = {"and": "min", "or": "max", "xor": "sum"}[op]

    def make(values: list[Operand], like: _core.Node) -> Call:
        value = as_column(values[0], like)
        if value.dtype not in INTEGERS or value.dtype == "uint64":
            raise UnsupportedError(
                f"sql: unsupported: word='BIT_{op.upper()}', type={type_name(value.dtype)}"
            )
        wide = _core.astype(value.node, "int64")
        count = int(value.dtype.lstrip("uint"))
        bits = [run("bitwise_and", run("right_shift", wide, b), 1) for b in range(count)]

        def finish(nodes: list[_core.Node]) -> Operand:
            made = run("bitwise_and", nodes[0], 1)
            for place, node in enumerate(nodes[1:], 1):
                bit = run("left_shift", run("bitwise_and", node, 1), place)
                made = run("bitwise_or", made, bit)
            if value.dtype[0] != "u" and count < 64:  # the sign
                high = run("left_shift", run("right_shift", made, count - 1), count)
                made = run("subtract", made, high)
            return value_of(_core.astype(made, value.dtype))

        return Call([word(kind, bit) for bit in bits], finish)

    return make


CALLS: dict[str, Callable[[list[Operand], _core.Node], Call]] = {
    "count_star": count,
    "count": count,
    "count_if": _count_if,
    "sum": _sum,
    "avg": _avg,
    "mean": _avg,
    "min": _extreme("min"),
    "max": _extreme("max"),
    "stddev_samp": _spread("std", 1),
    "stddev_pop": _spread("std", 0),
    "var_samp": _spread("var", 1),
    "var_pop": _spread("var", 0),
    "product": _product,
    "bit_and": _bitwise("and"),
    "bit_or": _bitwise("or"),
    "bit_xor": _bitwise("xor"),
    "sem": _sem,
    "skewness": _shape("skewness"),
    "kurtosis": _shape("kurtosis"),
    "countif": _count_if,
    "bool_and": _truth("min"),
    "bool_or": _truth("max"),
    "quantile_cont": _quantile,
}
