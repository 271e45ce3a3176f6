# SPDX-License-Identifier: Apache-2.0
"""Aggregates with several rows per group, told apart by an extra label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.frame.columns import frame_of
from headrace.frame.concat import concat
from headrace.frame.construct import repeated
from headrace.groupby.aggregate import aggregable_columns, aggregated, with_keys
from headrace.groupby.keys import Words
from headrace.lazy.handle import mark
from headrace.rows import unnamed
from headrace.series.column import new_series, series_of
from headrace.series.elementwise import row_positions

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series


def rows_of_levels(
    groups: GroupBy, made: DataFrame, levels: list[Any], parts: list[dict[str, Series]]
) -> DataFrame:
    """One row per group of `made` and level, with the columns of that level.

    Rows of one group are adjacent. The level is the last label.
    """
    keys = [name for name, _ in groups._keys]
    level_name = unnamed(len(keys), len(keys) + 1)
    places = row_positions(series_of(made._key(keys[0])))
    frames = []
    for i, (level, part) in enumerate(zip(levels, parts, strict=True)):
        frame = frame_of({name: column._node for name, column in part.items()})
        frame._labels = {key: made._key(key) for key in keys}
        frame._labels[level_name] = repeated(places._node, level)
        frame[" row"] = places * len(levels) + i
        frames.append(frame)
    rows = concat(frames).sort_values(" row").drop(columns=" row")
    return with_keys(groups, rows._labels, rows._nodes)


def corr(groups: GroupBy, x: str | None, y: str | None, numeric_only: bool) -> DataFrame:
    """See `GroupBy.corr`."""
    if x is None or y is None:
        return group_matrix(groups, "corr", 1, numeric_only)
    first, second = (groups._nodes[groups._find(name)] for name in (x, y))
    return aggregated(groups, [Words("corr", "corr", first, second)])


def group_matrix(groups: GroupBy, kind: str, ddof: int, numeric_only: bool) -> DataFrame:
    """Correlations or covariances of column pairs: one row per group and column."""
    mark(kind)
    columns = aggregable_columns(groups, kind, numeric_only)
    names = list(columns)
    pairs = [(a, b) for at, a in enumerate(names) for b in names[: at + 1]]
    words = []
    for i, (a, b) in enumerate(pairs):
        if kind == "corr":
            words.append(Words(f" {i}", "corr", columns[a], columns[b]))
            continue
        one, other = _deviations(groups, new_series(columns[a]), new_series(columns[b]))
        words += [
            Words(f" {i} {n}", "sum", each._node)
            for n, each in enumerate((one * other, one, other))
        ]
        words.append(Words(f" {i} rows", "count", one._node))
    made = aggregated(groups, words)
    found = {}
    for i, (a, b) in enumerate(pairs):
        if kind == "corr":
            between = made[f" {i}"]
        else:
            products, mine, theirs = (made[f" {i} {n}"] for n in range(3))
            rows = made[f" {i} rows"]
            # Corrects for rounded means; see `Series.cov`.
            between = (products - mine * (theirs / rows)) / (rows - ddof)
            between = between.where(rows > ddof)
        found[a, b] = found[b, a] = between
    return rows_of_levels(groups, made, names, [{b: found[a, b] for b in names} for a in names])


def _deviations(groups: GroupBy, one: Series, other: Series) -> tuple[Series, Series]:
    """Deviations from the group means over complete pairs, in float64."""
    both = one.notna() & other.notna()
    sides = [each.astype("float64").where(both) for each in (one, other)]
    mine, theirs = (each - groups._column("side", each._node).transform("mean") for each in sides)
    return mine, theirs
