# SPDX-License-Identifier: Apache-2.0
"""Functions of each row and its neighbours, and per-row group functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import mark
from headrace.rows import whole_number
from headrace.series.elementwise import row_positions

if TYPE_CHECKING:
    from headrace.series.series import Series

#: Methods of groups that `transform` accepts by name.
ROW_FUNCTIONS = (
    *("cumsum", "cumprod", "cummin", "cummax"),
    *("cumcount", "rank", "shift", "diff", "ffill", "bfill", "pct_change", "ngroup"),
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
    if series.dtype.kind not in "iuf":
        return series - series.shift(periods)
    mark("diff")
    periods = whole_number("diff", "periods", periods)
    made: Series = series._like(_core.diff_rows(series._node, periods))
    return made


def rank(
    series: Series, numeric_only: bool, method: str, na_option: str, ascending: bool, pct: bool
) -> Series:
    """See `Series.rank`."""
    if numeric_only and not series.dtype.is_of("biuf"):
        raise TypeMismatchError(
            f"rank: expected numbers: dtype={str(series.dtype)!r}; leave out numeric_only"
        )
    mark("rank")
    made: Series = series._like(_core.rank(series._node, method, not ascending))
    gone = series.isna().astype("int64")
    return ranks_with_missing(
        made, method, na_option, pct, gone, gone.sum(), series.count(), made.max(), gone.cumsum()
    )


def ranks_with_missing(
    ranks: Series,
    method: str,
    na_option: str,
    pct: bool,
    gone: Series,
    missing: Any,
    there: Any,
    distinct: Any,
    place: Series,
) -> Series:
    """Ranks of values, or as shares, with missing values before or after them, or null.

    Of the values ranked together, `there` are there and `missing` are not, at their `place`.
    """
    if na_option not in ("keep", "top", "bottom"):
        raise InvalidArgumentError(
            f"rank: invalid value: na_option={na_option!r}; expected 'keep', 'top' or 'bottom'"
        )
    last, missing = distinct if method == "dense" else there, missing * 1.0
    if na_option != "keep":
        several = {"average": (missing + 1) / 2, "max": missing, "first": place * 1.0}
        own = several.get(method, 1.0)
        size = (missing > 0) * 1.0 if method == "dense" else missing
        top = na_option == "top"
        ranks = (ranks + size if top else ranks).where(gone == 0, own if top else own + last)
        last = last + size
    return ranks / last if pct else ranks


def cumulate(series: Series, name: str) -> Series:
    """A cumulative function by name."""
    mark(name)
    if series._node.dtype == "bool" and name in ("cummin", "cummax"):
        return cumulate(series.astype("int8"), name).astype("bool")
    return series._like(_core.cumulative(name, series._node))
