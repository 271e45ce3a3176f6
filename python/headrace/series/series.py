# SPDX-License-Identifier: Apache-2.0
"""`hr.Series`: one named, lazy column that keeps nulls and NaN apart."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.lazy.handle import Deferred, mark
from headrace.rows import (
    are_picked,
    counts_rows,
    given_name,
    no_attribute,
    pandas_labels,
    picked_domain,
    refuse_apart,
    renumbered,
    same_rows,
    whole_number,
)
from headrace.series.categorical import CategoryAccessor
from headrace.series.datetime import TimeAccessor
from headrace.series.duration import DurationAccessor, is_duration
from headrace.series.reductions import SeriesReductions
from headrace.series.strings import TextAccessor
from headrace.series.timezone import know_zone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.frame.dataframe import DataFrame
    from headrace.frame.labels import SeriesLocator
    from headrace.frame.sort import NaPosition


def looked_at(values: list[Any] | tuple[Any, ...]) -> list[Any]:
    """Evaluate the one-element results in a list, all together."""
    _core.force([value._node for value in values if isinstance(value, Deferred)])
    return [value.item() if hasattr(value, "item") else value for value in values]


def _converts(values: Any, word: str | None) -> bool:
    """Whether a list of strings needs converting to numbers or times, or numbers to strings."""
    if word == "string":
        return all(isinstance(value, bool | int | float | None) for value in values)
    parsed = word is not None and word[:3] in ("int", "uin", "flo", "dat", "tim")
    return parsed and all(isinstance(value, str | None) for value in values)


class Series(SeriesReductions):
    """A column of values and nulls, usually of a frame.

    Null and NaN are different: `is_null` and `is_nan` are exact, `isna`, `fillna` and `dropna` take
    both as missing. Reductions skip both, as in pandas. Rows keep their order; operands of
    arithmetic must have the same rows (columns of one frame, or separate data of equal length).

    >>> import headrace as hr
    >>> s = hr.Series([1.0, None, 3.0], name="x")
    >>> float(s.sum()), int(s.count())
    (4.0, 2)

    With `index`, or from a dictionary, the values have labels:

    >>> hr.Series({"a": 1, "b": 2})["b"], hr.Series([5, 6], index=["x", "y"]).to_dict()
    (2, {'x': 5, 'y': 6})

    Attributes
    ----------
    name : str or None
        The name of the column, also for a new frame.
    """

    __slots__ = ("name",)
    name: builtins.str | None
    _kind: ClassVar[str] = "series"

    def __new__(
        cls, values: Any = (), name: Any = None, dtype: Any = None, index: Any = None
    ) -> Series:
        """Make a labelled series if there are labels."""
        if isinstance(values, _core.Node) and index is None:
            return super().__new__(cls)
        if cls is Series and (
            index is not None or isinstance(values, dict) or pandas_labels(values)
        ):
            from headrace.frame.labels import LabelledSeries

            return super().__new__(LabelledSeries)
        return super().__new__(cls)

    def __init__(
        self,
        values: Any = (),
        name: builtins.str | None = None,
        dtype: npt.DTypeLike | None = None,
        index: Any = None,
    ) -> None:
        if isinstance(values, _core.Node):
            node = values
        elif isinstance(values, Series):
            node, name = values._node, name if name is not None else values.name
        else:
            from headrace.interop.exchange import column_node

            mark("series")
            if isinstance(values, list | tuple) and any(isinstance(v, Deferred) for v in values):
                values = looked_at(values)
            word = dtype_word(dtype) if isinstance(values, list | tuple | range) and dtype else None
            try:
                node = column_node(values, dtype=word)
            except TypeMismatchError:
                if not _converts(values, word):
                    if word == "category":
                        Series(values).astype(word)  # an error that names categories
                    raise
                node = column_node(values)  # with their own dtype, converted below
            name = given_name(values) if name is None else name
            is_pandas = type(values).__module__.partition(".")[0] == "pandas"
            if is_pandas and hasattr(values, "iloc") and not counts_rows(values):
                node = _core.in_domain(node, picked_domain())
        super().__init__(node)
        self.name = name
        if dtype is not None:
            self._node = self.astype(dtype)._node

    if not TYPE_CHECKING:  # type checkers still find wrong names

        def __getattr__(self, name: builtins.str) -> Any:
            if name.startswith("_"):
                return object.__getattribute__(self, name)  # raises the original error
            raise no_attribute("Series has no attribute", name, (), type(self))

    def _like(self, node: _core.Node) -> Any:
        return Series(node, self.name)

    def __reduce_ex__(self, protocol: Any) -> Any:
        from headrace.frame.labels import picked_again

        if are_picked(self._node):
            return picked_again, (Series(renumbered(self._node), self.name),)
        return super().__reduce_ex__(protocol)

    def _plain(self) -> Series:
        """The same values without labels."""
        return Series(self._node, self.name)

    def astype(self, dtype: npt.DTypeLike) -> Self:
        """Values as another dtype; asked for, so it may copy (the ledger shows a copy).

        Strings are parsed to numbers and times (invalid ones raise on evaluation; see
        `hr.to_numeric`, `hr.to_datetime`), values become strings as with Python's ``str``, dates
        and times change unit, rounded down. Decimals convert to and from numbers and strings: fewer
        digits round halves to even; overflow raises on evaluation. Floats are truncated to
        integers; NaN and overflow raise on evaluation. Integers wrap in a narrower dtype, as in
        NumPy.

        >>> import headrace as hr
        >>> hr.Series(["1", " 2.5e3"]).astype("float64").to_list()
        [1.0, 2500.0]
        """
        word, own = dtype_word(dtype), self._node.dtype
        if word == "category" and not isinstance(dtype, builtins.str):
            from headrace.series.categorical import as_pandas_categories

            return as_pandas_categories(self, dtype)  # type: ignore[return-value]
        if word == own:
            return self
        if word in ("string", "date"):
            know_zone(own)
        elif own in ("string", "category"):
            know_zone(word)
        mark("astype")
        return self._like(_core.astype(self._node, word))  # type: ignore[no-any-return]

    def _elementwise(self, op: str, *values: Any) -> Self:
        node = _core.apply(op, values)
        made: Self = NotImplemented if node is None else self._like(node)
        return made

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

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).shape
        (3,)
        """
        return (len(self),)

    @property
    def ndim(self) -> int:
        """Always 1.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).ndim
        1
        """
        return 1

    @property
    def size(self) -> int:
        """Number of rows.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).size
        3
        """
        return len(self)

    @property
    def empty(self) -> bool:
        """Whether there are no rows.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).empty
        False
        """
        return len(self) == 0

    @property
    def nbytes(self) -> int:
        """Bytes of values, validity and text.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).nbytes
        24
        """
        return int(self._value().nbytes)

    def rename(self, name: builtins.str) -> Series:
        """The same values under another name.

        >>> import headrace as hr
        >>> hr.Series([1, 2], name="x").rename("y").name
        'y'
        """
        return Series(self._node, name)

    def __iter__(self) -> Iterator[Any]:
        from headrace.frame.apply import goes_to_python

        goes_to_python("iter", len(self))
        return iter(self.to_list())

    def __getitem__(self, key: Any) -> Any:
        """Select rows by a boolean mask, a slice or positions, or one value by position."""
        mark("getitem")
        key = key(self) if callable(key) else key
        if isinstance(key, slice):
            begin, stop, step = key.indices(len(self))
            if step != 1:
                import numpy as np

                return self[np.arange(begin, stop, step)]
            return self._like(_core.slice(self._node, begin, max(stop - begin, 0)))
        if isinstance(key, Series) and key.dtype == "bool":
            refuse_apart("getitem", [self._node, key._node])
            return self._like(_core.filter(self._node, key._node))
        if isinstance(key, list) or bool(getattr(key, "ndim", 0)):
            from headrace.array.array import _selector

            selector = _selector(key)
            if selector.dtype == "bool":
                return self._like(_core.filter(self._node, selector._node))
            domain = same_rows(self._node, key) if hasattr(key, "tobytes") else picked_domain()
            return self._like(_core.in_domain(_core.take(self._node, selector._node), domain))
        from headrace.frame.apply import value_by_value

        value_by_value("getitem")
        index = whole_number("getitem", "row", key)
        self._check_label(key)
        length = len(self)
        if not -length <= index < length:
            raise IndexError(f"getitem: row out of range: row={index}, rows={length}")
        return self[index % length : index % length + 1].to_list()[0]

    def _check_label(self, key: Any, op: builtins.str = "getitem") -> None:
        """Raise if a number means a label that was not kept."""
        from headrace.frame.indexing import check_row_numbers

        check_row_numbers(op, key, self._node.domain)

    def head(self, n: int = 5) -> Series:
        """The first `n` rows, computed from no more than these where the plan allows it.

        All but the last ``-n`` when `n` is negative, as in pandas.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.head(1).to_list()
        [3.0]
        """
        mark("head")
        n = whole_number("head", "n", n)
        if n < 0:
            kept: Series = self[:n]
            return kept
        node = _core.prefix([self._node], n)[0]
        if are_picked(self._node) and not are_picked(node):
            node = _core.in_domain(node, same_rows(self._node, n))
        return Series(node, self.name)

    def tail(self, n: int = 5) -> Series:
        """The last `n` rows; all but the first ``-n`` when `n` is negative.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.tail(1).to_list()
        [1.0]
        """
        n, length = whole_number("tail", "n", n), len(self)
        return Series(self[max(length - n, 0) if n >= 0 else -n : length])

    def take(self, indices: Any, axis: int | builtins.str = 0) -> Series:
        """The rows at these positions: the same as `iloc`; there is only one axis.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.take([2, 0]).to_list()
        [1.0, 3.0]
        """
        taken: Series = self.iloc[indices]
        return taken

    # ---- labels ----------------------------------------------------------------------------------
    @property
    def index(self) -> Series | DataFrame:
        """The label of each row: its position, unless the frame of the series has labels.

        >>> import headrace as hr
        >>> hr.DataFrame({"id": ["a", "b"], "x": [2, 1]}).set_index("id").x.index.to_list()
        ['a', 'b']
        """
        from headrace.frame.labels import framed

        return framed(self).index

    @property
    def loc(self) -> SeriesLocator:
        """Select values by label: one, a list, a slice or a mask; see `DataFrame.loc`.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["a", "b"], "x": [1, 2]}).set_index("id")
        >>> df.x.loc["b"], df.x.loc[["b", "a"]].to_list()
        (2, [2, 1])
        """
        from headrace.frame.labels import SeriesLocator

        return SeriesLocator(self, by_position=False)

    @property
    def iloc(self) -> SeriesLocator:
        """Select values by position: one, a list, a slice or a mask.

        >>> import headrace as hr
        >>> hr.Series([3, 1, 4]).iloc[1:].to_list()
        [1, 4]
        """
        from headrace.frame.labels import SeriesLocator

        return SeriesLocator(self, by_position=True)

    at, iat = loc, iloc

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign by mask, label or position: this handle is rebound to new values.

        Existing columns are never written, so the frame that the series is from is unchanged.
        """
        from headrace.frame.setitem import is_temporary, lost_assignment

        if is_temporary(sys.getrefcount(self), self):
            raise lost_assignment(key)
        self.loc[key] = value

    def reset_index(self, *, drop: bool = False) -> Any:
        """A frame of the labels and the values; with ``drop=True`` only the values.

        >>> import headrace as hr
        >>> hr.Series({"b": 1, "a": 2}, name="n").reset_index().to_dict()
        {'index': ['b', 'a'], 'n': [1, 2]}
        """
        return Series(renumbered(self._node), self.name) if drop else self.to_frame().reset_index()

    def sort_index(
        self, *, ascending: bool | list[bool] = True, na_position: NaPosition = "last"
    ) -> Series:
        """Sort the values by label; without labels, keep or reverse their order.

        >>> import headrace as hr
        >>> hr.Series({"b": 1, "a": 2}).sort_index().to_dict()
        {'a': 2, 'b': 1}
        """
        self._check_label(None, "sort_index")
        turned: Series = self if ascending else self[::-1]
        return turned

    def to_frame(self, name: builtins.str | None = None) -> DataFrame:
        """A frame of this one column.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.to_frame("x").to_dict()
        {'x': [3.0, None, 1.0]}
        """
        from headrace.frame.dataframe import DataFrame

        return DataFrame._of({name or self.name or "value": self._node})

    # ---- other forms -----------------------------------------------------------------------------
    def copy(self, deep: bool = True) -> Self:
        """Another handle on the same immutable values; `deep` has no effect.

        >>> import headrace as hr
        >>> hr.Series([3, 1]).copy().to_list()
        [3, 1]
        """
        return self.__copy__()

    def pipe(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """``function(series, *args, **kwargs)``.

        >>> import headrace as hr
        >>> hr.Series([1, 2]).pipe(lambda s, by: s * by, 10).to_list()
        [10, 20]
        """
        return function(self, *args, **kwargs)

    def map(self, arg: Any, na_action: Literal["ignore"] | None = None) -> Series:
        """Map each value by a mapping, a labelled series or a Python function.

        A mapping or series gives null for values it does not contain. A function of numbers that
        only computes, compares, branches and calls known functions on its argument and constants
        becomes a step of the plan. Any other runs immediately, once per row, in Python, skipping
        nulls (whatever `na_action` says): `hr.advice` and `hr.fallbacks` report it, and `hr.strict`
        raises.

        >>> import headrace as hr
        >>> hr.Series(["a", "b", "c"]).map({"a": 1, "b": 2}).to_list()
        [1, 2, None]
        >>> hr.Series([1, 5]).map(lambda v: v * v + 1).to_list()
        [2, 26]
        """
        from headrace.frame.apply import map_series

        return map_series(self, arg)

    def apply(self, function: Any) -> Series:
        """The same as `map` with a function.

        >>> import headrace as hr
        >>> hr.Series(["a", None]).apply(lambda text: text * 2).to_list()
        ['aa', None]
        """
        from headrace.frame.apply import map_series

        return map_series(self, function)

    def sample(
        self,
        n: int | None = None,
        *,
        frac: float | None = None,
        replace: bool = False,
        random_state: Any = None,
    ) -> Series:
        """A random sample of the values; see `DataFrame.sample`.

        >>> import headrace as hr
        >>> hr.Series([1, 2, 3, 4]).sample(2, random_state=0).size
        2
        """
        from headrace.frame.reshape import sampled_rows

        mark("sample")
        values: Series = self[sampled_rows(len(self), n, frac, replace, random_state)]
        return values

    def factorize(
        self, *, sort: bool = False, use_na_sentinel: bool = True
    ) -> tuple[Series, Series]:
        """Codes of the values, -1 for missing ones, and the distinct values; see `hr.factorize`.

        >>> import headrace as hr
        >>> [part.tolist() for part in hr.Series(["b", "a", "b"]).factorize()]
        [[0, 1, 0], ['b', 'a']]
        """
        from headrace.frame.reshape import factorize

        return factorize(self, sort=sort, use_na_sentinel=use_na_sentinel)

    @property
    def cat(self) -> CategoryAccessor:
        """Accessor for categorical columns: ``cat.categories``, ``cat.codes``, ``cat.ordered``.

        >>> import headrace as hr
        >>> kind = hr.Series(["low", "high", "low", None], dtype="category")
        >>> kind.cat.categories.to_list(), kind.cat.codes.to_list()
        (['low', 'high'], [0, 1, 0, None])
        """
        if self.dtype != "category":
            raise TypeMismatchError(
                f"cat: expected a categorical column: dtype={str(self.dtype)!r}; use "
                "astype('category') first"
            )
        return CategoryAccessor(self)

    @property
    def str(self) -> TextAccessor:
        """Accessor for strings: contains, slice, upper, ..."""
        return TextAccessor(self)

    @property
    def dt(self) -> Any:
        """Accessor for dates and timestamps: year, month, day, hour, floor, ...

        For durations: days, seconds, microseconds, nanoseconds, total_seconds().

        >>> import datetime
        >>> import headrace as hr
        >>> hr.Series([datetime.date(2024, 2, 29), None]).dt.year.to_list()
        [2024, None]
        """
        return DurationAccessor(self) if is_duration(self) else TimeAccessor(self)

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

        >>> import headrace as hr
        >>> hr.Series([2.0, None, 1.0]).sort_values(ascending=False).to_list()
        [2.0, 1.0, None]
        """
        from headrace.frame.sort import sort_series

        return sort_series(self, ascending, na_position, key)

    def argsort(self, *, ascending: bool = True, na_position: NaPosition = "last") -> Array:
        """The positions that sort the values: ``s[s.argsort()]`` is in order.

        >>> import headrace as hr
        >>> hr.Series(["b", None, "a"]).argsort().tolist()
        [2, 0, 1]
        """
        from headrace.frame.sort import argsort_series

        return argsort_series(self, ascending, na_position)

    def nlargest(self, n: int = 5, keep: Literal["first", "last", "all"] = "first") -> Series:
        """The `n` largest values, largest first, without a full sort; missing ones come last.

        Of equal values the first rows are taken, with ``keep="last"`` the last ones, with
        ``keep="all"`` all that equal the last value (which is evaluated), possibly more than `n`.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.nlargest(1).to_list()
        [3.0]
        """
        from headrace.frame.sort import first_of_series

        return first_of_series("nlargest", self, n, True, keep)

    def nsmallest(self, n: int = 5, keep: Literal["first", "last", "all"] = "first") -> Series:
        """The `n` smallest values, smallest first; see `nlargest`.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.nsmallest(1).to_list()
        [1.0]
        """
        from headrace.frame.sort import first_of_series

        return first_of_series("nsmallest", self, n, False, keep)

    # ---- looking ---------------------------------------------------------------------------------
    def to_list(self) -> list[Any]:
        """Python values; null is None.

        Dates are `datetime.date`, times `datetime.datetime`, or `numpy.datetime64` beyond its
        range: nanoseconds, and years before 1 or after 9999.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> s.to_list()
        [3.0, None, 1.0]
        """
        values: list[Any] = self._value().to_list()
        return values

    tolist = to_list

    def item(self) -> Any:
        """The only value.

        >>> import headrace as hr
        >>> hr.Series([1.0, 2.0]).head(1).item()
        1.0
        """
        if len(self) != 1:
            raise InvalidArgumentError(f"item: expected exactly one row: rows={len(self)}")
        return self.to_list()[0]

    def to_dict(self) -> dict[Any, Any]:
        """Values by label, or by position without labels.

        >>> import headrace as hr
        >>> hr.Series({"a": 1, "b": 2}).to_dict()
        {'a': 1, 'b': 2}
        """
        return dict(enumerate(self.to_list()))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Pairs of label and value.

        >>> import headrace as hr
        >>> list(hr.Series({"a": 1, "b": 2}).items())
        [('a', 1), ('b', 2)]
        """
        return iter(self.to_dict().items())

    @property
    def values(self) -> np.ndarray[Any, Any]:
        """The same as `to_numpy`.

        >>> import headrace as hr
        >>> hr.Series([3, 1]).values
        array([3, 1])
        """
        return self.to_numpy()

    def to_array(self) -> Array:
        """The same memory as an array; raises if there are nulls.

        >>> import headrace as hr
        >>> hr.Series([3, 1]).to_array().tolist()
        [3, 1]
        """
        from headrace.array.array import asarray

        return asarray(self)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """NumPy values: a read-only view if there are no nulls.

        Nulls become NaN in floats and NaT in times, dates ``datetime64[D]``, bools bytes, strings
        and categories objects, by one copy that the ledger records. Integers with nulls raise; use
        `fillna` first.

        >>> import headrace as hr
        >>> hr.Series([3.0, 1.0]).to_numpy()
        array([3., 1.])
        """
        from headrace.interop.exchange import column_to_ndarray

        return column_to_ndarray(self._value())

    def to_arrow(self) -> Any:
        """A pyarrow array on the same memory."""
        import pyarrow as pa

        return pa.array(self)

    def to_pandas(self) -> Any:
        """A pandas series, on the same memory for numbers and times without nulls.

        Nulls in times become NaT, strings become pandas' ``str`` and categories ``pd.Categorical``,
        by a copy that the ledger records. All others share memory through ``pd.ArrowDtype``, dates
        too, as ``date32[day][pyarrow]``, whose ``.dt`` works.

        >>> import headrace as hr
        >>> s = hr.Series([3.0, None, 1.0])
        >>> type(s.to_pandas()).__name__
        'Series'
        """
        from headrace.frame.apply import sent
        from headrace.interop.exchange import column_to_pandas

        return sent(column_to_pandas(self._value(), self.name))

    def to_torch(self) -> Any:
        """A PyTorch tensor on the same memory; raises for nulls."""
        return self.to_array().to_torch()

    def __repr__(self) -> builtins.str:
        from headrace.display import series_text

        return series_text(self)

    def _repr_html_(self) -> builtins.str:
        from headrace.display import frame_html
        from headrace.frame.dataframe import DataFrame

        return frame_html(DataFrame({self.name or "": self}))

    def __arrow_c_schema__(self) -> Any:
        return self._value().__arrow_c_schema__()

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        return self._value().__arrow_c_array__(requested_schema)

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return self._value_there().__arrow_c_device_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._value().__arrow_c_stream__(requested_schema)
