# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` for reductions and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.columns import new_frame
from headrace.frame.duplicates import counted_values
from headrace.frame.reshape import cut
from headrace.groupby.keys import aggregate_label
from headrace.interop.through_pandas import called
from headrace.lazy.handle import Deferred, array_of, mark
from headrace.series.categorical import entries_of
from headrace.series.column import at_equal_labels, new_series, series_of, single_value
from headrace.series.datetime import is_time
from headrace.series.decimal import in_one_column
from headrace.series.duration import is_duration, level_of

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.series.series import Series


def _by_category(values: Series, bins: bool, dropna: bool) -> Any:
    """The number of values of each category or bin, in their order, also of none; evaluates."""
    name = values.name or "key"
    plain = values._plain()
    counted = plain.groupby(plain, sort=False, dropna=dropna or bins).size().to_dict()
    names = values.cat.categories.to_list() if counted or not (bins and dropna) else []
    keys = series_of(entries_of(values.cat.categories if names else names, values.cat.ordered))
    rows = [*names, None] if None in counted else names
    counts = new_series([counted.get(each, 0) for each in rows], dtype="int64")
    return new_frame({name: keys.head(len(rows)), "count": counts}).set_index(name)["count"]


def total(series: Series, kind: str, ddof: int = 0) -> Any:
    """A reduction; of times, decimals and strings a value, evaluated here."""
    node = _core.column_reduction(kind, series._node, ddof)
    if not node.shape:
        return array_of(node)
    values = series_of(node).to_list()
    return single_value(values[0]) if values else None


def unless_missing(series: Series, found: Any, skipna: bool, min_count: int = 0) -> Any:
    """NaN instead of a total of too few values, or with missing values not skipped."""
    if not isinstance(found, Deferred):  # an evaluated value
        gone = not skipna and series.isna().any().item()
        return None if gone or int(series.count()) < min_count else found
    if not skipna:
        found = found._elementwise("where", series.isna().any(), float("nan"), found)
    if min_count > 0:
        few = series.count() < min_count
        found = found._elementwise("where", few, float("nan"), found)
    return found


def reduce_series(
    series: Series, kind: str, skipna: bool = True, min_count: int = 0, ddof: int = 0
) -> Any:
    """A reduction by name; see `Series.sum` and the others."""
    if kind in ("idxmin", "idxmax"):
        return label_of(series, f"arg{kind[3:]}")
    if kind in ("any", "all"):
        return total(series if skipna else (series != 0) | series.isna(), kind)
    found = median(series) if kind == "median" else total(series, kind, ddof)
    return unless_missing(series, found, skipna, min_count)


def position_of(series: Series, kind: str) -> Any:
    """The position of the first smallest or largest value."""
    if series.dtype.kind in "biuf":
        return series._reduce(kind, skip_nan=True)
    return series.argsort(ascending=kind == "argmin")[0]


def label_of(series: Series, kind: str) -> Any:
    """The label of the first smallest or largest value."""
    place = position_of(series, kind)
    if getattr(series, "_frame", None) is None and series._numbers is None:
        return Deferred._row_number(place._node, series._node.domain)
    return series.index[int(place)]


def mode(series: Series, dropna: bool = True) -> Series:
    """See `Series.mode`."""
    if len(series) == 0 or (dropna and int(series.count()) == 0):
        return series.dropna().reset_index(drop=True)
    count = series.value_counts(dropna=dropna)
    value, count = series_of(count.index._node), count._plain()
    found = value[count == count.max()].sort_values()
    return found.reset_index(drop=True).rename(series.name)


def corr(series: Series, other: Any, method: str = "pearson") -> Any:
    """See `Series.corr`."""
    mark("corr")
    other = at_equal_labels(series._node, series._levels, other)
    if method == "kendall":
        theirs = other.to_pandas()
        return called("corr", lambda: float(series.to_pandas().corr(theirs, method=method)))
    if method not in ("pearson", "spearman"):
        raise InvalidArgumentError(
            f"corr: invalid value: method={method!r}; expected 'pearson', 'spearman' or 'kendall'"
        )
    if method == "spearman":
        both = series.notna() & other.notna()
        series, other = (each.where(both).rank() for each in (series, other))
    columns = [_core.correlated_numbers(each._node) for each in (series, other)]
    return array_of(_core.correlation(columns))[0, 1]


def aggregate_series(series: Series, func: Any, **options: Any) -> Any:
    """See `Series.agg`."""
    if isinstance(func, dict):
        return new_series(in_one_column([series.agg(e) for e in func.values()]), index=list(func))
    if isinstance(func, list):
        names = [aggregate_label(each, "func") for each in func]
        made = in_one_column([series.agg(each) for each in func])
        return new_frame({series.name or "value": made}, index=names)[series.name or "value"]
    if callable(func) and not isinstance(func, str):
        return func(series)
    method = getattr(series, func, None) if isinstance(func, str) else None
    if method is None:
        raise InvalidArgumentError(f"agg: unknown aggregate: func={func!r}")
    return method(**options) if callable(method) else method


def is_ordered(series: Series, wrong: str) -> bool:
    """Whether no value is missing, or `wrong` ("less" or "greater") than the one before it."""
    falls = series._elementwise(wrong, series, series.shift(), missing_is_false=True)
    return not bool((falls | series.isna()).any())


def quantiles(series: Series, q: float | list[float] = 0.5, interpolation: str = "linear") -> Any:
    """See `Series.quantile`."""
    mark("quantile")
    q = q.tolist() if hasattr(q, "tolist") else q
    levels = [level_of(each) for each in (q if isinstance(q, list) else [q])]
    node = _core.quantile(series._node, levels, interpolation)
    if is_time(series) or is_duration(series):
        times = series_of(node)
        return times if isinstance(q, list) else single_value(times.to_list()[0])
    return array_of(node) if isinstance(q, list) else array_of(node)[0]


def median(series: Series) -> Any:
    """See `Series.median`."""
    values = series.astype("float64") if series.dtype == "bool" else series
    return values.quantile(0.5)


def value_counts(
    series: Series,
    normalize: bool = False,
    sort: bool = True,
    ascending: bool = False,
    bins: int | list[Any] | None = None,
    dropna: bool = True,
) -> Any:
    """See `Series.value_counts`."""
    if bins is not None:
        binned = cut(series, bins, include_lowest=True)
        made = counted_values(_by_category(binned, True, dropna), False, sort, ascending)
        return (made / len(series)).rename("proportion") if normalize else made
    if series.dtype == "category":
        return counted_values(_by_category(series, False, dropna), normalize, sort, ascending)
    counted = series.groupby(series, sort=False, dropna=dropna).size()
    return counted_values(counted, normalize, sort, ascending)


def nunique(series: Series, dropna: bool = True) -> Array:
    """See `Series.nunique`."""
    if dropna and _core.are_unique([series._node]):
        return series.count()
    mark("nunique")
    return array_of(_core.count_distinct(series._node, dropna))
