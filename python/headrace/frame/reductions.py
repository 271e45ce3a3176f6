# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that reduces columns or rows to single values."""

from __future__ import annotations

import datetime
import functools
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.aggregates import NUMBERS, TABLE, column_kinds, other_kinds_across
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.rows import free_name
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


def _counts(columns: list[Series]) -> Series:
    return functools.reduce(operator.add, (c.notna().astype("int64") for c in columns))


def _sum(columns: list[Series]) -> Series:
    zero = datetime.timedelta(0) if columns[0].dtype.kind == "m" else 0
    total: Series = functools.reduce(operator.add, (c.fillna(zero) for c in columns))
    return total


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
    made: Series = columns[0]._like(_core.row_quantile(nodes, q, interpolation))
    return made


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


class FrameReductions:
    """Reductions of a frame along columns, or along rows (``axis=1``), to a series.

    Columns of unsupported dtypes are dropped; ``numeric_only=True`` drops all but numbers,
    ``numeric_only=False`` raises for unsupported ones.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
    >>> df.mean().to_dict(), df.sum(axis=1).to_list()
    ({'x': 3.0, 'y': 2.0}, [2.5, 2.0, 8.5])
    """

    __slots__ = ()

    def _taken_names(self: Any, kind: str, numeric_only: bool | None = None) -> list[str]:
        """The columns that an aggregate supports."""
        kinds = column_kinds(kind)
        if numeric_only:
            kinds = "".join(each for each in kinds if each in NUMBERS)
        every: list[str] = self._unlabelled()
        names: list[str] = self._names_of(kinds)
        if len(names) < len(every) and numeric_only is False:
            taken = set(names)
            others = [name for name in every if name not in taken]
            raise TypeMismatchError(
                f"{kind}: unsupported columns: columns={others}; select other columns, or "
                "pass numeric_only=True"
            )
        if not names:
            raise TypeMismatchError(f"{kind}: no numeric column: columns={self.columns}")
        return names

    def _taken(self: Any, kind: str, numeric_only: bool | None = None) -> list[Series]:
        return [self._series(name) for name in self._taken_names(kind, numeric_only)]

    def _taken_across(self: Any, kind: str, numeric_only: bool | None) -> list[Series]:
        """The columns that an aggregate along rows supports: numbers, if there are any."""
        kinds = other_kinds_across(kind)
        columns = self._taken(kind, numeric_only)
        numbers = [c for c in columns if c.dtype.is_of(NUMBERS)]
        columns = numbers or [c for c in columns if c.dtype.kind in kinds]
        if not columns:
            raise TypeMismatchError(f"{kind}: no numeric column: columns={self.columns}")
        return columns

    def _taken_by_all(self: Any, functions: list[Any]) -> list[str]:
        """The columns that all of the aggregates support."""
        from headrace.groupby.groupby import aggregate_name

        kinds = [column_kinds(aggregate_name(each, "func")) for each in functions]
        names: list[str] = self._unlabelled()
        taken = [name for name in names if all(self[name].dtype.is_of(each) for each in kinds)]
        if not taken:
            raise TypeMismatchError(
                f"agg: no column supports all of these aggregates: func={functions}, "
                f"columns={names}"
            )
        return taken

    def _each(
        self: Any,
        kind: str,
        axis: Axis = 0,
        numeric_only: bool | None = None,
        **options: Any,
    ) -> Any:
        from headrace.frame.column_reductions import reduced, reduced_numbers

        if axis in (1, "columns"):
            columns = self._taken_across(kind, numeric_only)
            if kind not in _ACROSS:
                raise UnsupportedError(
                    f"{kind}: not supported along rows: axis={axis!r}; pass axis=0"
                )
            mark(kind)
            plain = [type(c)._plain(c) for c in columns]
            if TABLE[kind].result in ("total", "moment"):
                plain = [c.astype("int64") if c.dtype == "bool" else c for c in plain]
            made = _ACROSS[kind](plain, **options)
            return self._of_each_row(kind, made)
        names = self._taken_names(kind, numeric_only)
        if axis not in (0, "index"):
            raise InvalidArgumentError(f"{kind}: expected axis 0 or 1: axis={axis!r}")
        made = reduced_numbers({name: self._nodes[name] for name in names}, kind, options)
        if made is not None:
            return made
        named = {name: self._series(name) for name in names}
        return reduced(named, dict.fromkeys(named, kind), **options)

    def _of_each_row(self: Any, name: str, made: Series) -> Series:
        """One value per row, with the row labels."""
        from headrace.frame.dataframe import DataFrame
        from headrace.frame.labels import LabelledSeries
        from headrace.series.series import Series

        if not self._labels:
            return Series(made._node)
        name = free_name(name, self._labels)
        nodes = {**self._labels, name: made._node}
        return LabelledSeries(DataFrame._of(nodes, self._labels), None)

    def sum(self, axis: Axis = 0, *, numeric_only: bool | None = None, min_count: int = 0) -> Any:
        """Sums, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.sum().to_dict()
        {'x': 9.0, 'y': 4.0}
        """
        if min_count == 0:
            return self._each("sum", axis, numeric_only)
        return self._each("sum", axis, numeric_only, min_count=min_count)

    def prod(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Products, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.prod().to_dict()
        {'x': 12.0, 'y': 3.75}
        """
        return self._each("prod", axis, numeric_only)

    product = prod

    def mean(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Means, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.mean().to_dict()
        {'x': 3.0, 'y': 2.0}
        """
        return self._each("mean", axis, numeric_only)

    def median(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Medians, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.median().to_dict()
        {'x': 2.0, 'y': 2.0}
        """
        return self._each("median", axis, numeric_only)

    def quantile(
        self: Any,
        q: float | list[float] = 0.5,
        axis: Axis = 0,
        *,
        numeric_only: bool | None = None,
        interpolation: str = "linear",
    ) -> Any:
        """Quantiles of each column, one row per quantile of a list; see `Series.quantile`.

        Along rows (``axis=1``) one float64 per row, null if all values are missing.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, None, 8.0]})
        >>> df.quantile([0.5, 1.0]).a.to_list(), df.quantile(0.5, axis=1).to_list()
        ([2.0, 4.0], [2.0, 2.0, 6.0])
        """
        from headrace.frame.dataframe import DataFrame

        if not isinstance(q, list):
            level = level_of(q)
            return self._each("quantile", axis, numeric_only, q=level, interpolation=interpolation)
        if axis in (1, "columns"):
            raise UnsupportedError(
                f"quantile: axis=1 takes a single quantile: q={q!r}; call it once for each"
            )
        columns = self._taken("quantile", numeric_only)
        return DataFrame({str(c.name): c.quantile(q, interpolation) for c in columns})

    def std(self, axis: Axis = 0, *, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Standard deviations, with divisor ``n - ddof``.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.std().round(6).to_dict()
        {'x': 2.645751, 'y': 0.707107}
        """
        return self._each("std", axis, numeric_only, ddof=ddof)

    def var(self, axis: Axis = 0, *, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Variances, with divisor ``n - ddof``.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.var().round(6).to_dict()
        {'x': 7.0, 'y': 0.5}
        """
        return self._each("var", axis, numeric_only, ddof=ddof)

    def sem(self, axis: Axis = 0, *, ddof: int = 1, numeric_only: bool | None = None) -> Any:
        """Standard errors of the means; see `Series.sem`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.sem().round(6).to_dict()
        {'x': 1.527525, 'y': 0.5}
        """
        return self._each("sem", axis, numeric_only, ddof=ddof)

    def skew(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Sample skewness; see `Series.skew`.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2, 5, 9], "y": [1, 2, 2, 3]}).skew().round(6).to_dict()
        {'x': 0.888584, 'y': 0.0}
        """
        return self._each("skew", axis, numeric_only)

    def kurt(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Excess kurtosis of samples; see `Series.kurt`.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2, 5, 9]}).kurt().round(6).to_dict()
        {'x': -0.581894}
        """
        return self._each("kurt", axis, numeric_only)

    kurtosis = kurt

    def mode(self: Any, *, numeric_only: bool | None = None) -> DataFrame:
        """The most frequent values of each column, sorted, padded with null; evaluates.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 1, 2], "y": ["b", "a", None]}).mode().to_dict()
        {'x': [1, None], 'y': ['a', 'b']}
        """
        from headrace.frame.concat import concat
        from headrace.frame.dataframe import DataFrame

        columns = [type(c)._plain(c) for c in self._taken("mode", numeric_only)]
        modes = [c.mode() for c in columns]
        rows = max(map(len, modes))
        nulls = [c.shift(len(c))[: rows - len(m)] for c, m in zip(columns, modes, strict=True)]
        domain = _core.new_domain()
        found = {
            str(m.name): _core.in_domain(concat([m, n])._node, domain)
            for m, n in zip(modes, nulls, strict=True)
        }
        return DataFrame._of(found)

    def min(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Minima, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.min().to_dict()
        {'x': 1.0, 'y': 1.5}
        """
        return self._each("min", axis, numeric_only)

    def max(self, axis: Axis = 0, *, numeric_only: bool | None = None) -> Any:
        """Maxima, skipping null and NaN.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.max().to_dict()
        {'x': 6.0, 'y': 2.5}
        """
        return self._each("max", axis, numeric_only)

    def any(self, axis: Axis = 0) -> Any:
        """Whether any value is true (nonzero).

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [0, 2], "y": [0, 0]}).any().to_dict()
        {'x': True, 'y': False}
        """
        return self._each("any", axis)

    def all(self, axis: Axis = 0) -> Any:
        """Whether all values are true (nonzero), skipping missing ones.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [0, 2], "y": [1, 1]}).all().to_dict()
        {'x': False, 'y': True}
        """
        return self._each("all", axis)

    def count(self: Any, axis: Axis = 0) -> Any:
        """Counts of values that are neither null nor NaN, for all but complex columns.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.count().to_dict()
        {'x': 3, 'y': 2}
        """
        if axis in (1, "columns"):
            columns = [self[name] for name in self._unlabelled()]
            return self._of_each_row("count", _counts(columns))
        return self._each("count")

    def idxmin(self) -> Any:
        """Label, or position, of the first minimum of each column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.idxmin().to_dict()
        {'x': 0, 'y': 0}
        """
        return self._each("idxmin")

    def idxmax(self) -> Any:
        """Label, or position, of the first maximum of each column.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.idxmax().to_dict()
        {'x': 2, 'y': 2}
        """
        return self._each("idxmax")

    def agg(self: Any, func: Any) -> Any:
        """Aggregates by name: one for all columns, several, or per column by a mapping.

        Several give one row each, labelled by name, null where a column was not requested.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> df.agg({"x": "sum", "y": "max"}).to_dict()
        {'x': 3, 'y': 5}
        >>> df.agg(["min", "max"]).loc["max", "y"]
        5
        """
        from headrace.frame.column_reductions import reduced
        from headrace.frame.dataframe import DataFrame
        from headrace.groupby.groupby import aggregate_name

        mark("agg")
        if not isinstance(func, Mapping | list):
            name = aggregate_name(func, "func")
            return getattr(self, name)()
        asked = (
            dict(func)
            if isinstance(func, Mapping)
            else {name: func for name in self._taken_by_all(func)}
        )
        columns = {self._find(n): self[n] for n in asked}
        words = {
            n: [aggregate_name(one, n) for one in (each if isinstance(each, list) else [each])]
            for n, each in asked.items()
        }
        if not any(isinstance(each, list) for each in asked.values()):
            return reduced(columns, {name: one for name, (one,) in words.items()})
        rows = list(dict.fromkeys(one for each in words.values() for one in each))
        made = {
            n: in_one_column([c.agg(one) if one in words[n] else None for one in rows])
            for n, c in columns.items()
        }
        return DataFrame(made, index=rows)

    aggregate = agg

    def _pairs(self: Any, kind: str, numeric_only: bool | None, matrix: Any) -> DataFrame:
        """A frame of `matrix` applied to each pair of columns, labelled by their names."""
        from headrace.array.array import Array
        from headrace.frame.dataframe import DataFrame

        columns = self._taken(kind, numeric_only)
        mark(kind)
        names = [str(c.name) for c in columns]
        values = Array(matrix([c._node for c in columns])).to_numpy()
        return DataFrame(dict(zip(names, values.T.copy(), strict=True)), index=names)

    def corr(self, *, numeric_only: bool | None = None) -> DataFrame:
        """Pearson correlation of each pair of numeric columns, over complete pairs; evaluates.

        In float64; NaN if one of them is constant.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 1.0]})
        >>> round(df.corr().loc["x", "y"], 12)
        -1.0
        """
        return self._pairs("corr", numeric_only, _core.correlation)

    def cov(self, *, numeric_only: bool | None = None) -> DataFrame:
        """Covariance of each pair of numeric columns, over complete pairs; evaluates.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1, 2, 3], "y": [2, 4, 6]}).cov().to_dict()
        {'x': [1.0, 2.0], 'y': [2.0, 4.0]}
        """
        return self._pairs("cov", numeric_only, functools.partial(_core.covariance, ddof=1))

    def describe(
        self: Any, percentiles: list[float] | None = None, include: Any = None
    ) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each numeric column; evaluates.

        Times and durations are included as strings. A frame without any of these gives count,
        unique, top and freq of each column as strings; ``include="all"`` gives all of them. The
        first column, `statistic`, labels the rows.

        >>> import headrace as hr
        >>> hr.DataFrame({"x": [1.0, 3.0]}).describe().loc["mean", "x"]
        2.0
        """
        from headrace.frame.dataframe import DataFrame

        names = self._unlabelled()
        numbers, times = self._names_of("iuf"), self._names_of("mM")
        described = {*numbers, *times}
        others = [name for name in names if name not in described]
        if include not in (None, "all"):
            raise InvalidArgumentError(
                f"describe: invalid value: include={include!r}; expected 'all', or select "
                "columns first"
            )
        levels = sorted(set(percentiles)) if percentiles is not None else [0.25, 0.5, 0.75]
        found: dict[str, dict[str, Any]] = {}
        if numbers:
            found |= _numbers_described(self, numbers, levels)
        found |= {name: _times_described(self[name], levels) for name in times}
        if others and (include == "all" or not found):
            found |= {name: _values_described(self[name]) for name in others}
        if not found:
            raise TypeMismatchError(f"describe: the frame has no columns: columns={self.columns}")
        some = bool(set(found) & set(others))
        texts = ["count", "unique", "top", "freq"] if some else ["count"]
        rows = [*texts, "mean", "std", "min", *map(_percent, levels), "max"]
        if not numbers and not times:
            rows = texts
        table: dict[str, Any] = {"statistic": rows}
        for name in names:
            if name in found:
                table[name] = [found[name].get(row) for row in rows]
        return DataFrame(table).set_index("statistic")


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
    from headrace.series.series import Series

    found = [column.mean(), column.min(), *column.quantile(levels).to_list(), column.max()]
    words = ["mean", "min", *map(_percent, levels), "max"]
    if column.dtype.kind == "m":
        found.append(column.std())
        words.append("std")
    texts = Series(found, dtype=column.dtype).astype("string").to_list()
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
