# SPDX-License-Identifier: Apache-2.0
"""Several quantiles per group, and quantiles without interpolation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.groupby.aggregate import aggregable_columns, aggregated, with_keys
from headrace.groupby.keys import Words
from headrace.groupby.matrix import rows_of_levels
from headrace.lazy.handle import mark
from headrace.series.column import series_of
from headrace.series.datetime import is_time
from headrace.series.duration import is_duration, level_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series

#: Ranks, counted from 0, that replace a position between two values.
_PICKS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "linear": (),
    "lower": (lambda place: place._elementwise("floor", place),),
    "higher": (lambda place: place._elementwise("ceil", place),),
    "nearest": (lambda place: place.round(),),
}
_PICKS["midpoint"] = (*_PICKS["lower"], *_PICKS["higher"])


def group_quantiles(groups: GroupBy, q: Any, interpolation: str, numeric_only: bool) -> DataFrame:
    """The quantiles of each column: one row per group, or per group and level of a list."""
    mark("quantile")
    if interpolation not in _PICKS:
        raise InvalidArgumentError(
            f"quantile: invalid value: interpolation={interpolation!r}; expected "
            f"{', '.join(map(repr, _PICKS))}"
        )
    several = isinstance(q, list | tuple)
    levels = [level_of(each) for each in (q if several else [q])]
    if not levels or not all(0 <= each <= 1 for each in levels):
        raise InvalidArgumentError(f"quantile: out of range: q={q!r}; expected 0 to 1")
    columns = aggregable_columns(groups, "quantile", numeric_only)
    asked = {
        (name, i): _words(groups, f"{name} {i}", node, level, interpolation)
        for name, node in columns.items()
        for i, level in enumerate(levels)
    }
    made = aggregated(groups, [each for words in asked.values() for each in words])
    parts = [
        {name: _joined([made[each.name] for each in asked[name, i]]) for name in columns}
        for i in range(len(levels))
    ]
    if several:
        return rows_of_levels(groups, made, levels, parts)
    keys = {name: made._key(name) for name, _ in groups._keys}
    return with_keys(groups, keys, {name: column._node for name, column in parts[0].items()})


def _words(groups: GroupBy, name: str, node: Any, level: float, interpolation: str) -> list[Words]:
    """The aggregates from which a column's quantile is computed."""
    if interpolation == "linear" or node.dtype == "float64":
        return [Words(name, "quantile", node, q=level, interpolation=interpolation)]
    column = groups._column(name, node)
    place = (column.transform("count") - 1) * level
    ranks = column.rank(method="first") - 1
    return [
        Words(f"{name} {i}", "first", series_of(node).where(ranks == pick(place))._node)
        for i, pick in enumerate(_PICKS[interpolation])
    ]


def _joined(parts: list[Series]) -> Series:
    """One value, or the midpoint of two."""
    if len(parts) == 1:
        return parts[0]
    low, high = parts
    times = is_time(low) or is_duration(low)
    return low + (high - low) / 2 if times else low / 2 + high / 2
