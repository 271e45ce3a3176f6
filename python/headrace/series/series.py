# SPDX-License-Identifier: Apache-2.0
"""`hr.Series`: one named, lazy column that keeps nulls and NaN apart."""

from __future__ import annotations

import builtins
import operator
import sys
import weakref
from typing import TYPE_CHECKING, Any, Literal, Self

from headrace import _core
from headrace.array.array_function import call_numpy
from headrace.array.construct import asarray
from headrace.display.plain import plain_text
from headrace.display.tables import series_html, series_text
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.facade import facade, no_attribute
from headrace.frame.apply import map_series
from headrace.frame.columns import Columns, frame_of, framed
from headrace.frame.duplicates import repeated_rows
from headrace.frame.in_place import made_or_rebound, set_series_labels
from headrace.frame.indexing import check_row_numbers
from headrace.frame.labels import SeriesLocator, reduced_series
from headrace.frame.reshape import factorize
from headrace.frame.setitem import is_temporary, lost_assignment
from headrace.frame.sort import argsort_series, first_of_series, sort_series
from headrace.interop.exchange import column_to_ndarray, column_to_pandas, new_column, to_ndarray
from headrace.interop.through_pandas import written
from headrace.lazy.advice import goes_to_python, sent
from headrace.lazy.handle import array_of, mark
from headrace.linalg.products import product_of_values
from headrace.operators import turned
from headrace.reshape import matched
from headrace.reshape.alignment import reindex, valid_label
from headrace.rows import Row, is_mixed, pandas_labels, renumbered
from headrace.series import arithmetic, elementwise, reductions, rows
from headrace.series.categorical import CategoryAccessor, has_categories
from headrace.series.column import Column, labelled_series, new_series, series_of, with_rows_of
from headrace.series.datetime import TimeAccessor
from headrace.series.duration import DurationAccessor, is_duration
from headrace.series.nested import (
    ListAccessor,
    StructAccessor,
    equal_structs,
    explode_series,
    is_list,
    is_struct,
)
from headrace.series.strings import TextAccessor
from headrace.tabular import Tabular
from headrace.times.periods import PeriodAccessor, period_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.labels import SeriesLocator
    from headrace.frame.sort import NaPosition
    from headrace.plot.accessor import SeriesPlot


@facade("Series")
class Series(Tabular, Column, role="_series"):
    """A column of values and nulls, usually of a frame.

    Null and NaN are different: `is_null` and `is_nan` are exact, `isna`, `fillna` and `dropna` take
    both as missing. Reductions skip both, as in pandas. Rows keep their order; operands of
    arithmetic must have the same rows (columns of one frame, or separate data of equal length).

    >>> s = hr.Series([1.0, None, 3.0], name="x")
    >>> float(s.sum()), int(s.count())
    (4.0, 2)

    With `index`, or from a dictionary, the values have labels:

    >>> hr.Series({"a": 1, "b": 2})["b"], hr.Series([5, 6], index=["x", "y"]).to_dict()
    (2, {'x': 5, 'y': 6})

    A writable array is copied, as a snapshot in the ledger, so that operations stay lazy and a
    later write changes nothing; a read-only one is shared, and so is any with ``copy=False``
    (`asarray` says what that costs). ``copy=True`` copies either.

    Attributes
    ----------
    name : str or None
        The name of the column, also for a new frame.
    """

    __slots__ = ("_frame",)  # of a series with labels; here so that it can get them in place

    def __new__(
        cls,
        data: Any = (),
        index: Any = None,
        dtype: Any = None,
        name: Any = None,
        copy: bool | None = None,
    ) -> Series:
        """Make a labelled series if there are labels; a row of strings and other values."""
        if isinstance(data, _core.Node) and index is None:
            return super().__new__(cls)
        if cls is Series and (index is not None or isinstance(data, dict) or pandas_labels(data)):
            if is_mixed(data):
                return Row(data, name)  # type: ignore[return-value]
            return super().__new__(Column._labelled)
        return super().__new__(cls)

    def __init__(
        self,
        data: Any = (),
        index: Any = None,
        dtype: npt.DTypeLike | None = None,
        name: builtins.str | None = None,
        copy: bool | None = None,
    ) -> None:
        if isinstance(data, _core.Node):
            node = data
        elif isinstance(data, Series):
            node, name = data._node, name if name is not None else data.name
        else:
            node, name = new_column(data, name, dtype, copy)
            is_category = isinstance(dtype, str) and dtype == node.dtype == "category"
            if is_category and not has_categories(data):
                node = _core.sorted_categories(node)
        super().__init__(node)
        self.name = name
        self._numbers = data._numbers if isinstance(data, Series) else None
        if dtype is not None:
            self._node = self.astype(dtype)._node

    if not TYPE_CHECKING:  # type checkers still find wrong names

        def __getattr__(self, name: builtins.str) -> Any:
            if name.startswith("_"):
                return object.__getattribute__(self, name)  # raises the original error
            raise no_attribute("Series has no attribute", name, (), type(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced_series(self, protocol)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """Values as another dtype; asked for, so it may copy (the ledger shows a copy).

        Strings are parsed to numbers and times (invalid ones raise on evaluation; see
        `hr.to_numeric`, `hr.to_datetime`), values become strings as with Python's ``str``, dates
        and times change unit, rounded down. Decimals convert to and from numbers and strings: fewer
        digits round halves to even; overflow raises on evaluation. Floats are truncated to
        integers; NaN and overflow raise on evaluation. Integers wrap in a narrower dtype, as in
        NumPy.

        >>> hr.Series(["1", " 2.5e3"]).astype("float64").to_list()
        [1.0, 2500.0]
        """
        return elementwise.as_dtype(self, dtype)

    # ---- shape -----------------------------------------------------------------------------------
    def __len__(self) -> int:
        if self._node.shape[0] < 0:
            self._value()
        return int(self._node.shape[0])

    def __bool__(self) -> bool:
        raise InvalidArgumentError(
            "bool: the truth value of a series is ambiguous; use any(), all() or len(), "
            "and combine masks with &, | and ~"
        )

    def __float__(self) -> float:  # or Python would parse digits from the buffer
        raise self._no_number("float")

    def __int__(self) -> int:
        raise self._no_number("int")

    def _no_number(self, wanted: builtins.str) -> TypeMismatchError:
        return TypeMismatchError(
            f"{wanted}: cannot convert a series to a number: name={self.name!r}, "
            f"rows={len(self)}; use series[0], or item() for a single value"
        )

    @property
    def shape(self) -> tuple[int]:
        """Number of rows, in a tuple; runs the plan if it depends on the data.

        >>> hr.Series([3, 1, 4]).shape
        (3,)
        """
        return (len(self),)

    @property
    def ndim(self) -> int:
        """Always 1.

        >>> hr.Series([3, 1, 4]).ndim
        1
        """
        return 1

    @property
    def size(self) -> int:
        """Number of rows.

        >>> hr.Series([3, 1, 4]).size
        3
        """
        return len(self)

    @property
    def nbytes(self) -> int:
        """Bytes of values, validity and text.

        >>> hr.Series([3, 1, 4]).nbytes
        24
        """
        return int(self._value().nbytes)

    def rename(self, name: Any = None, *, index: Any = None) -> Series:
        """The same values under another name, which pandas calls `index`.

        >>> hr.Series([1, 2], name="x").rename("y").name
        'y'
        """
        made = Series(self._node, name=index if name is None else name)
        made._numbers = self._numbers
        return made

    @property
    def _constructor(self) -> type[Series]:  # pandas' names of these; Dask asks for them
        return Series

    @property
    def _constructor_expanddim(self) -> Any:
        return Columns._frame

    def __iter__(self) -> Iterator[Any]:
        goes_to_python("iter", len(self))
        return iter(self.to_list())

    def __getitem__(self, key: Any) -> Any:
        """Select rows by a boolean mask, a slice or positions, or one value by position."""
        return rows.get_item(self, key)

    def _check_label(self, key: Any, op: builtins.str = "getitem") -> None:
        """Raise if a number means a label that was not kept."""
        check_row_numbers(op, key, self._node.domain)

    # ---- labels ----------------------------------------------------------------------------------
    @property
    def index(self) -> Any:
        """The label of each row: its position, unless the frame of the series has labels.

        >>> hr.DataFrame({"id": ["a", "b"], "x": [2, 1]}).set_index("id").x.index.to_list()
        ['a', 'b']
        """
        labels = framed(self).index
        labels._owner = weakref.ref(self)
        return labels

    @index.setter
    def index(self, labels: Any) -> None:
        set_series_labels(self, labels)

    @property
    def loc(self) -> SeriesLocator:
        """Select values by label: one, a list, a slice or a mask; see `DataFrame.loc`.

        >>> df = hr.DataFrame({"id": ["a", "b"], "x": [1, 2]}).set_index("id")
        >>> df.x.loc["b"], df.x.loc[["b", "a"]].to_list()
        (2, [2, 1])
        """
        return SeriesLocator(self, by_position=False)

    @property
    def iloc(self) -> SeriesLocator:
        """Select values by position: one, a list, a slice or a mask.

        >>> hr.Series([3, 1, 4]).iloc[1:].to_list()
        [1, 4]
        """
        return SeriesLocator(self, by_position=True)

    at = loc
    iat = iloc

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign by mask, label or position: this handle is rebound to new values.

        Existing columns are never written, so the frame that the series is from is unchanged.
        """
        if is_temporary(sys.getrefcount(self), self):
            raise lost_assignment(key)
        self.loc[key] = value

    def reset_index(self, level: Any = None, *, drop: bool = False) -> Any:
        """A frame of the labels and the values; with ``drop=True`` only the values.

        `level` is only for some of several labels.

        >>> hr.Series({"b": 1, "a": 2}, name="n").reset_index().to_dict()
        {'index': ['b', 'a'], 'n': [1, 2]}
        """
        return (
            Series(renumbered(self._node), name=self.name)
            if drop
            else self.to_frame().reset_index()
        )

    def sort_index(
        self, *, ascending: bool | builtins.list[bool] = True, na_position: NaPosition = "last"
    ) -> Series:
        """Sort the values by label; without labels, keep or reverse their order.

        >>> hr.Series({"b": 1, "a": 2}).sort_index().to_dict()
        {'a': 2, 'b': 1}
        """
        return rows.sort_index(self, ascending)

    def to_frame(self, name: Any = None) -> DataFrame:
        """A frame of this one column.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.to_frame("x").to_dict()
        {'x': [3.0, None, 1.0]}
        """
        return frame_of({name or self.name or "value": self._node}, self._numbers)

    # ---- other forms -----------------------------------------------------------------------------

    def map(self, arg: Any, na_action: Literal["ignore"] | None = None) -> Series:
        """Map each value by a mapping, a labelled series or a Python function.

        A mapping or series gives null for values it does not contain. A function of numbers that
        only computes, compares, branches and calls known functions on its argument and constants
        becomes a step of the plan. Any other runs immediately, once per row, in Python: `hr.advice`
        and `hr.fallbacks` report it, and `hr.strict` raises. For a null it gets NaN, of times NaT;
        with ``na_action="ignore"`` nulls stay null.

        >>> hr.Series(["a", "b", "c"]).map({"a": 1, "b": 2}).to_list()
        [1, 2, None]
        >>> hr.Series([1, 5]).map(lambda v: v * v + 1).to_list()
        [2, 26]
        """
        return map_series(self, arg, na_action)

    def apply(self, function: Any, args: tuple[Any, ...] = (), **kwargs: Any) -> Any:
        """The same as `map` with a function, which gets `args` and `kwargs` too, or a method.

        >>> hr.Series(["a", None]).apply(lambda text, n: str(text) * n, n=2).to_list()
        ['aa', 'nannan']
        """
        if isinstance(function, str):
            return getattr(self, function)(*args, **kwargs)
        call = (lambda value: function(value, *args, **kwargs)) if args or kwargs else function
        return map_series(self, call)

    def factorize(
        self, *, sort: bool = False, use_na_sentinel: bool = True
    ) -> tuple[Series, Series]:
        """Codes of the values, -1 for missing ones, and the distinct values; see `hr.factorize`.

        >>> [part.tolist() for part in hr.Series(["b", "a", "b"]).factorize()]
        [[0, 1, 0], ['b', 'a']]
        """
        return factorize(self, sort=sort, use_na_sentinel=use_na_sentinel)

    @property
    def cat(self) -> CategoryAccessor:
        """Accessor for categorical columns: ``cat.categories``, ``cat.codes``, ``cat.ordered``.

        >>> kind = hr.Series(["low", "high", "low", None], dtype="category")
        >>> kind.cat.categories.to_list(), kind.cat.codes.to_list()
        (['high', 'low'], [1, 0, 1, -1])
        """
        return CategoryAccessor(self)

    @property
    def str(self) -> Any:
        """Accessor for strings: contains, slice, upper, ...; of lists: len, get, join."""
        return ListAccessor(self) if is_list(self.dtype) else TextAccessor(self)

    @property
    def plot(self) -> SeriesPlot:
        """Charts: ``s.plot()`` draws a line; line, hist, bar, box.

        >>> hr.Series([1.0, 3.0, 2.0]).plot(title="Three values").save("three.png")
        """
        from headrace.plot.accessor import SeriesPlot  # on first use: it loads much

        return SeriesPlot(self)

    @property
    def list(self) -> ListAccessor:
        """Accessor for lists: len, get, slice, contains, sum, sort, unique, join, explode, ..."""
        return ListAccessor(self)

    @property
    def struct(self) -> StructAccessor:
        """Accessor for structs: field, fields, dtypes, explode.

        >>> hr.Series([{"x": 1}, {"x": 2}]).struct.field("x").to_list()
        [1, 2]
        """
        return StructAccessor(self)

    @property
    def dt(self) -> Any:
        """Accessor for dates and timestamps: year, month, day, hour, floor, ...

        For durations: days, seconds, microseconds, nanoseconds, total_seconds(). For names of
        periods (`to_period`): to_timestamp, start_time, end_time, and fields of their start.

        >>> import datetime
        >>> hr.Series([datetime.date(2024, 2, 29), None]).dt.year.to_list()
        [2024, None]
        """
        if freq := period_of(self):
            return PeriodAccessor(self, freq)
        return DurationAccessor(self) if is_duration(self) else TimeAccessor(self)

    def _elementwise(self, op: builtins.str, *values: Any, missing_is_false: bool = False) -> Self:
        if op in ("equal", "not_equal") and is_struct(self._node.dtype):
            same: Any = equal_structs(self, values[1])
            return same if op == "equal" else ~same
        return super()._elementwise(op, *values, missing_is_false=missing_is_false)

    # ---- order -----------------------------------------------------------------------------------
    def sort_values(
        self,
        *,
        ascending: bool = True,
        na_position: NaPosition = "last",
        ignore_index: bool = False,
        kind: builtins.str | None = None,
        key: Callable[[Series], Series] | None = None,
    ) -> Series:
        """Sort the values, stably; null and NaN come last (or first).

        `key` maps the series to what is compared. `kind` is ignored.

        >>> hr.Series([2.0, None, 1.0]).sort_values(ascending=False).to_list()
        [2.0, 1.0, None]
        """
        return sort_series(self, ascending, na_position, key)

    def argsort(self, *, ascending: bool = True, na_position: NaPosition = "last") -> Array:
        """The positions that sort the values: ``s[s.argsort()]`` is in order.

        >>> hr.Series(["b", None, "a"]).argsort().tolist()
        [2, 0, 1]
        """
        return argsort_series(self, ascending, na_position)

    def nlargest(self, n: int = 5, keep: Literal["first", "last", "all"] = "first") -> Series:
        """The `n` largest values, largest first, without a full sort; missing ones come last.

        Of equal values the first rows are taken, with ``keep="last"`` the last ones, with
        ``keep="all"`` all that equal the last value (which is evaluated), possibly more than `n`.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.nlargest(1).to_list()
        [3.0]
        """
        return first_of_series("nlargest", self, n, True, keep)

    def nsmallest(self, n: int = 5, keep: Literal["first", "last", "all"] = "first") -> Series:
        """The `n` smallest values, smallest first; see `nlargest`.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.nsmallest(1).to_list()
        [1.0]
        """
        return first_of_series("nsmallest", self, n, False, keep)

    # ---- values ----------------------------------------------------------------------------------

    def radd(self, other: Any, fill_value: Any = None) -> Series:
        """Sums, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).radd(2).to_list()
        [9, 11]
        """
        return arithmetic.combine(self, "radd", turned(operator.add), other, fill_value)

    def rsub(self, other: Any, fill_value: Any = None) -> Series:
        """Differences, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rsub(2).to_list()
        [-5, -7]
        """
        return arithmetic.combine(self, "rsub", turned(operator.sub), other, fill_value)

    def rmul(self, other: Any, fill_value: Any = None) -> Series:
        """Products, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rmul(2).to_list()
        [14, 18]
        """
        return arithmetic.combine(self, "rmul", turned(operator.mul), other, fill_value)

    def rdiv(self, other: Any, fill_value: Any = None) -> Series:
        """Quotients, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rdiv(2).to_list()
        [0.2857142857142857, 0.2222222222222222]
        """
        return arithmetic.combine(self, "rdiv", turned(operator.truediv), other, fill_value)

    rtruediv = rdiv

    def rfloordiv(self, other: Any, fill_value: Any = None) -> Series:
        """Floor division, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rfloordiv(2).to_list()
        [0, 0]
        """
        return arithmetic.combine(self, "rfloordiv", turned(operator.floordiv), other, fill_value)

    def rmod(self, other: Any, fill_value: Any = None) -> Series:
        """Remainders, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rmod(2).to_list()
        [2, 2]
        """
        return arithmetic.combine(self, "rmod", turned(operator.mod), other, fill_value)

    def rpow(self, other: Any, fill_value: Any = None) -> Series:
        """Powers, `other` first; `fill_value` replaces a value missing on one side.

        >>> hr.Series([7, 9]).rpow(2).to_list()
        [128, 512]
        """
        return arithmetic.combine(self, "rpow", turned(operator.pow), other, fill_value)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __round__(self, digits: int | None = None) -> Any:
        return self.round(digits or 0)

    # ---- choice ----------------------------------------------------------------------------------

    def case_when(self, caselist: Sequence[tuple[Any, Any]]) -> Series:
        """The value of the first true condition, else the series' own value.

        Parameters
        ----------
        caselist : list of (condition, value)
            Conditions are masks, or functions of the series that return one; values are series or
            scalars. Null in a condition is false.

        >>> s = hr.Series([1, 5, 9])
        >>> s.case_when([(s > 8, 0), (s > 4, s * 10)]).to_list()
        [1, 50, 0]
        """
        return arithmetic.case_when(self, caselist)

    def __matmul__(self, other: Any) -> Any:
        return product_of_values(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return product_of_values(other, self)

    def dot(self, other: Any) -> Any:
        """The dot product.

        >>> float(hr.Series([1.0, 2.0]).dot(hr.Series([3.0, 4.0])))
        11.0
        """
        return (self * other).sum()

    def drop(
        self, labels: Any = None, *, index: Any = None, errors: builtins.str = "raise"
    ) -> Series:
        """The values without those of a label, or of a list of labels; see `DataFrame.drop`.

        >>> hr.Series({"a": 1, "b": 2}).drop("a").to_dict()
        {'b': 2}
        """
        gone = index if labels is None else labels
        frame = framed(self).drop(index=gone, errors=errors)
        made = frame._series(next(iter(frame._nodes)))
        made.name = self.name
        return made

    def get(self, key: Any, default: Any = None) -> Any:
        """The value at a label, or `default` if there is no such label.

        >>> hr.Series({"a": 1}).get("a"), hr.Series({"a": 1}).get("z", 0)
        (1, 0)
        """
        try:
            return self.loc[key]
        except KeyError:
            return default

    def keys(self) -> Any:
        """The same as `index`."""
        return self.index

    def set_axis(self, labels: Any) -> Series:
        """The same values with new labels.

        >>> hr.Series([1, 2]).set_axis(["a", "b"]).to_dict()
        {'a': 1, 'b': 2}
        """
        made = new_series(self)
        made.index = labels
        return made

    # ---- duplicates ------------------------------------------------------------------------------

    def duplicated(self, keep: Literal["first", "last", False] = "first") -> Series:
        """Mark repeated values: all but the first, all but the last, or all; null is a value.

        >>> s = hr.Series(["a", "b", "a"])
        >>> s.duplicated().to_list(), s.duplicated(keep="last").to_list()
        ([False, False, True], [True, False, False])
        """
        mark("duplicated")
        return self._like(repeated_rows([self._node], keep))

    def drop_duplicates(
        self,
        *,
        keep: Literal["first", "last", False] = "first",
        inplace: bool = False,
        ignore_index: bool = False,
    ) -> Series:
        """Drop repeated values, keeping the first or the last; ``keep=False`` drops all of them.

        Null and NaN count as values.

        >>> hr.Series([2, 1, 2]).drop_duplicates().to_list()
        [2, 1]
        """
        made = elementwise.drop_duplicates(self, keep=keep)
        made = made.reset_index(drop=True) if ignore_index else made
        return made_or_rebound(self, made, inplace)

    # ---- membership and choice -------------------------------------------------------------------

    def between(
        self, left: Any, right: Any, inclusive: Literal["both", "neither", "left", "right"] = "both"
    ) -> Series:
        """True where ``left <= value <= right``; `inclusive` says which ends count.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.between(1, 2).to_list()
        [False, False, True]
        """
        return elementwise.between(self, left, right, inclusive)

    # ---- missing values --------------------------------------------------------------------------

    def is_null(self) -> Self:
        """True where there is no value (NaN is a value).

        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.is_null().to_list()
        [False, True, False]
        """
        return self._elementwise("is_null", self)

    def fill_null(self, value: Any) -> Self:
        """Replace nulls by `value`; NaN is kept.

        >>> s = hr.Series([1.0, None, float("nan")])
        >>> s.fill_null(0.0).to_list()
        [1.0, 0.0, nan]
        """
        return self._elementwise("fill_null", self, value)

    def fillna(
        self,
        value: Any = None,
        *,
        axis: Any = None,
        inplace: bool = False,
        limit: int | None = None,
    ) -> Self:
        """Replace null and NaN by `value`, a scalar or a series of the same rows.

        A float turns integers into float64 if any value is missing, which is evaluated; other
        values that the dtype cannot hold raise in that case.

        >>> ages = hr.Series([30, None, 33])
        >>> ages.fillna(ages.mean()).to_list()
        [30.0, 31.5, 33.0]
        """
        made: Any = elementwise.fillna(self, value)
        if limit is not None:
            made = made.where(self.notna() | (self.isna().cumsum() <= limit))
        return made_or_rebound(self, made, inplace)

    def dropna(
        self, *, axis: Any = 0, inplace: bool = False, how: Any = None, ignore_index: bool = False
    ) -> Series:
        """Drop null and NaN.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.dropna().to_list()
        [3.0, 1.0]
        """
        made = elementwise.dropna(self)
        made = made.reset_index(drop=True) if ignore_index else made
        return made_or_rebound(self, made, inplace)

    # ---- reductions ------------------------------------------------------------------------------

    def argmin(self) -> Any:
        """Position of the first smallest value, skipping missing ones.

        >>> hr.Series([3, 1, None, 1]).argmin().item()
        1
        """
        return reductions.position_of(self, "argmin")

    def argmax(self) -> Any:
        """Position of the first largest value, skipping missing ones.

        >>> hr.Series([3, 1, None, 1]).argmax().item()
        0
        """
        return reductions.position_of(self, "argmax")

    def mode(self, dropna: bool = True) -> Series:
        """The most frequent values, sorted; evaluates.

        >>> hr.Series(["b", "a", "b", "a", None]).mode().to_list()
        ['a', 'b']
        """
        return reductions.mode(self, dropna)

    def cov(self, other: Any, ddof: int = 1) -> Any:
        """Covariance with another series of the same rows, over complete pairs; in float64.

        >>> hr.Series([1.0, 2.0, 3.0]).cov(hr.Series([2.0, 4.0, 6.0])).item()
        2.0
        """
        mark("cov")
        columns = [_core.decimal_to_float(each._node) for each in (self, other)]
        return array_of(_core.covariance(columns, ddof))[0, 1]

    def reindex(
        self,
        index: Any,
        *,
        method: Literal["ffill", "pad", "bfill", "backfill", "nearest"] | None = None,
        fill_value: Any = None,
        limit: int | None = None,
    ) -> Series:
        """The values with these labels, in this order; see `DataFrame.reindex`.

        >>> hr.Series([5, 6]).reindex([1, 2], fill_value=0).to_list()
        [6, 0]
        """
        frame = reindex(framed(self), index, fill_value, method, limit)
        return labelled_series(frame, self.name)

    def update(self, other: Any) -> None:
        """Take the values of `other` that are not missing, by label; see `DataFrame.update`.

        >>> s = hr.Series([1.0, 2.0])
        >>> s.update(hr.Series([None, 5.0]))
        >>> s.to_list()
        [1.0, 5.0]
        """
        matched.update_series(self, other)

    def compare(
        self,
        other: Series,
        align_axis: int | builtins.str = 1,
        keep_shape: bool = False,
        keep_equal: bool = False,
        result_names: tuple[builtins.str, builtins.str] = ("self", "other"),
    ) -> Any:
        """The values that differ from those of a series with the same labels; evaluates.

        Columns `self` and `other`; see `DataFrame.compare`.

        >>> hr.Series([1, 2]).compare(hr.Series([1, 3])).to_dict()
        {'self': [2], 'other': [3]}
        """
        words = (align_axis, keep_shape, keep_equal, result_names)
        return matched.compare_series(self, other, *words)

    def first_valid_index(self) -> Any:
        """The label of the first value that is not missing, None if there is none.

        >>> hr.Series([None, 2.0]).first_valid_index()
        1
        """
        return valid_label(self.to_frame("value"), 0)

    def last_valid_index(self) -> Any:
        """The label of the last value that is not missing, None if there is none.

        >>> hr.Series([1.0, None]).last_valid_index()
        0
        """
        return valid_label(self.to_frame("value"), -1)

    def squeeze(self, axis: Any = None) -> Any:
        """The only value, or the series itself.

        >>> hr.Series([5]).squeeze(), hr.Series([5, 6]).squeeze().to_list()
        (5, [5, 6])
        """
        return self.to_list()[0] if len(self) == 1 else self

    def corr(self, other: Any, method: builtins.str = "pearson") -> Any:
        """Correlation with another series of the same rows, over complete pairs.

        In float64; NaN where one is constant. ``"spearman"`` correlates the ranks, ``"kendall"`` is
        left to pandas and SciPy.

        >>> df = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})
        >>> round(df.x.corr(df.y), 12)
        1.0
        """
        return reductions.corr(self, other, method)

    def autocorr(self, lag: int = 1) -> Any:
        """Pearson correlation with the values `lag` rows before.

        >>> round(hr.Series([1.0, 3.0, 2.0, 4.0]).autocorr(), 6)
        -0.5
        """
        return self.corr(self.shift(lag))

    def explode(self, ignore_index: bool = False) -> Series:
        """One row for each item of lists, labelled as the list was; values that are none stay.

        Of maps one row for each entry, a struct of ``key`` and ``value``.

        A null or empty list gives one row of null.

        >>> hr.Series([[1, 2], [], [3]]).explode().to_list()
        [1, 2, None, 3]
        """
        return explode_series(self, ignore_index)

    def repeat(self, repeats: Any) -> Series:
        """Each value several times: one number for all, or one for each value.

        >>> hr.Series(["a", "b"]).repeat(2).to_list()
        ['a', 'a', 'b', 'b']
        """
        import numpy as np

        return self.iloc[np.arange(len(self)).repeat(np.asarray(repeats))]

    def searchsorted(self, value: Any, side: Literal["left", "right"] = "left") -> Any:
        """Where to insert values into these sorted values, by NumPy.

        >>> int(hr.Series([1, 3, 5]).searchsorted(4))
        2
        """
        import numpy as np

        wanted = value.to_numpy() if isinstance(value, Series) else value
        return np.searchsorted(self.to_numpy(), wanted, side)

    def agg(self, func: Any, **options: Any) -> Any:
        """An aggregate by name or function; a list of names gives a series labelled by them.

        >>> hr.Series([1, 3]).agg(["sum", "max"]).to_dict()
        {'sum': 4, 'max': 3}
        """
        return reductions.aggregate_series(self, func, **options)

    aggregate = agg

    @property
    def is_unique(self) -> bool:
        """Whether all values are distinct; evaluates.

        >>> hr.Series([3, 1, 1]).is_unique
        False
        """
        return _core.are_unique([self._node]) or int(self.nunique(dropna=False)) == len(self)

    @property
    def hasnans(self) -> bool:
        """Whether any value is null or NaN; evaluates.

        >>> hr.Series([3, None]).hasnans
        True
        """
        return bool(self.isna().any())

    @property
    def is_monotonic_increasing(self) -> bool:
        """Whether no value is smaller than the one before it, and none is missing; evaluates.

        >>> hr.Series([1, 1, 3]).is_monotonic_increasing
        True
        """
        return bool(reductions.is_ordered(self, "less"))

    @property
    def is_monotonic_decreasing(self) -> bool:
        """Whether no value is greater than the one before it, and none is missing; evaluates.

        >>> hr.Series([1, 1, 3]).is_monotonic_decreasing
        False
        """
        return bool(reductions.is_ordered(self, "greater"))

    def count(self) -> Array:
        """Number of non-missing values.

        >>> hr.Series([2, None, 5]).count().item()
        2
        """
        return self._reduce("count", skip_nan=True)

    def quantile(
        self, q: float | builtins.list[float] = 0.5, interpolation: builtins.str = "linear"
    ) -> Any:
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

        >>> hr.Series([1, 2, 4]).quantile([0.25, 0.5], interpolation="lower").tolist()
        [1, 2]
        """
        return reductions.quantiles(self, q, interpolation)

    # ---- groups ----------------------------------------------------------------------------------

    def unique(self) -> Series:
        """The distinct values in order of first appearance, null and NaN included.

        >>> hr.Series([3, 1, None, 1]).unique().to_list()
        [3, 1, None]
        """
        mark("unique")
        (node,) = _core.group_columns([(str(self.name or ""), self._node)], [], "first", False)
        return series_of(node, self.name)

    def value_counts(
        self,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        bins: int | builtins.list[Any] | None = None,
        dropna: bool = True,
    ) -> Any:
        """How often each value occurs, most frequent first; ties in order of first appearance.

        `normalize` gives shares of the counted rows. `bins`, a number or edges, counts values in
        each bin of `hr.cut` (the first one includes its left edge), or shares of all rows; ties
        list the lower bin first. Evaluates with `bins`.

        >>> hr.Series(["b", "a", "b"], name="s").value_counts().to_dict()
        {'b': 2, 'a': 1}
        >>> hr.Series([1, 5, 2]).value_counts(bins=[0, 2, 4, 6]).to_dict()
        {'(-0.001, 2.0]': 2, '(4.0, 6.0]': 1, '(2.0, 4.0]': 0}
        """
        return reductions.value_counts(self, normalize, sort, ascending, bins, dropna)

    def nunique(self, dropna: bool = True) -> Array:
        """The number of distinct values; ``dropna=False`` counts null and NaN.

        >>> hr.Series([3, 1, None, 1]).nunique().item()
        2
        """
        return reductions.nunique(self, dropna)

    def describe(self, percentiles: builtins.list[float] | None = None) -> Any:
        """Count, mean, std, min, quartiles and max, labelled; see `DataFrame.describe`.

        >>> hr.Series(["a", "b", "a"]).describe().to_dict()
        {'count': '3', 'unique': '2', 'top': 'a', 'freq': '2'}
        """
        name = self.name or "value"
        frame = frame_of({name: self._node})
        return frame.describe(percentiles, include="all")[name]

    # ---- looking ---------------------------------------------------------------------------------
    def to_list(self) -> builtins.list[Any]:
        """Python values; null is None.

        Dates are `datetime.date`, times `datetime.datetime`, or `numpy.datetime64` beyond its
        range: nanoseconds, and years before 1 or after 9999.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.to_list()
        [3.0, None, 1.0]
        """
        return self._value().to_list()

    tolist = to_list

    def item(self) -> Any:
        """The only value.

        >>> hr.Series([1.0, 2.0]).head(1).item()
        1.0
        """
        if len(self) != 1:
            raise InvalidArgumentError(f"item: expected exactly one row: rows={len(self)}")
        return self.to_list()[0]

    def to_dict(self) -> dict[Any, Any]:
        """Values by label, or by position without labels.

        >>> hr.Series({"a": 1, "b": 2}).to_dict()
        {'a': 1, 'b': 2}
        """
        if self._numbers is not None:
            return dict(zip(framed(self)._label_list(), self.to_list(), strict=True))
        return dict(enumerate(self.to_list()))

    def to_json(self, *args: Any, **kwargs: Any) -> Any:
        """Make JSON text, or a file of it by pandas, which copies; see `hr.fallbacks`.

        >>> hr.Series({"a": 1, "b": 2}).to_json()
        '{"a":1,"b":2}'
        """
        return written(self, "to_json", *args, **kwargs)

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of label and value.

        >>> list(hr.Series({"a": 1, "b": 2}).items())
        [('a', 1), ('b', 2)]
        """
        return iter(self.to_dict().items())

    def to_array(self) -> Array:
        """The same memory as an array; raises if there are nulls.

        >>> hr.Series([3, 1]).to_array().tolist()
        [3, 1]
        """
        return asarray(self)

    def to_numpy(self, dtype: Any = None, copy: bool = False) -> np.ndarray[Any, Any]:
        """NumPy values: a read-only view if there are no nulls, no other `dtype` and no `copy`.

        Nulls become NaN in floats and NaT in times, dates ``datetime64[D]``, bools bytes, strings
        and categories objects, by one copy that the ledger records. Integers with nulls raise; use
        `fillna` first.

        >>> hr.Series([3.0, 1.0]).to_numpy()
        array([3., 1.])
        """
        found = column_to_ndarray(self._value())
        return (
            found if dtype is None and not copy else found.astype(dtype or found.dtype, copy=copy)
        )

    def to_arrow(self) -> Any:
        """A pyarrow array on the same memory; values of a device move to the host."""
        import pyarrow as pa

        return pa.array(self._value())

    def to_pandas(self) -> Any:
        """A pandas series, on the same memory for numbers and times without nulls.

        Nulls in times become NaT, strings become pandas' ``str`` and categories ``pd.Categorical``,
        by a copy that the ledger records. All others share memory through ``pd.ArrowDtype``, dates
        too, as ``date32[day][pyarrow]``, whose ``.dt`` works.

        >>> s = hr.Series([3.0, None, 1.0])
        >>> type(s.to_pandas()).__name__
        'Series'
        """
        if self._numbers is not None:
            return framed(self).to_pandas().iloc[:, 0].rename(self.name)
        return sent(column_to_pandas(self._value(), self.name))

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        return to_ndarray(self._value(), dtype, copy)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: builtins.str, *inputs: Any, **kwargs: Any
    ) -> Any:
        found = super().__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if method != "__call__" or getattr(found, "strides", None) is None or found.ndim != 1:
            return found
        return self._like(with_rows_of(Series(found), self._node)._node)  # by NumPy

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: dict[builtins.str, Any]
    ) -> Any:
        return call_numpy(func, types, args, kwargs)

    def to_string(
        self,
        buf: Any = None,
        *,
        na_rep: builtins.str = "NaN",
        float_format: builtins.str | Callable[[float], builtins.str] | None = None,
        header: bool = True,
        index: bool = True,
        max_rows: int | None = None,
        **options: Any,
    ) -> builtins.str | None:
        """All labels and values as pandas' plain text; options as of `DataFrame.to_string`.

        `header` shows the names of the labels.

        >>> print(hr.Series([1.5, 20.25]).to_string())
        0     1.50
        1    20.25
        """
        shown = dict(na_rep=na_rep, header=header, index=index, max_rows=max_rows)
        return plain_text(self, buf, float_format, options, **shown)

    def __repr__(self) -> builtins.str:
        return series_text(self)

    def _repr_html_(self) -> builtins.str:
        return series_html(self)

    def __arrow_c_schema__(self) -> Any:
        return self._value().__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._value().__arrow_c_array__(requested_schema)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self._value_there().__arrow_c_device_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._value().__arrow_c_stream__(requested_schema)
