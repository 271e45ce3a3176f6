# SPDX-License-Identifier: Apache-2.0
"""narwhals' series over a column of ours: a handle on a plan node, so work stays lazy."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

from narwhals._compliant import EagerSeries
from narwhals._utils import is_sequence_like
from narwhals.exceptions import InvalidOperationError, ShapeError

from headrace import _core
from headrace.errors import Error
from headrace.frame.columns import frame_of
from headrace.interop.narwhals.arithmetic import Arithmetic
from headrace.interop.narwhals.dtypes import narwhals_dtype, own_dtype
from headrace.interop.narwhals.nested import Categories, Lists, Maps, Structs
from headrace.interop.narwhals.reductions import Reductions
from headrace.interop.narwhals.roles import Role
from headrace.interop.narwhals.rows import (
    at_rows,
    positions_sorted,
    row_count,
    side_by_side,
    taken,
)
from headrace.interop.narwhals.strings import Strings
from headrace.interop.narwhals.times import Times
from headrace.interop.narwhals.values import Values
from headrace.interop.narwhals.windows import Windows
from headrace.series.column import is_series, new_series, series_of, series_over
from headrace.zone_names import zone_in


class HeadraceSeries(
    Arithmetic,
    Reductions,
    Values,
    Windows,
    Role,
    EagerSeries[Any],  # type: ignore[misc]
    role="series",
):
    """A column; nulls and NaN differ, and comparisons of null are null."""

    def __init__(self, native: Any, *, name: str | None, version: Any, literal: Any = None) -> None:
        self._native_series = native if native.name == name else series_of(native._node, name)
        self._name = name
        self._version = version
        self._broadcast = False
        #: The Python value of `nw.lit` without a dtype, which takes that of the other side.
        self._literal = literal

    __hash__ = None  # type: ignore[assignment]

    # ---- making ----------------------------------------------------------------------------------
    @staticmethod
    def _is_native(obj: Any) -> bool:
        return is_series(obj)

    @classmethod
    def from_native(cls, data: Any, /, *, context: Any, name: str | None = None) -> Self:
        """A series over one of ours, without its labels."""
        called = data.name if name is None else name
        return cls(data._plain(), name=called, version=context._version)

    @classmethod
    def from_iterable(
        cls,
        data: Iterable[Any],
        /,
        *,
        context: Any,
        name: str = "",
        dtype: Any = None,
    ) -> Self:
        """A series of values of Python, NumPy or another library."""
        own = data if is_series(data) else _series_from(data)
        made = cls(own._plain(), name=name, version=context._version)
        return made if dtype is None else made._as_dtype(data, dtype)

    def _as_dtype(self, data: Any, dtype: Any) -> Self:
        if isinstance(data, list | tuple) and all(each is None for each in data):
            word = own_dtype(dtype, self._version)
            return self._kept(new_series(list(data), dtype=word)._node)
        return self.cast(dtype)

    @classmethod
    def from_numpy(cls, data: Any, /, *, context: Any) -> Self:
        """A series of an array or of one value."""
        import numpy as np

        return cls.from_iterable(np.atleast_1d(np.asarray(data)), context=context)

    @classmethod
    def from_arrow(cls, data: Any, /, *, context: Any) -> Self:
        """A series over Arrow data, without a copy where the layout is ours."""
        return cls.from_iterable(new_series(data), context=context)

    def _from_scalar(self, value: Any) -> Self:
        if isinstance(value, _core.Node):
            return self._made(value)
        return self.from_iterable([value], name=self.name, context=self)

    def _made(self, node: _core.Node) -> Self:
        return type(self)(series_of(node, self._name), name=self._name, version=self._version)

    def _with_native(self, series: Any, *, preserve_broadcast: bool = False) -> Self:
        made = self._made(series._node)
        made._broadcast = preserve_broadcast and self._broadcast
        return made

    def _with_version(self, version: Any) -> Self:
        return type(self)(self.native, name=self._name, version=version)

    @classmethod
    def _align_full_broadcast(cls, *series: Self) -> Sequence[Self]:
        nodes = side_by_side(series)
        return [each._made(node) for each, node in zip(series, nodes, strict=True)]

    # ---- what it is ------------------------------------------------------------------------------
    @property
    def native(self) -> Any:
        """Our series."""
        return self._native_series

    @property
    def node(self) -> _core.Node:
        """Its plan node."""
        return self._native_series._node

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return "" if self._name is None else self._name

    @property
    def dtype(self) -> Any:
        """Narwhals' dtype."""
        return narwhals_dtype(self.node.dtype, self.native, self._version)

    def __len__(self) -> int:
        return row_count(self.node)

    def alias(self, name: str) -> Self:
        """The same values under another name."""
        made = type(self)(self.native, name=name, version=self._version, literal=self._literal)
        made._broadcast = self._broadcast
        return made

    def __iter__(self) -> Iterator[Any]:
        return iter(self.native.to_list())

    def __contains__(self, other: Any) -> bool:
        if other is None:
            return bool(self.null_count())
        try:
            return bool((self.native == other).any())
        except (Error, TypeError) as error:
            raise InvalidOperationError(
                f"Unable to compare other of type {type(other)} with series of type {self.dtype}."
            ) from error

    # ---- rows ------------------------------------------------------------------------------------
    def __getitem__(self, item: Any) -> Any:
        if isinstance(item, int):
            return self._at(item, row_count(self.node))
        return super().__getitem__(item)

    def _gather(self, rows: Any) -> Self:
        (node,) = taken([self.node], places_of(rows, row_count(self.node)))
        return self._made(node)

    def _gather_slice(self, rows: Any) -> Self:
        return self._made(sliced(self.node, rows))

    def filter(self, predicate: Any) -> Self:
        """The rows where a condition holds."""
        truths = predicate.node if hasattr(predicate, "node") else new_series(predicate)._node
        return self._made(_core.filter(self.node, at_rows(truths, self.node)))

    def drop_nulls(self) -> Self:
        """The rows that are not null."""
        return self._made(_core.filter(self.node, (~self.native.is_null())._node))

    def head(self, n: int) -> Self:
        """The first rows, or all but the last."""
        return (
            self._gather_slice(slice(n)) if n < 0 else self._made(_core.prefix([self.node], n)[0])
        )

    def tail(self, n: int) -> Self:
        """The last rows, or all but the first."""
        return self._gather_slice(slice(-n, None) if n else slice(0, 0))

    def _lengthened(self, rows: int) -> Self:
        """The rows with nulls behind them."""
        places = new_series([*range(row_count(self.node)), *[-1] * (rows - row_count(self.node))])
        return self._made(_core.asof_values(self.node, places._node))

    def gather_every(self, n: int, offset: int) -> Self:
        """Every n-th row."""
        return self._gather_slice(slice(offset, None, n))

    def arg_true(self) -> Self:
        """The places of true values."""
        places = numbers_to(row_count(self.node))
        truths = _core.in_domain(self.node, places._node.domain)
        return self._made(_core.filter(places._node, truths))

    def sort(self, *, descending: bool, nulls_last: bool) -> Self:
        """The rows in order."""
        places = positions_sorted([self.node], [descending], nulls_last)
        return self._made(taken([self.node], places)[0])

    def unique(self, *, maintain_order: bool = True) -> Self:
        """The distinct values in the order in which they come; null is one."""
        return self._made(taken([self.node], self.first_rows())[0])

    def sample(self, n: int, *, with_replacement: bool, seed: int | None) -> Self:
        """Random rows."""
        return self._gather(random_places(row_count(self.node), n, with_replacement, seed))

    def mode(self, *, keep: str) -> Self:
        """The commonest values."""
        counts = self.value_counts(sort=False, parallel=False, name="\0", normalize=False).native
        number = counts["\0"]
        if not len(number):
            return self.head(0)
        found = counts[number == number.max()]
        made = self._made(next(iter(found._nodes.values())))
        return made.head(1) if keep == "any" else made

    def value_counts(self, *, sort: bool, parallel: bool, name: str | None, normalize: bool) -> Any:
        """Each distinct value and how often it comes."""
        from headrace.groupby.keys import Words

        word = name or ("proportion" if normalize else "count")
        keys = [("key", self.node)]
        value, count = _core.group_columns(keys, [Words("n", "size")], "first", False)
        if normalize:
            count = (series_of(count) / row_count(self.node))._node
        if sort:
            places = _core.argsort([count], [True], False)
            value, count = taken([value, count], places)
        return self._frame_role(frame_of({self.name: value, word: count}), version=self._version)

    def to_dummies(self, *, separator: str, drop_first: bool) -> Any:
        """A column of zeros and ones for each distinct value."""
        values = self.native
        names = self.drop_nulls().unique().sort(descending=False, nulls_last=False).to_list()
        made = {str(each): values == each for each in names[int(drop_first) :]}
        if self.null_count():
            made["null"] = values.is_null()
        columns = {f"{self.name}{separator}{n}": made[n].astype("int8")._node for n in sorted(made)}
        return self._frame_role(frame_of(columns), version=self._version)

    def hist_from_bins(self, bins: builtins.list[float], *, include_breakpoint: bool) -> Any:
        """How many values lie between given edges."""
        import numpy as np

        edges = np.asarray(bins, dtype="float64")
        return self._hist(edges if len(edges) > 1 else edges[:0], include_breakpoint)

    def hist_from_bin_count(self, bin_count: int, *, include_breakpoint: bool) -> Any:
        """How many values lie between edges at equal distances."""
        import numpy as np

        low, high = self.min(), self.max()
        if low is None or bin_count == 0:
            low, high = 0.0, 1.0
        elif low == high:
            low, high = low - 0.5, high + 0.5
        edges = np.linspace(low, high, bin_count + 1) if bin_count else np.empty(0)
        return self._hist(edges, include_breakpoint)

    def _hist(self, edges: Any, include_breakpoint: bool) -> Any:
        import numpy as np

        values = self.native
        values = values[values.notna()].sort_values().to_numpy()
        below = np.searchsorted(values, edges, side="right")
        counts = np.diff(below).astype("int64")
        if len(counts):
            counts[0] += below[0] - np.searchsorted(values, edges[0], side="left")
        made = {"breakpoint": edges[1:].astype("float64")} if include_breakpoint else {}
        domain = _core.new_domain()
        columns = {
            name: _core.in_domain(new_series(each)._node, domain)
            for name, each in {**made, "count": counts}.items()
        }
        return self._frame_role(frame_of(columns), version=self._version)

    # ---- other forms -----------------------------------------------------------------------------
    def to_list(self) -> builtins.list[Any]:
        """The values of Python."""
        return self.native.to_list()

    def to_frame(self) -> Any:
        """A frame of this column."""
        node = self.node
        node = node if node.domain else _core.in_domain(node, _core.new_domain())
        return self._frame_role(frame_of({self.name: node}), version=self._version)

    def to_numpy(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        """The values as an array."""
        return self.__array__(dtype, copy=copy)

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any:
        import numpy as np

        found = numpy_of(self.native)
        found = found if dtype is None else found.astype(dtype)
        return np.array(found) if copy else found

    def to_arrow(self) -> Any:
        """The values as an Arrow array."""
        return self.native.to_arrow()

    def to_pandas(self) -> Any:
        """The values as pandas' series."""
        return self.native.to_pandas()

    def to_polars(self) -> Any:
        """The values as Polars' series."""
        import polars

        return polars.Series(self.native).alias(self.name)

    # ---- accessors -------------------------------------------------------------------------------
    @property
    def str(self) -> Strings:
        """Functions of strings."""
        return Strings(self)

    @property
    def dt(self) -> Times:
        """Functions of times and durations."""
        return Times(self)

    @property
    def cat(self) -> Categories:
        """Functions of categories."""
        return Categories(self)

    @property
    def list(self) -> Lists:
        """Functions of lists."""
        return Lists(self)

    @property
    def map(self) -> Maps:
        """Functions of maps."""
        return Maps(self)

    @property
    def struct(self) -> Structs:
        """Functions of structs."""
        return Structs(self)


def _series_from(data: Any) -> Any:
    if is_sequence_like(data) or hasattr(data, "__array__") or hasattr(data, "__arrow_c_stream__"):
        return new_series(data)
    return new_series(builtins.list(data))


def places_of(rows: Any, count: int) -> Any:
    """Positions of rows, negative ones counted from the end; a mask as the places it holds at."""
    import numpy as np

    found = rows.to_numpy() if is_series(rows) else np.asarray(rows)
    if found.dtype == bool:
        if len(found) != count:
            raise ShapeError(f"Expected object of length {count}, got: {len(found)}.")
        return np.flatnonzero(found)
    found = found.astype("int64")
    wrong = (found < -count) | (found >= count)
    if wrong.any():
        raise IndexError(f"index {found[wrong][0]} is out of bounds for {count} rows")
    return np.where(found < 0, found + count, found)


def random_places(rows: int, n: int, with_replacement: bool, seed: int | None) -> Any:
    """Positions of random rows."""
    import numpy as np

    return np.random.default_rng(seed).choice(rows, size=n, replace=with_replacement)


def sliced(node: _core.Node, rows: Any) -> _core.Node:
    """The rows of a slice or range, as rows of their own."""
    begin, stop, step = slice(rows.start, rows.stop, rows.step).indices(row_count(node))
    if step == 1:
        return _core.slice(node, begin, max(stop - begin, 0))
    return taken([node], range(begin, stop, step))[0]


def numbers_to(rows: int) -> Any:
    """0, 1, 2, ... as a series."""
    import numpy as np

    return series_over(np.arange(rows))


def numpy_of(series: Any) -> Any:
    """The values as an array: whole numbers with null as floats, instants in UTC."""
    if zone_in(series._node.dtype):
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    if series.dtype.kind in "iu" and series.is_null().any():
        series = series.astype("float64")
    return series.to_numpy()
