# SPDX-License-Identifier: Apache-2.0
"""Aggregates of pairs: covariance, correlation and regression."""

from __future__ import annotations

from collections.abc import Callable

from headrace import _core
from headrace.sql.aggregates.calls import Call, as_column, counted, number, refusing_nan, word
from headrace.sql.elementwise import filled, run, where
from headrace.sql.values import Operand, value_of


def pairs(
    name: str,
    y: Operand,
    x: Operand,
    kept: _core.Node | None,
    keys: list[_core.Node],
    like: _core.Node,
) -> Call:
    """An aggregate of the pairs without null: sums of what they are apart from their means."""
    columns = [refusing_nan(number(as_column(v, like), like, name.upper())) for v in (y, x)]
    both = run("logical_not", run("logical_or", *(run("is_null", each) for each in columns)))
    if kept is not None:
        both = run("logical_and", both, filled(kept, False))
    columns = [where(both, each, None) for each in columns]
    grouping = keys or [_core.repeat(like, 0)]
    means = [
        _core.in_domain(_core.group_transform(grouping, word("mean", each), False), like.domain)
        for each in columns
    ]
    dy, dx = (run("subtract", each, mean) for each, mean in zip(columns, means, strict=True))
    words = [
        word("sum", _core.astype(both, "int64")),
        *(word("sum", run("multiply", a, b)) for a, b in ((dx, dy), (dx, dx), (dy, dy))),
        *(word("mean", each) for each in columns),
    ]
    make, least = PAIRS[name]
    is_count = name == "regr_count"

    def finish(nodes: list[_core.Node]) -> Operand:
        if is_count:
            return counted(nodes[:1])
        n, *sums = (_core.astype(filled(nodes[0], 0), "float64"), *map(_finite, nodes[1:]))
        enough = run("greater_equal", n, least)
        return value_of(where(enough, make(n, *sums), None))

    return Call(words, finish, 0 if is_count else None)


def kurtosis_pop(
    operand: Operand, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node
) -> Call:
    """The fourth moment by the square of the second one, less 3; null without a spread."""
    values = refusing_nan(number(as_column(operand, like), like, "KURTOSIS_POP"))
    there = run("logical_not", run("is_null", values))
    if kept is not None:
        there = run("logical_and", there, filled(kept, False))
        values = where(there, values, None)
    mean = _core.group_transform(keys or [_core.repeat(like, 0)], word("mean", values), False)
    apart = run("subtract", values, _core.in_domain(mean, like.domain))
    square = run("multiply", apart, apart)
    fourth = run("multiply", square, square)
    count = word("sum", _core.astype(there, "int64"))

    def finish(nodes: list[_core.Node]) -> Operand:
        n = _core.astype(filled(nodes[0], 0), "float64")
        below = run("multiply", nodes[1], nodes[1])
        found = run("subtract", run("divide", run("multiply", n, nodes[2]), below), 3.0)
        spread = run("logical_and", run("greater", n, 1.0), filled(run("greater", below, 0), False))
        return value_of(where(spread, found, None))

    return Call([count, word("sum", square), word("sum", fourth)], finish)


def _finite(total: _core.Node) -> _core.Node:
    """Sums of products, of which infinity is an error: DuckDB adds in another order."""
    bad = filled(run("isinf", total), False)
    checked = _core.astype(where(bad, float("inf"), 0.0), "int64")
    return run("add", total, _core.astype(checked, "float64"))


def _over(a: _core.Node, b: _core.Node) -> _core.Node:
    """A quotient; null by zero."""
    return where(filled(run("not_equal", b, 0), False), run("divide", a, b), None)


def _correlation(
    n: _core.Node, xy: _core.Node, xx: _core.Node, yy: _core.Node, *_: _core.Node
) -> _core.Node:
    return run("divide", xy, run("multiply", run("sqrt", xx), run("sqrt", yy)))


def _r2(
    n: _core.Node, xy: _core.Node, xx: _core.Node, yy: _core.Node, *_: _core.Node
) -> _core.Node:
    found = _over(run("multiply", xy, xy), run("multiply", xx, yy))
    flat = run(
        "logical_and", filled(run("equal", yy, 0), False), filled(run("not_equal", xx, 0), False)
    )
    return where(flat, 1.0, found)


#: What is made of the number of pairs, the sums of products and the means, and the least number.
PAIRS: dict[str, tuple[Callable[..., _core.Node], int]] = {
    "covar_pop": (lambda n, xy, *_: run("divide", xy, n), 1),
    "covar_samp": (lambda n, xy, *_: run("divide", xy, run("subtract", n, 1)), 2),
    "corr": (_correlation, 1),
    "regr_count": (lambda n, *_: n, 0),
    "regr_avgy": (lambda n, xy, xx, yy, y, x: y, 1),
    "regr_avgx": (lambda n, xy, xx, yy, y, x: x, 1),
    "regr_sxx": (lambda n, xy, xx, *_: xx, 1),
    "regr_syy": (lambda n, xy, xx, yy, *_: yy, 1),
    "regr_sxy": (lambda n, xy, *_: xy, 1),
    "regr_slope": (lambda n, xy, xx, *_: run("divide", xy, xx), 1),
    "regr_intercept": (
        lambda n, xy, xx, yy, y, x: run("subtract", y, run("multiply", _over(xy, xx), x)),
        1,
    ),
    "regr_r2": (_r2, 1),
}
