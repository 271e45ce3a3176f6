# SPDX-License-Identifier: Apache-2.0
"""The part of `Series` for reductions and groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.groupby.keys import groupby
from headrace.lazy.handle import mark
from headrace.rows import free_name
from headrace.series import decimal as decimals
from headrace.series.datetime import is_time
from headrace.series.decimal import is_decimal
from headrace.series.duration import (
    aggregate,
    counts,
    from_base,
    is_duration,
    level_of,
    quantile,
    unit_of,
)
from headrace.series.strings import is_text
from headrace.series.elementwise import SeriesValues

if TYPE_CHECKING:
    from headrace.array.array import Array
    from headrace.frame.labels import LabelledSeries
    from headrace.series.series import Series


def counted_values(counted: LabelledSeries, normalize: bool, sort: bool, ascending: bool) -> Any:
    """Sorted counts, or shares."""
    counted = counted.rename(free_name("count", counted._frame._labels))
    made = counted.sort_values(ascending=ascending) if sort else counted
    if not normalize:
        return made
    shares = made / made.sum()
    return shares.rename("proportion")


def _binned(values: Series, bins: Any, dropna: bool) -> Any:
    """The number of values in each bin, in bin order; evaluates."""
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.reshape import cut
    from headrace.series.series import Series

    binned = cut(values, bins, include_lowest=True)
    counted = binned.value_counts(sort=False).to_dict()
    names = binned.cat.categories.to_list() if counted or not dropna else []
    name = values.name or "key"
    bins_in_order = Series(names, dtype="category").cat.as_ordered()
    counts = Series([counted.get(each, 0) for each in names], dtype="int64")
    return DataFrame({name: bins_in_order, "count": counts}).set_index(name)["count"]


def _floats(series: Any) -> Any:
    """Decimals as floats, others unchanged."""
    return series.astype("float64") if is_decimal(series) else series


def _line(series: Any) -> Any:
    """Times and durations as numbers with an arbitrary origin; others unchanged."""
    if not (is_time(series) or is_duration(series)):
        return _floats(series)
    return from_base(counts(series, unit_of(series._node.dtype)))[0]


def _flags(series: Any) -> Any:
    """Durations as integers, which keep zero; others unchanged."""
    whole = is_duration(series)
    return counts(series, unit_of(series._node.dtype)) if whole else _floats(series)


class SeriesReductions(SeriesValues):
    """Reductions and groups of a column."""

    __slots__ = ()
    name: str | None

    # ---- reductions ------------------------------------------------------------------------------
    def _total(self, kind: str, ddof: int = 0) -> Any:
        """A reduction; for times and strings a value, evaluated here."""
        if is_decimal(self):
            if kind in ("sum", "min", "max"):
                return decimals.aggregate(self, kind)  # type: ignore[arg-type]
            if kind in ("mean", "std"):
                return self.astype("float64")._total(kind, ddof)
        if is_duration(self) or (kind in ("min", "max", "mean", "std") and is_time(self)):
            return aggregate(self, kind, **({"ddof": ddof} if kind == "std" else {}))
        if kind in ("min", "max") and is_text(self):
            first = self.dropna().sort_values(ascending=kind == "min").head(1).to_list()
            return first[0] if first else None
        return self._reduce(kind, ddof, skip_nan=True)

    def _unless(self: Any, total: Any, skipna: bool, min_count: int = 0) -> Any:
        """NaN instead of a total of too few values, or with missing values not skipped."""
        if not hasattr(total, "_elementwise"):  # an evaluated value
            gone = not skipna and self.isna().any().item()
            return None if gone or int(self.count()) < min_count else total
        if not skipna:
            total = total._elementwise("where", self.isna().any(), float("nan"), total)
        if min_count > 0:
            few = self.count() < min_count
            total = total._elementwise("where", few, float("nan"), total)
        return total

    def sum(self, *, skipna: bool = True, min_count: int = 0) -> Any:
        """Sum of the non-missing values; 0 for none, NaN for fewer than `min_count`.

        NaN with ``skipna=False`` if a value is missing, as in the other reductions. Durations give
        a timedelta, None instead of NaN.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).sum().item()
        7
        """
        return self._unless(self._total("sum"), skipna, min_count)

    def prod(self, *, skipna: bool = True, min_count: int = 0) -> Any:
        """Product of the non-missing values; 1 for none, NaN for fewer than `min_count`.

        Decimals give float64.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).prod().item()
        10
        """
        return self._unless(_floats(self)._reduce("prod", skip_nan=True), skipna, min_count)

    product = prod

    def mean(self, *, skipna: bool = True) -> Any:
        """Mean of the non-missing values; NaN for none. Times give a time, as in `min`.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).mean().item()
        3.5
        """
        return self._unless(self._total("mean"), skipna)

    def var(self, ddof: int = 1, *, skipna: bool = True) -> Any:
        """Variance with pandas' default of `ddof=1`.

        >>> import headrace as hr
        >>> hr.Series([2, 4, 6]).var().item()
        4.0
        """
        return self._unless(_floats(self)._reduce("var", ddof, skip_nan=True), skipna)

    def std(self, ddof: int = 1, *, skipna: bool = True) -> Any:
        """Standard deviation with pandas' default of `ddof=1`.

        >>> import headrace as hr
        >>> hr.Series([2, 4, 6]).std().item()
        2.0
        """
        return self._unless(self._total("std", ddof), skipna)

    def sem(self, ddof: int = 1, *, skipna: bool = True) -> Any:
        """Standard error of the mean: standard deviation over the root of the count.

        >>> import headrace as hr
        >>> hr.Series([1, 3, 5, 7, 9]).sem().round(6).item()
        1.414214
        """
        return self._unless(_floats(self)._reduce("sem", ddof, skip_nan=True), skipna)

    def skew(self, *, skipna: bool = True) -> Any:
        """Sample skewness; NaN for fewer than three values or equal ones.

        G1 of Joanes and Gill (1998), from moments of blocks around their means, merged by Pébay's
        formulas (2008).

        >>> import headrace as hr
        >>> round(hr.Series([1, 2, 5, 9]).skew().item(), 6)
        0.888584
        """
        return self._unless(_floats(self)._reduce("skew", skip_nan=True), skipna)

    def kurt(self, *, skipna: bool = True) -> Any:
        """Excess kurtosis of a sample (G2, see `skew`); NaN for fewer than four or equal values.

        >>> import headrace as hr
        >>> round(hr.Series([1, 2, 5, 9]).kurt().item(), 6)
        -0.581894
        """
        return self._unless(_floats(self)._reduce("kurt", skip_nan=True), skipna)

    kurtosis = kurt

    def min(self, *, skipna: bool = True) -> Any:
        """Smallest non-missing value; NaN for none.

        Numbers give a lazy one-element array. Dates, times and strings give a Python value
        (`numpy.datetime64` for nanoseconds), None if there is none, evaluated immediately.

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series(["b", None, "a"]).min(), hr.Series([datetime.date(2024, 2, 29)]).max()
        ('a', datetime.date(2024, 2, 29))
        """
        return self._unless(self._total("min"), skipna)

    def max(self, *, skipna: bool = True) -> Any:
        """Largest non-missing value; see `min`.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).max().item()
        5
        """
        return self._unless(self._total("max"), skipna)

    def argmin(self) -> Any:
        """Position of the first smallest value, skipping missing ones.

        >>> import headrace as hr
        >>> hr.Series([3, 1, None, 1]).argmin().item()
        1
        """
        return self._place("argmin")

    def argmax(self) -> Any:
        """Position of the first largest value, skipping missing ones.

        >>> import headrace as hr
        >>> hr.Series([3, 1, None, 1]).argmax().item()
        0
        """
        return self._place("argmax")

    def _place(self: Any, kind: str) -> Any:
        if self.dtype.kind in "biuf":
            return self._reduce(kind, skip_nan=True)
        return self.argsort(ascending=kind == "argmin")[0]

    def _label_of(self: Any, kind: str) -> Any:
        from headrace.frame.indexing import RowNumber

        place = self._place(kind)
        if getattr(self, "_frame", None) is None:
            return RowNumber(place._node, self._node.domain)
        return self.index.iloc[int(place)]

    def idxmin(self) -> Any:
        """Label of the first smallest value, or its position without labels.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b"], "x": [2, 1]})
        >>> df.x.idxmin().item(), df.set_index("id").x.idxmin()
        (1, 'b')
        """
        return self._label_of("argmin")

    def idxmax(self) -> Any:
        """Label of the first largest value, or its position without labels.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["a", "b"], "x": [2, 1]}).set_index("id").x.idxmax()
        'a'
        """
        return self._label_of("argmax")

    def mode(self: Any) -> Series:
        """The most frequent values, sorted; evaluates.

        >>> import headrace as hr
        >>> hr.Series(["b", "a", "b", "a", None]).mode().to_list()
        ['a', 'b']
        """
        from headrace.series.series import Series

        if len(self) == 0 or int(self.count()) == 0:
            return self.dropna().reset_index(drop=True)  # type: ignore[no-any-return]
        counted = self.value_counts().to_frame()
        value, count = (Series(node) for node in counted._nodes.values())
        found = value[count == count.max()].sort_values()
        return found.reset_index(drop=True).rename(self.name)  # type: ignore[no-any-return]

    def cov(self: Any, other: Any, ddof: int = 1) -> Any:
        """Covariance with another series of the same rows, over complete pairs; in float64.

        >>> import headrace as hr
        >>> hr.Series([1.0, 2.0, 3.0]).cov(hr.Series([2.0, 4.0, 6.0])).item()
        2.0
        """
        from headrace.array.array import Array

        mark("cov")
        columns = [_floats(each)._node for each in (self, other)]
        return Array(_core.covariance(columns, ddof))[0, 1]

    def corr(self: Any, other: Any) -> Any:
        """Pearson correlation with another series of the same rows, over complete pairs.

        In float64; NaN where one is constant.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
        >>> round(df.x.corr(df.y), 12)
        1.0
        """
        from headrace.array.array import Array

        mark("corr")
        return Array(_core.correlation([_line(each)._node for each in (self, other)]))[0, 1]

    def agg(self: Any, func: Any, **options: Any) -> Any:
        """An aggregate by name or function; a list of names gives a series labelled by them.

        >>> import headrace as hr
        >>> hr.Series([1, 3]).agg(["sum", "max"]).to_dict()
        {'sum': 4, 'max': 3}
        """
        from headrace.frame.dataframe import DataFrame
        from headrace.groupby.groupby import aggregate_name

        if isinstance(func, list):
            names = [aggregate_name(each, "func") for each in func]
            made = decimals.in_one_column([self.agg(name) for name in names])
            return DataFrame({self.name or "value": made}, index=names)[self.name or "value"]
        if callable(func) and not isinstance(func, str):
            return func(self)
        method = getattr(self, func, None) if isinstance(func, str) else None
        if method is None:
            raise InvalidArgumentError(f"agg: unknown aggregate: func={func!r}")
        return method(**options) if callable(method) else method

    aggregate = agg

    @property
    def is_unique(self: Any) -> bool:
        """Whether all values are distinct; evaluates.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 1]).is_unique
        False
        """
        return _core.are_unique([self._node]) or int(self.nunique(dropna=False)) == len(self)

    @property
    def hasnans(self: Any) -> bool:
        """Whether any value is null or NaN; evaluates.

        >>> import headrace as hr
        >>> hr.Series([3, None]).hasnans
        True
        """
        return bool(self.isna().any())

    @property
    def is_monotonic_increasing(self: Any) -> bool:
        """Whether no value is smaller than the one before it, and none is missing; evaluates.

        >>> import headrace as hr
        >>> hr.Series([1, 1, 3]).is_monotonic_increasing
        True
        """
        return bool(self._ordered("less"))

    @property
    def is_monotonic_decreasing(self: Any) -> bool:
        """Whether no value is greater than the one before it, and none is missing; evaluates.

        >>> import headrace as hr
        >>> hr.Series([1, 1, 3]).is_monotonic_decreasing
        False
        """
        return bool(self._ordered("greater"))

    def _ordered(self: Any, wrong: str) -> bool:
        falls = self._elementwise(wrong, self, self.shift()).fill_null(False)
        return not bool((falls | self.isna()).any())

    def count(self) -> Array:
        """Number of non-missing values.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).count().item()
        2
        """
        return self._reduce("count", skip_nan=True)

    def any(self) -> Array:
        """True if any value is true.

        >>> import headrace as hr
        >>> hr.Series([0, 2]).any().item()
        True
        """
        return _flags(self)._reduce("any", skip_nan=True)  # type: ignore[no-any-return]

    def all(self) -> Array:
        """True if all values are true.

        >>> import headrace as hr
        >>> hr.Series([0, 2]).all().item()
        False
        """
        return _flags(self)._reduce("all", skip_nan=True)  # type: ignore[no-any-return]

    def quantile(self, q: float | list[float] = 0.5, interpolation: str = "linear") -> Any:
        """Quantiles of the non-missing values, interpolated as in pandas.

        Parameters
        ----------
        q : float or list of float
            Between 0 and 1. A float gives a number, a list an array; for times and durations an
            evaluated value, and a series.
        interpolation : {"linear", "lower", "higher", "midpoint", "nearest"}
            The result between two values: their weighted mean or their mean, in float64; or one of
            them (for "nearest", ties go to the even rank), in the column's dtype.

        Raises
        ------
        InvalidArgumentError
            For `q` out of range; on evaluation for integers without a value.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 4]).quantile([0.25, 0.5], interpolation="lower").tolist()
        [1, 2]
        """
        from headrace.array.array import Array

        mark("quantile")
        if is_time(self) or is_duration(self):
            return quantile(self, q, interpolation)
        levels = [level_of(each) for each in (q if isinstance(q, list) else [q])]
        result = Array(_core.quantile(_floats(self)._node, levels, interpolation))
        return result if isinstance(q, list) else result[0]

    def median(self) -> Any:
        """The median of the non-missing values.

        >>> import headrace as hr
        >>> hr.Series([2, None, 5]).median().item()
        3.5
        """
        values = self.astype("float64") if self.dtype == "bool" else self
        return values.quantile(0.5)

    # ---- groups ----------------------------------------------------------------------------------
    groupby = groupby

    def unique(self) -> Series:
        """The distinct values in order of first appearance, null and NaN included.

        >>> import headrace as hr
        >>> hr.Series([3, 1, None, 1]).unique().to_list()
        [3, 1, None]
        """
        from headrace.series.series import Series

        mark("unique")
        table = _core.group_by([(self.name or "", self._node)], [], "first", False)
        return Series(_core.part(table, 0), self.name)

    def value_counts(
        self: Any,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: int | list[Any] | None = None,
        dropna: bool = True,
    ) -> Any:
        """How often each value occurs, most frequent first; ties in order of first appearance.

        `normalize` gives shares of the counted rows. `bins`, a number or edges, counts values in
        each bin of `hr.cut` (the first one includes its left edge), or shares of all rows; ties
        list the lower bin first. Evaluates with `bins`.

        >>> import headrace as hr
        >>> hr.Series(["b", "a", "b"], name="s").value_counts().to_dict()
        {'b': 2, 'a': 1}
        >>> hr.Series([1, 5, 2]).value_counts(bins=[0, 2, 4, 6]).to_dict()
        {'(-0.001, 2.0]': 2, '(4.0, 6.0]': 1, '(2.0, 4.0]': 0}
        """
        from headrace.groupby.groupby import SeriesGroupBy, keys_of

        if bins is not None:
            made = counted_values(_binned(self, bins, dropna), False, sort, ascending)
            return (made / len(self)).rename("proportion") if normalize else made
        groups = SeriesGroupBy(keys_of(None, self), {}, "first", dropna)
        return counted_values(groups.size(), normalize, sort, ascending)

    def nunique(self, dropna: bool = True) -> Array:
        """The number of distinct values; ``dropna=False`` counts null and NaN.

        >>> import headrace as hr
        >>> hr.Series([3, 1, None, 1]).nunique().item()
        2
        """
        from headrace.array.array import Array
        from headrace.groupby.groupby import Words

        if dropna and _core.are_unique([self._node]):
            return self.count()
        mark("nunique")
        words = [Words("size", "size")]
        table = _core.group_by([("key", self._node)], words, "any", dropna)
        return Array(_core.reduction("count", _core.part(table, 1)))

    def describe(self: Any, percentiles: list[float] | None = None) -> Any:
        """Count, mean, std, min, quartiles and max, labelled; see `DataFrame.describe`.

        >>> import headrace as hr
        >>> hr.Series(["a", "b", "a"]).describe().to_dict()
        {'count': '3', 'unique': '2', 'top': 'a', 'freq': '2'}
        """
        from headrace.frame.dataframe import DataFrame

        name = self.name or "value"
        frame = DataFrame._of({name: self._node})
        return frame.describe(percentiles, include="all")[name]
