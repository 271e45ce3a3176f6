# SPDX-License-Identifier: Apache-2.0
"""Scalar functions of SQL, by the names and rules of DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql.functions import (
    codes,
    distances,
    formats,
    list_items,
    nested,
    numbers,
    patterns,
    strings,
    structs,
    substrings,
    times,
    vectors,
)
from headrace.sql.functions.list_items import item_at as item_at
from headrace.sql.functions.list_items import items_where as items_where
from headrace.sql.functions.list_items import part_between as part_between
from headrace.sql.functions.substrings import text_part as text_part
from headrace.sql.syntax import exp, named
from headrace.sql.values import NULL, Constant, Operand, type_name

Expression = Any
Evaluate = Callable[[Expression], Operand]


def call(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """The value of a function for the rows of `like`."""
    handler = _BY_CLASS.get(type(node))
    if handler is not None:
        return handler(node, evaluate, like)
    by_tree = structs.BY_TREE.get(_name_of(node))
    if by_tree is not None:
        return by_tree(node, evaluate, like)
    by_name = _BY_NAME.get(_name_of(node))
    if by_name is not None:
        return by_name([evaluate(each) for each in arguments_of(node)], like)
    word = (
        node.sql_name()
        if isinstance(node, exp.Func) and not isinstance(node, exp.Anonymous)
        else getattr(node, "name", "") or type(node).__name__
    )
    raise UnsupportedError(
        f"sql: unsupported: word={str(word).upper()!r}, expression={node.sql('duckdb')[:80]!r}"
    )


_LAMBDAS = {
    **dict.fromkeys(
        ("list_transform", "list_apply", "array_transform", "array_apply", "apply"), "map"
    ),
    **dict.fromkeys(("list_filter", "array_filter", "filter"), "filter"),
}


def is_lambda(node: Expression) -> str:
    """What a function does with a lambda and the items of a list: "map", "filter", or nothing."""
    if isinstance(node, exp.Transform | exp.ArrayFilter):
        return "map" if isinstance(node, exp.Transform) else "filter"
    return _LAMBDAS.get(named(node.this), "") if isinstance(node, exp.Anonymous) else ""


def is_reduction(node: Expression) -> bool:
    """Whether this is LIST_REDUCE."""
    if isinstance(node, exp.Reduce):
        return True
    return isinstance(node, exp.Anonymous) and named(node.this) in _REDUCE


_REDUCE = ("list_reduce", "array_reduce", "reduce")


def lambda_of(node: Expression) -> tuple[Expression, Expression]:
    """The list and the lambda of such a function."""
    operands = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.expression]
    if len(operands) != 2 or not isinstance(operands[1], exp.Lambda):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    return operands[0], operands[1]


def _typeof(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    dtype = evaluate(node.this).dtype
    if "decimal128(38, 0)" in dtype:
        raise UnsupportedError("sql: HUGEINT and DECIMAL(38,0) are one: word='TYPEOF'")
    return Constant('"NULL"' if dtype == NULL else type_name(dtype), "string")


_BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    **strings.BY_CLASS,
    **substrings.BY_CLASS,
    **patterns.BY_CLASS,
    **numbers.BY_CLASS,
    **times.BY_CLASS,
    exp.Typeof: _typeof,
}
_BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    **nested.BY_NAME,
    **list_items.BY_NAME,
    **structs.BY_NAME,
    **strings.BY_NAME,
    **substrings.BY_NAME,
    **numbers.BY_NAME,
    **times.BY_NAME,
    **formats.BY_NAME,
    **codes.BY_NAME,
    **distances.BY_NAME,
    **vectors.BY_NAME,
}
#: Names of functions for which sqlglot has a class, where it is not the class's own one.
_NAMES = {
    **{exp.Format: "format", exp.Chr: "chr", exp.Unicode: "unicode", exp.IsNan: "isnan"},
    **{exp.IsInf: "isinf", exp.ArraysZip: "list_zip", exp.ArrayIntersect: "list_intersect"},
    **{
        exp.ArrayPosition: "list_position",
        exp.ArraySum: "list_sum",
        exp.Levenshtein: "levenshtein",
    },
    **{exp.ArrayFirst: "list_first", exp.ArrayLast: "list_last", exp.LowerHex: "hex"},
    **{exp.MD5: "md5", exp.SHA: "sha1", exp.BitLength: "bit_length", exp.ToBinary: "bin"},
    exp.JarowinklerSimilarity: "jaro_winkler_similarity",
    exp.EuclideanDistance: "list_distance",
    exp.CosineDistance: "list_cosine_distance",
}


def _name_of(node: Expression) -> str:
    if isinstance(node, exp.Anonymous):
        return named(node.this)
    return _NAMES.get(type(node)) or (named(node.sql_name()) if isinstance(node, exp.Func) else "")


def arguments_of(node: Expression) -> list[Expression]:
    """The arguments of a function in the order in which they are written."""
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    found: list[Expression] = []
    for key in node.arg_types:
        value = node.args.get(key)
        if isinstance(value, exp.Expression):
            found.append(value)
        elif isinstance(value, list):
            found += value
    return found


_LIST_AGGREGATE = ("list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate")
_ITEM_AGGREGATES = frozenset(
    (
        *("min", "max", "sum", "avg", "first", "last", "any_value", "median", "mode", "product"),
        *("stddev_pop", "stddev_samp", "var_pop", "var_samp", "sem", "skewness", "kurtosis"),
        *("string_agg", "kurtosis_pop", "entropy", "mad", "approx_count_distinct"),
        *("bit_and", "bit_or", "bit_xor"),
    )
)


def list_aggregate_of(node: Expression) -> tuple[str, list[Expression]]:
    """The name of an aggregate of each list, or "asc" or "desc" for an order, and its arguments."""
    arguments = arguments_of(node) if isinstance(node, exp.Func) else []
    if isinstance(node, exp.ArraySort):
        up, first = node.args.get("asc"), node.args.get("nulls_first")
        if node.args.get("expression") is not None:
            return "", []
        is_down = isinstance(up, exp.Boolean) and not up.this
        is_first = isinstance(first, exp.Boolean) and bool(first.this)
        return "desc" if is_down else "asc", [node.this, *([node.this] if is_first else [])]
    name = _name_of(node)
    if name in _LIST_AGGREGATE and len(arguments) > 1 and isinstance(arguments[1], exp.Literal):
        return named(arguments[1].this), [arguments[0], *arguments[2:]]
    if isinstance(node, exp.ArrayMin | exp.ArrayMax):
        return "min" if isinstance(node, exp.ArrayMin) else "max", arguments
    if name.startswith("list_") and name[5:] in _ITEM_AGGREGATES:
        return name[5:], arguments
    return "", []
