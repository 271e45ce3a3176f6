# SPDX-License-Identifier: Apache-2.0
"""Functions of each row and its neighbours, and per-row group functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.lazy.handle import mark
from headrace.rows import whole_number
from headrace.series.elementwise import row_positions

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Methods of groups that `transform` accepts by name.
ROW_FUNCTIONS = (
    *("cumsum", "cumprod", "cummin", "cummax"),
    *("cumcount", "rank", "shift", "diff"),
)


def rows_of_groups(
    make: Callable[..., _core.Node],
    keys: list[_core.Node],
    columns: Mapping[str, _core.Node],
    *words: Any,
) -> dict[str, _core.Node]:
    """Per-row group functions of the engine, in the row order of `columns`."""
    table = make(keys, list(columns.values()), *words)
    return {
        name: _core.in_domain(_core.part(table, place), node.domain)
        for place, (name, node) in enumerate(columns.items())
    }


def shift(series: Series, periods: int = 1, *, fill_value: Any = None) -> Series:
    """See `Series.shift`."""
    mark("shift")
    periods = whole_number("shift", "periods", periods)
    made: Series = series._like(_core.shift(series._node, periods))
    if fill_value is None or periods == 0:
        return made
    places = row_positions(type(series)._plain(series))
    there = places >= periods if periods > 0 else places < places.count() + periods
    return made.where(there, fill_value)


def diff(series: Series, periods: int = 1) -> Series:
    """See `Series.diff`."""
    change: Series = series - series.shift(periods)
    return change


def rank(
    series: Series,
    method: Literal["average", "min", "max", "first", "dense"] = "average",
    ascending: bool = True,
    *,
    pct: bool = False,
) -> Series:
    """See `Series.rank`."""
    mark("rank")
    made: Series = series._like(_core.rank(series._node, method, not ascending))
    if not pct:
        return made
    return made / (made.max() if method == "dense" else series.count())


def cumulate(series: Series, name: str) -> Series:
    """A cumulative function by name."""
    mark(name)
    if series._node.dtype == "bool" and name in ("cummin", "cummax"):
        return cumulate(series.astype("int8"), name).astype("bool")
    made: Series = series._like(_core.cumulative(name, series._node))
    return made
