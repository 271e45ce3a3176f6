# SPDX-License-Identifier: Apache-2.0
"""`over` of narwhals: functions of the rows of a partition, by the engine's grouped ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from narwhals._expression_parsing import evaluate_nodes

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.frame.columns import frame_of
from headrace.frame.construct import repeated
from headrace.frame.duplicates import repeated_rows
from headrace.interop.narwhals.leaves import AGGREGATES, leaf_of, row_numbers
from headrace.interop.narwhals.rows import chosen, side_by_side, taken
from headrace.interop.narwhals.windows import TIES
from headrace.series.column import new_series, series_of
from headrace.series.window import rows_of_groups

_CUMULATIVE = {f"cum_{name}": f"cum{name}" for name in ("sum", "prod", "min", "max", "count")}
_DISTINCT: dict[str, str | bool] = {
    "is_unique": False,
    "is_first_distinct": "first",
    "is_last_distinct": "last",
}


def _call_nodes(expr: Any) -> tuple[list[Any], Any]:
    """The functions below the last one of an expression, and that one; names do not count."""
    nodes = list(expr._metadata.iter_nodes_reversed())
    while nodes[0].name.startswith(("name.", "alias")):
        nodes.pop(0)
    return nodes[:0:-1], nodes[0]


def before_leaf(expr: Any, frame: Any) -> list[Any]:
    """What the last function of an expression is given: columns, made row by row."""
    below, leaf = _call_nodes(expr)
    if not below:
        return []
    made = evaluate_nodes(below, expr.__narwhals_namespace__())
    if not made._metadata.is_elementwise:
        raise UnsupportedError(
            f"narwhals: a function of groups over another function that is not one of single rows: "
            f"functions={[each.name for each in [*below, leaf]]}; compute the inner one first, "
            "with with_columns"
        )
    columns = list(made(frame))
    first = next(frame.iter_columns(), None)
    if first is None:
        return columns
    nodes = side_by_side([first, *columns])[1:]
    return [each._made(node) for each, node in zip(columns, nodes, strict=True)]


def over_rows(expr: Any, frame: Any, partition_by: list[str], order_by: list[str]) -> list[Any]:
    """An expression of the rows of each partition, for each row of the frame."""
    _, leaf = _call_nodes(expr)
    reverse = bool(leaf.kwargs.get("reverse")) and bool(partition_by)
    places = None
    if order_by:
        places = frame._order(order_by)
    if reverse:
        rows = series_of(places if places is not None else row_numbers(frame))
        places = rows[::-1]._node
    moved = frame if places is None else frame._picked(places)
    whole = not partition_by
    made = list(expr(moved)) if whole else _over_partitions(expr, leaf, moved, partition_by)
    first = next(iter(moved._nodes.values()))
    if places is None:
        return made
    back = _core.argsort([_core.in_domain(places, first.domain)], [False], False)
    results = []
    for each in made:
        node = each.node
        if expr._metadata.is_scalar_like and whole:
            node = repeated(next(iter(frame._nodes.values())), each.native)
        else:
            node = taken([node], back)[0]
            node = _core.in_domain(node, next(iter(frame._nodes.values())).domain)
        results.append(each._made(node))
    return results


def _over_partitions(expr: Any, leaf: Any, frame: Any, partition_by: Sequence[str]) -> list[Any]:
    keys = [frame._nodes[name] for name in partition_by]
    places = row_numbers(frame)
    columns = before_leaf(expr, frame)
    names = expr._evaluate_aliases(frame)
    if not columns:  # nw.len()
        columns = [frame.get_column(partition_by[0])]
    results = []
    for name, column in zip(names, columns, strict=True):
        node = _of_partitions(leaf.name, leaf.kwargs, column.node, keys, places)
        results.append(column._made(_core.in_domain(node, keys[0].domain)).alias(name))
    return results


def _of_partitions(
    op: str, options: dict[str, Any], node: _core.Node, keys: list[_core.Node], places: _core.Node
) -> _core.Node:
    if op in AGGREGATES:
        leaf = leaf_of(op, {**options, "order_by": ()}, node, places)
        found = [_core.group_transform(keys, words, False) for words in leaf.words]
        return leaf.read([_core.in_domain(each, keys[0].domain) for each in found])
    values = series_of(node)
    if op in _CUMULATIVE:
        if op == "cum_count":
            values = (~values.is_null()).astype("int64")
            return (
                series_of(_grouped(_core.group_cumulative, keys, values, "cumsum"))
                .astype("uint32")
                ._node
            )
        values = values.astype("int64") if values.dtype == "bool" else values
        return _grouped(_core.group_cumulative, keys, values, _CUMULATIVE[op])
    if op == "shift":
        return _grouped(_core.group_shift, keys, values, options["n"])
    if op == "diff":
        return (values - series_of(_grouped(_core.group_shift, keys, values, 1)))._node
    if op == "rank":
        method = options["method"]
        ties = (TIES.get(method, method), options["descending"])
        ranks = _grouped(_core.group_rank, keys, values, *ties)
        return ranks if method == "average" else series_of(ranks).astype("int64")._node
    if op in _DISTINCT:
        return (~series_of(repeated_rows([*keys, node], _DISTINCT[op])))._node
    if op.startswith("rolling_"):
        window, least = options["window_size"], options["min_samples"]
        ddof = options.get("ddof", 1)
        windows = _core.RollingOptions(
            window, least, options["center"], ddof, "right", 0.5, "linear"
        )
        return _core.rolling(keys, [node], False, None, op[8:], windows)[0]
    if op == "fill_null" and options.get("strategy"):
        return _filled(values, options, keys, places)
    if op == "ewm_mean":
        return _weighted(values, options, keys)
    raise UnsupportedError(
        f"over: no function of partitions: name={op!r}; use an aggregate ({', '.join(AGGREGATES)}),"
        " a cumulative or rolling function, shift, diff, rank or fill_null(strategy=...)"
    )


def _grouped(make: Any, keys: list[_core.Node], values: Any, *words: Any) -> _core.Node:
    return rows_of_groups(make, keys, {"value": values._node}, False, *words)["value"]


def _filled(
    values: Any, options: dict[str, Any], keys: list[_core.Node], places: _core.Node
) -> _core.Node:
    """Nulls filled with the last or next value of their partition."""
    named = {f"key {i}": key for i, key in enumerate(keys)}
    there = chosen(values.is_null(), None, series_of(places))
    frame = frame_of({**named, "place": there})
    groups = frame.groupby(list(named), sort=False, dropna=False)["place"]
    forward = options["strategy"] == "forward"
    near = series_of((groups.ffill() if forward else groups.bfill())._node)
    limit = options.get("limit")
    if limit is not None:
        inner = series_of(_core.part(_core.group_places(keys, False), 0)).to_numpy()
        number = new_series(inner)
        ahead = series_of(_core.asof_values(number._node, near.fill_null(-1)._node))
        far = (number - ahead).abs() > limit
        near = series_of(chosen(far, None, near))
    return _core.asof_values(values._node, near.fill_null(-1)._node)


def _weighted(values: Any, options: dict[str, Any], keys: list[_core.Node]) -> _core.Node:
    named = {f"key {i}": key for i, key in enumerate(keys)}
    frame = frame_of({**named, "value": values._node})
    windows = frame.groupby(list(named), sort=False, dropna=False)[["value"]].ewm(
        com=options["com"],
        span=options["span"],
        halflife=options["half_life"],
        alpha=options["alpha"],
        min_periods=options["min_samples"],
        adjust=options["adjust"],
        ignore_na=options["ignore_nulls"],
    )
    rows = windows._rows
    decay = windows._words
    made = _core.ewm(
        keys,
        [rows.columns["value"]],
        False,
        None,
        None,
        "mean",
        decay[1],
        decay[2],
        decay[3],
        decay[4],
        False,
        decay[5],
    )
    return chosen(values.is_null(), None, series_of(made[0]))
