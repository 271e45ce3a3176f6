# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that reduces columns or rows to single values.

Columns of unsupported dtypes raise; ``numeric_only=True`` drops all but numbers.

>>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
>>> df.mean().to_dict(), df.sum(axis=1).to_list()
({'x': 3.0, 'y': 2.0}, [2.5, 2.0, 8.5])
"""

from __future__ import annotations

import datetime
import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.aggregates import NUMBERS, TABLE, column_kinds, other_kinds_across
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.column_reductions import column_values, reduced, reduced_numbers
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.frame.concat import concat
from headrace.groupby.keys import aggregate_label, aggregate_name, is_custom
from headrace.lazy.handle import array_of, mark
from headrace.series.column import new_series, series_of, with_rows_of
from headrace.series.decimal import in_one_column
from headrace.series.duration import level_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

Axis = int | str


def _least(a: Series, b: Series) -> Series:
    return a._elementwise("minimum", a, b).where(a.notna() & b.notna(), a.combine_first(b))


def _greatest(a: Series, b: Series) -> Series:
    return a._elementwise("maximum", a, b).where(a.notna() & b.notna(), a.combine_first(b))


def _are_floats(columns: list[Series]) -> bool:
    return all(c._node.dtype == "float64" for c in columns)


def _counts(columns: list[Series]) -> Series:
    if _are_floats(columns):
        return columns[0]._like(_core.row_total([c._node for c in columns], True))
    return functools.reduce(operator.add, (c.notna().astype("int64") for c in columns))


def _sum(columns: list[Series]) -> Series:
    if _are_floats(columns):
        return columns[0]._like(_core.row_total([c._node for c in columns], False))
    zero = datetime.timedelta(0) if columns[0].dtype.kind == "m" else 0
    return functools.reduce(operator.add, (c.fillna(zero) for c in columns))


def _mean(columns: list[Series]) -> Series:
    there = _counts(columns)
    total: Series = _sum(columns) / there
    return total.where(there > 0)


def _var(columns: list[Series], ddof: int) -> Series:
    mean, there = _mean(columns), _counts(columns)
    squares = [((c - mean) ** 2).fillna(0.0) for c in columns]
    made: Series = functools.reduce(operator.add, squares) / (there - ddof)
    return made.where(there > ddof)


def _shape(columns: list[Series], power: int) -> Series:
    """Skewness or kurtosis of each row; NaN where its values are equal."""
    mean, n = _mean(columns), _counts(columns).astype("float64")
    apart = [(c - mean).fillna(0.0) for c in columns]
    squares, powers = (functools.reduce(operator.add, (a**p for a in apart)) for p in (2, power))
    if power == 3:
        made = n * (n - 1) ** 0.5 / (n - 2) * (powers / squares**1.5)
    else:
        made = (n + 1) * n * (powers / squares**2) - 3 * (n - 1)
        made = made * (n - 1) / ((n - 2) * (n - 3))
    differ = functools.reduce(_greatest, columns) > functools.reduce(_least, columns)
    return made.where(differ, float("nan")).where(n >= power)


def _truths(column: Series, missing: bool) -> Series:
    """Which values are nonzero, with a given result for missing ones."""
    return column.astype("bool").where(column.notna(), missing)


def _quantile(columns: list[Series], q: float, interpolation: str) -> Series:
    nodes = [c.astype("float64")._node for c in columns]
    return columns[0]._like(_core.row_quantile(nodes, q, interpolation))


_ACROSS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "prod": lambda columns: functools.reduce(operator.mul, (c.fillna(1) for c in columns)),
    "mean": _mean,
    "var": lambda columns, ddof=1: _var(columns, ddof),
    "std": lambda columns, ddof=1: _var(columns, ddof) ** 0.5,
    "sem": lambda columns, ddof=1: (_var(columns, ddof) / _counts(columns)) ** 0.5,
    "skew": lambda columns: _shape(columns, 3),
    "kurt": lambda columns: _shape(columns, 4),
    "median": lambda columns: _quantile(columns, 0.5, "linear"),
    "quantile": _quantile,
    "min": lambda columns: functools.reduce(_least, columns),
    "max": lambda columns: functools.reduce(_greatest, columns),
    "any": lambda columns: functools.reduce(operator.or_, (_truths(c, False) for c in columns)),
    "all": lambda columns: functools.reduce(operator.and_, (_truths(c, True) for c in columns)),
}


def supported_names(frame: DataFrame, kind: str, numeric_only: bool = False) -> list[str]:
    """The columns that an aggregate supports."""
    kinds = column_kinds(kind)
    if numeric_only:
        kinds = "".join(each for each in kinds if each in NUMBERS)
    every: list[str] = frame.columns
    names: list[str] = frame._names_of(kinds)
    if len(names) < len(every) and not numeric_only:
        taken = set(names)
        others = [name for name in every if name not in taken]
        raise TypeMismatchError(
            f"{kind}: unsupported columns: columns={others}; select other columns, or "
            "pass numeric_only=True"
        )
    return names


def supported_columns(frame: DataFrame, kind: str, numeric_only: bool = False) -> list[Series]:
    """The columns that an aggregate supports."""
    return [frame._series(name) for name in supported_names(frame, kind, numeric_only)]


def supported_along_rows(frame: DataFrame, kind: str, numeric_only: bool) -> list[Series]:
    """The columns that an aggregate along rows supports: numbers, if there are any."""
    kinds = other_kinds_across(kind)
    columns = supported_columns(frame, kind, numeric_only)
    numbers = [c for c in columns if c.dtype.is_of(NUMBERS)]
    columns = numbers or [c for c in columns if c.dtype.kind in kinds]
    if not columns:
        raise TypeMismatchError(f"{kind}: no numeric column: columns={frame.columns}")
    return columns


def supported_by_all(frame: DataFrame, functions: list[Any]) -> list[str]:
    """The columns that all of the aggregates support."""
    kinds = [
        column_kinds("std" if is_custom(each) else aggregate_name(each, "func"))
        for each in functions
    ]
    names: list[str] = frame.columns
    taken = [name for name in names if all(frame[name].dtype.is_of(each) for each in kinds)]
    if not taken:
        raise TypeMismatchError(
            f"agg: no column supports all of these aggregates: func={functions}, columns={names}"
        )
    return taken


def reduce_frame(
    frame: DataFrame,
    kind: str,
    axis: Axis | None = 0,
    numeric_only: bool = False,
    skipna: bool = True,
    **options: Any,
) -> Any:
    """An aggregate of each column, with ``axis=1`` of each row, with ``axis=None`` of all."""
    if axis is None and kind not in ("any", "all", "sum", "prod", "min", "max"):
        names = supported_names(frame, kind, numeric_only)
        return getattr(concat([frame[name]._plain() for name in names]), kind)(0, skipna, **options)
    if axis is None:
        return getattr(reduce_frame(frame, kind, 0, numeric_only, skipna, **options), kind)()
    if axis in (1, "columns"):
        columns = supported_along_rows(frame, kind, numeric_only)
        if kind.startswith("idx"):
            made = _names_of_extremes(frame, kind, columns)
            return labelled_rows(frame, kind, with_rows_of(made, columns[0]._node))
        if kind not in _ACROSS:
            raise UnsupportedError(f"{kind}: not supported along rows: axis={axis!r}; pass axis=0")
        mark(kind)
        plain = [type(c)._plain(c) for c in columns]
        if TABLE[kind].result in ("total", "moment"):
            plain = [c.astype("int64") if c.dtype == "bool" else c for c in plain]
        made = _ACROSS[kind](plain, **options)
        if not skipna:
            made = made.where(functools.reduce(operator.and_, (c.notna() for c in plain)))
        return labelled_rows(frame, kind, made)
    names = supported_names(frame, kind, numeric_only)
    if axis not in (0, "index"):
        raise InvalidArgumentError(f"{kind}: expected axis 0 or 1: axis={axis!r}")
    if not skipna:
        options = {**options, "skipna": False}
    every = frame._nodes
    taken = every if len(names) == len(every) else {name: every[name] for name in names}
    found = reduced_numbers(taken, kind, options)
    if found is not None:
        return found
    named = {name: frame._series(name) for name in names}
    return reduced(named, dict.fromkeys(named, kind), **options)


def _names_of_extremes(frame: DataFrame, kind: str, columns: list[Series]) -> Series:
    """The name of the column of the first smallest or largest value of each row."""
    import numpy as np

    values = np.column_stack([c.astype("float64").to_numpy() for c in columns])
    places = (np.nanargmin if kind == "idxmin" else np.nanargmax)(values, axis=1)
    names = [c.name for c in columns]
    return new_series([names[at] for at in places.tolist()])


def labelled_rows(frame: DataFrame, name: str, made: Series) -> Series:
    """One value per row, with the row labels."""
    return frame_of({name: made._node}, frame._labels)._series(name).rename(None)


def quantile(
    frame: DataFrame,
    q: float | list[float] = 0.5,
    axis: Axis = 0,
    *,
    numeric_only: bool = False,
    interpolation: str = "linear",
    method: str = "single",
) -> Any:
    """See `DataFrame.quantile`."""
    q = q.tolist() if hasattr(q, "tolist") else q
    if method == "table":
        return _rows_at(frame, q, interpolation)
    if not isinstance(q, list):
        level = level_of(q)
        return reduce_frame(
            frame, "quantile", axis, numeric_only, q=level, interpolation=interpolation
        )
    if axis in (1, "columns"):
        across = {level: quantile(frame, level, 1, interpolation=interpolation) for level in q}
        return new_frame({str(i): each for i, each in enumerate(across.values())}).T.set_axis(q)
    columns = supported_columns(frame, "quantile", numeric_only)
    return new_frame({c.name: c.quantile(q, interpolation) for c in columns}, index=q)


def _rows_at(frame: DataFrame, q: float | list[float], interpolation: str) -> Any:
    """Rows of the sorted frame; one as a row, several labelled by their quantiles."""
    ways: dict[str, Callable[[float], int]] = {
        "nearest": round,
        "lower": math.floor,
        "higher": math.ceil,
    }
    rounded = ways.get(interpolation)
    if rounded is None:
        raise InvalidArgumentError(
            f"quantile: invalid value for method='table': interpolation={interpolation!r}; "
            "expected 'nearest', 'lower' or 'higher'"
        )
    ordered = frame.sort_values(list(frame.columns), ignore_index=True)
    levels = [level_of(each) for each in (q if isinstance(q, list) else [q])]
    places = [rounded(level * (len(frame) - 1)) for level in levels]
    if not isinstance(q, list):
        return ordered.iloc[places[0]]
    return ordered.take(places).set_axis(q)


def mode(frame: DataFrame, numeric_only: bool = False, dropna: bool = True) -> DataFrame:
    """See `DataFrame.mode`."""
    columns = [type(c)._plain(c) for c in supported_columns(frame, "mode", numeric_only)]
    modes = [c.mode(dropna) for c in columns]
    rows = max(map(len, modes))
    nulls = [c.shift(len(c))[: rows - len(m)] for c, m in zip(columns, modes, strict=True)]
    domain = _core.new_domain()
    found = {
        str(m.name): _core.in_domain(concat([m, n])._node, domain)
        for m, n in zip(modes, nulls, strict=True)
    }
    return frame_of(found)


def count(frame: DataFrame, axis: Axis = 0) -> Any:
    """See `DataFrame.count`."""
    if axis in (1, "columns"):
        columns = [frame[name] for name in frame._nodes]
        return labelled_rows(frame, "count", _counts(columns))
    return reduce_frame(frame, "count")


def agg(frame: DataFrame, func: Any, axis: Axis = 0) -> Any:
    """See `DataFrame.agg`."""
    mark("agg")
    if axis in (1, "columns"):
        if not isinstance(func, list):
            return frame.apply(func, axis=1)
        return new_frame({aggregate_label(e, "func"): frame.apply(e, axis=1) for e in func})
    if not isinstance(func, Mapping | list):
        if is_custom(func):
            return reduced_by(frame, func)
        name = aggregate_name(func, "func")
        return getattr(frame, name)()
    asked = (
        dict(func)
        if isinstance(func, Mapping)
        else {name: func for name in supported_by_all(frame, func)}
    )
    columns = {frame._find(n): frame[n] for n in asked}
    named = {
        n: {aggregate_label(one, n): one for one in (each if isinstance(each, list) else [each])}
        for n, each in asked.items()
    }
    if not any(isinstance(each, list) for each in asked.values()):
        if any(is_custom(each) for each in asked.values()):
            return column_values({n: c.agg(asked[n]) for n, c in columns.items()}, "agg")
        return reduced(columns, {name: one for name, (one,) in named.items()})
    rows = list(dict.fromkeys(one for each in named.values() for one in each))
    made = {
        n: in_one_column([c.agg(named[n][one]) if one in named[n] else None for one in rows])
        for n, c in columns.items()
    }
    return new_frame(made, index=rows)


def reduced_by(frame: DataFrame, func: Any) -> Any:
    """What a Python function gives for each column, in a series labelled by column."""
    return column_values({name: func(frame[name]) for name in frame._nodes}, "agg")


def _bools_as_numbers(frame: DataFrame) -> DataFrame:
    return frame.astype(dict.fromkeys(frame._names_of("b"), "int8"))


def pairwise(frame: DataFrame, kind: str, numeric_only: bool, matrix: Any) -> DataFrame:
    """A frame of `matrix` applied to each pair of columns, labelled by their names."""
    columns = supported_columns(_bools_as_numbers(frame), kind, numeric_only)
    mark(kind)
    names = [c.name for c in columns]
    values = array_of(matrix([c._node for c in columns])).to_numpy()
    return new_frame(values, names, names)


def by_pairs(frame: DataFrame, method: str, numeric_only: bool) -> DataFrame:
    """Correlations of another kind of each pair of columns, over complete pairs."""
    columns = supported_columns(_bools_as_numbers(frame), "corr", numeric_only)
    names = [str(c.name) for c in columns]
    plain = [new_series(c._plain()) for c in columns]
    ranked = method == "spearman" and all(not c.hasnans for c in plain)
    ranks = [c.rank() for c in plain] if ranked else plain
    made = {}
    for name, one in zip(names, ranks, strict=True):
        found = [one.corr(other, "pearson" if ranked else method) for other in ranks]
        made[name] = [float(each) for each in found]
    return new_frame(made, index=names)


def corrwith(frame: DataFrame, other: Any, method: str, drop: bool = False) -> Series:
    """See `DataFrame.corrwith`."""
    frame = frame.astype(dict.fromkeys(frame._names_of("b"), "int8"))
    names = frame._names_of("iuf")
    if is_frame(other):
        names = [name for name in names if name in other]
    found = [
        float(frame[name].corr(other[name] if is_frame(other) else other, method)) for name in names
    ]
    every = sorted({*frame.columns, *other.columns}) if is_frame(other) and not drop else names
    return new_frame({"corr": found}, index=names).reindex(every)["corr"]


def describe(
    frame: DataFrame,
    percentiles: list[float] | None = None,
    include: Any = None,
    exclude: Any = None,
) -> DataFrame:
    """See `DataFrame.describe`."""
    if exclude is not None or include not in (None, "all"):
        if include == "all":
            raise InvalidArgumentError(
                f"describe: exclude must be None with include='all': {exclude=}"
            )
        return describe(frame.select_dtypes(include, exclude), percentiles, "all")
    names = frame.columns
    numbers, times = frame._names_of("iuf"), frame._names_of("mM")
    described = {*numbers, *times}
    others = [name for name in names if name not in described]
    levels = sorted(set(percentiles)) if percentiles is not None else [0.25, 0.5, 0.75]
    found: dict[str, dict[str, Any]] = {}
    if numbers:
        found |= _numbers_described(frame, numbers, levels)
    found |= {name: _times_described(frame[name], levels) for name in times}
    if others and (include == "all" or not found):
        found |= {name: _values_described(frame[name]) for name in others}
    if not found:
        raise TypeMismatchError(f"describe: the frame has no columns: columns={frame.columns}")
    rows = list(dict.fromkeys(row for each in sorted(found.values(), key=len) for row in each))
    table: dict[str, Any] = {"statistic": rows}
    for name in names:
        if name in found:
            table[name] = [found[name].get(row) for row in rows]
    return new_frame(table).set_index("statistic")


def _percent(level: float) -> str:
    return f"{100 * level:.6g}%"


def _numbers_described(frame: Any, names: list[str], levels: list[float]) -> dict[str, Any]:
    todo: dict[str, list[Any]] = {}
    for name in names:
        column = frame._series(name).astype("float64")  # the minimum of no integers is NaN
        parts = [column.count(), column.mean(), column.std(), column.min(), column.max()]
        todo[name] = [*parts, column.quantile(levels)]
    _core.force([part._node for parts in todo.values() for part in parts])
    made: dict[str, Any] = {}
    for name, (count, mean, std, least, most, quantiles) in todo.items():
        made[name] = dict(
            zip(
                ["count", "mean", "std", "min", *map(_percent, levels), "max"],
                [float(x) for x in (count, mean, std, least, *quantiles.tolist(), most)],
                strict=True,
            )
        )
    return made


def _times_described(column: Series, levels: list[float]) -> dict[str, str | None]:
    found = [column.mean(), column.min(), *column.quantile(levels).to_list(), column.max()]
    words = ["mean", "min", *map(_percent, levels), "max"]
    if column.dtype.kind == "m":
        found.insert(1, column.std())
        words.insert(1, "std")
    texts = new_series(found, dtype=column.dtype).astype("string").to_list()
    return {"count": str(int(column.count())), **dict(zip(words, texts, strict=True))}


def _values_described(column: Series) -> dict[str, str | None]:
    counted = column.value_counts().head(1).to_dict()
    top, times = next(iter(counted.items()), (None, 0))
    values = {
        "count": int(column.count()),
        "unique": int(column.nunique()),
        "top": top,
        "freq": times,
    }
    return {word: None if value is None else str(value) for word, value in values.items()}


def distinct_numbers(frame: DataFrame, dropna: bool) -> Series:
    """The number of distinct values in each row."""
    columns = [series_of(node) for node in frame._nodes.values()]
    mark("nunique")
    new = [
        functools.reduce(operator.and_, [c.notna(), *(c != other for other in columns[:place])])
        for place, c in enumerate(columns)
    ]
    if not dropna:
        new.append(functools.reduce(operator.or_, (c.isna() for c in columns)))
    total = functools.reduce(operator.add, (each.astype("int64") for each in new))
    return labelled_rows(frame, "nunique", total)
