# SPDX-License-Identifier: Apache-2.0
"""Aggregates by narwhals' names, of groups and of partitions."""

from __future__ import annotations

import functools
import operator
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.groupby.keys import Words
from headrace.interop.narwhals.rows import as_column, chosen, unary
from headrace.series.column import series_of
from headrace.series.elementwise import row_positions

#: narwhals' aggregates that the engine has under a name.
NAMED = {
    **{name: name for name in ("sum", "mean", "median", "min", "max", "std", "var")},
    **{"quantile": "quantile", "mode": "mode", "all": "min", "any": "max"},
}
_PLACES = ("first", "last", "any_value")
#: What `leaf_words` makes.
AGGREGATES = (*NAMED, *_PLACES, "count", "len", "n_unique", "null_count")


class Leaf:
    """One aggregate of one column: what the engine computes, and how the result is read."""

    def __init__(self, words: list[Words], read: Any) -> None:
        self.words = words
        self.read = read


def leaf_of(
    op: str,
    options: dict[str, Any],
    node: _core.Node,
    places: _core.Node,
    order: _core.Node | None = None,
) -> Leaf:
    """The aggregate of a column named by narwhals; `places` are the numbers of the rows.

    In an `order` of rows by positions first and last are those of it.
    """
    values = series_of(node)
    if op == "len":
        return Leaf([Words("", "size")], lambda found: found[0])
    if op == "null_count":
        gone = values.is_null().astype("int64")
        return Leaf([Words("", "sum", gone._node)], lambda found: found[0])
    if op == "count":  # of the engine it leaves NaN out
        there = (~values.is_null()).astype("int64")
        return Leaf([Words("", "sum", there._node)], lambda found: found[0])
    if op == "n_unique":  # null is a value, and so is NaN
        extra = [values.is_null()]
        if values.dtype.kind == "f":
            extra.append(series_of(chosen(unary("isnan", values), True, False)))
        words = [Words("", "nunique", node)]
        words += [Words("", "max", each.astype("int64")._node) for each in extra]
        return Leaf(
            words, lambda found: functools.reduce(operator.add, map(series_of, found))._node
        )
    if op in ("first", "last", "any_value"):
        kept = places
        if order is not None:
            ranks = as_column(
                _core.argsort([_core.in_domain(order, places.domain)], [False], False)
            )
            kept = _core.in_domain(ranks, places.domain)
        if options.get("ignore_nulls"):
            kept = chosen(values.is_null(), None, series_of(kept))
        words = [Words("", "max" if op == "last" else "min", kept)]

        def read(found: list[_core.Node]) -> _core.Node:
            rows = series_of(found[0]).fill_null(-1)._node
            held = node if order is None else _core.take(node, order)
            return _core.in_domain(_core.asof_values(held, rows), found[0].domain)

        return Leaf(words, read)
    if op in ("all", "any"):
        filled = values.fill_null(op == "all").astype("int8")
        words = [Words("", NAMED[op], filled._node)]
        return Leaf(words, lambda found: _core.astype(found[0], "bool"))
    if op not in NAMED:
        raise UnsupportedError(
            f"group_by: no aggregate of groups: name={op!r}; use one of {', '.join(AGGREGATES)}"
        )
    own = values.astype("int64")._node if values.dtype == "bool" and op == "sum" else node
    keep = {"ddof": options["ddof"]} if "ddof" in options else {}
    if op == "quantile":
        keep = {"q": options["quantile"], "interpolation": options["interpolation"]}
    words = [Words("", NAMED[op], own, **keep)]
    if values.dtype.kind == "f" and op in ("sum", "mean", "std", "var"):  # NaN is a number
        nans = series_of(chosen(unary("isnan", values), 1, 0)).astype("int8")
        words.append(Words("", "max", nans._node))

        def spread(found: list[_core.Node]) -> _core.Node:
            return chosen(series_of(found[1]) > 0, float("nan"), series_of(found[0]))

        return Leaf(words, spread)
    return Leaf(words, lambda found: found[0])


def row_numbers(frame: Any) -> _core.Node:
    """The numbers of the rows of a frame."""
    return numbers_of(next(iter(frame._nodes.values())))


def numbers_of(node: _core.Node) -> _core.Node:
    """The numbers of the rows of a column."""
    return _core.in_domain(row_positions(series_of(node))._node, node.domain)
