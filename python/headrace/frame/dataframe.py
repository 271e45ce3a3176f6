# SPDX-License-Identifier: Apache-2.0
"""`hr.DataFrame`: named, lazy columns of one row set. Methods are one line; topics do the work."""

from __future__ import annotations

import functools
import operator
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, BinaryIO, Literal, overload

from headrace import _core
from headrace.batches import iter_batches
from headrace.display.options import option, option_context
from headrace.display.plain import plain_text
from headrace.display.tables import frame_html, frame_text
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError
from headrace.facade import facade, is_probed, no_attribute
from headrace.frame import (
    apply,
    arithmetic,
    construct,
    duplicates,
    export,
    labels,
    merge,
    reductions,
    reshape,
    rows,
    select,
)
from headrace.frame.column_reductions import column_values
from headrace.frame.columns import Columns, new_frame
from headrace.frame.duplicates import repeated_rows
from headrace.frame.in_place import made_or_rebound
from headrace.frame.indexing import Locator, PositionLocator
from headrace.frame.names import Dtypes, Names
from headrace.frame.reductions import pairwise
from headrace.frame.setitem import is_temporary, lost_assignment
from headrace.frame.sort import first_of_frame
from headrace.groupby.keys import keys_of
from headrace.interop.narwhals import interchange_frame, narwhals_frame
from headrace.interop.polars_source import to_polars_lazy
from headrace.interop.through_pandas import written
from headrace.io import ipc, json
from headrace.io.parquet import write_parquet
from headrace.lazy.handle import Deferred, mark
from headrace.lazy.origin import query_of
from headrace.lazy.profile import Explanation, explain
from headrace.provenance import policy
from headrace.reshape import alignment, matched, pivot
from headrace.series import column_values as _of_reductions  # noqa: F401 (registers it)
from headrace.series import nested
from headrace.series.column import Column, new_series
from headrace.series.index import row_labels
from headrace.tabular import Tabular

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    import numpy.typing as npt

    from headrace.array.array import Array
    from headrace.frame.sort import NaPosition
    from headrace.lazy.profile import Explanation
    from headrace.plot.accessor import FramePlot
    from headrace.series.series import Series
    from headrace.stream.columns import ColumnState

Axis = int | str


@facade("DataFrame")
class DataFrame(Tabular, Columns):
    """A table of named columns. Each column is a lazy series over the same rows.

    >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [0.5, None, 2.5]})
    >>> df["z"] = df.x * 2
    >>> df[df.x > 1].z.to_list()
    [4, 6]

    Also takes rows (lists, generators, record arrays), dictionaries, two-dimensional arrays, and
    pandas, pyarrow and Polars tables; `index` sets labels, `dtype` applies to all columns:

    >>> hr.DataFrame([[1, "a"], [2, "b"]], columns=["x", "s"]).s.to_list()
    ['a', 'b']
    >>> hr.DataFrame((n, n * n) for n in range(3)).to_dict()
    {0: [0, 1, 2], 1: [0, 1, 4]}

    Writable memory of NumPy and pandas is copied, as a snapshot in the ledger, so that operations
    stay lazy and a later write changes nothing; read-only memory is shared, and so is any with
    ``copy=False`` (`asarray` says what that costs). ``copy=True`` copies either.
    """

    __slots__ = ()

    def __init__(
        self,
        data: Mapping[str, Any] | Any = None,
        index: Any = None,
        columns: Iterable[str] | None = None,
        dtype: Any = None,
        copy: bool | None = None,
    ) -> None:
        super().__init__()
        mark("DataFrame")
        construct.fill(self, alignment.shared_rows(data), columns, index, dtype, copy)

    @classmethod
    def from_dict(
        cls, data: Mapping[Any, Any], orient: str = "columns", columns: Iterable[str] | None = None
    ) -> DataFrame:
        """Build a frame from columns by name, or with ``orient="index"`` from rows by label.

        >>> hr.DataFrame.from_dict({"r": [1, 2]}, orient="index", columns=["a", "b"]).b.to_list()
        [2]
        """
        return construct.from_dict(data, orient, columns)

    @classmethod
    def from_records(cls, data: Any, columns: Iterable[str] | None = None) -> DataFrame:
        """Build a frame from rows: lists, tuples, dictionaries, or NumPy records.

        >>> hr.DataFrame.from_records([(1, "a"), (2, "b")], columns=["x", "y"]).to_dict()
        {'x': [1, 2], 'y': ['a', 'b']}
        """
        return cls(data, columns=columns)

    def to(self, device: str) -> DataFrame:
        """Copy the frame to a device: `Array.to` for each column.

        >>> hr.DataFrame({"a": [1, 2]}).to("cpu")["a"].sum().item()
        3
        """
        mark("to")
        return self._of_rows(
            [_core.to(node, device) for node in self._every()],
            lambda node: _core.to(node, device),
        )

    # ---- charts ----------------------------------------------------------------------------------
    @property
    def plot(self) -> FramePlot:
        """Charts: ``df.plot(x=..., y=...)`` draws lines; line, scatter, hist, bar, box, hexbin.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [1.0, 4.0, 9.0]})
        >>> df.plot.line(x="x", y="y", title="Squares").save("squares.png")
        """
        from headrace.plot.accessor import FramePlot  # on first use: it loads much

        return FramePlot(self)

    # ---- shape -----------------------------------------------------------------------------------
    @property
    def columns(self) -> Names:
        """Column names, in order; ``df.columns = [...]`` renames all of them.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.columns
        ['x', 'y']
        """
        names = Names(self._nodes)
        names._owner = self
        return names

    @columns.setter
    def columns(self, names: Iterable[str]) -> None:
        select.rename_all(self, names)

    @property
    def dtypes(self) -> Dtypes:
        """Element type of each column, known before anything runs.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.dtypes
        x    int64
        y    float64
        """
        return Dtypes({name: DType(node.dtype) for name, node in self._nodes.items()})

    def __len__(self) -> int:
        return self._rows()

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; runs the plan if the row count depends on the data.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.shape
        (3, 2)
        """
        return (len(self), len(self._nodes))

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __bool__(self) -> bool:
        raise InvalidArgumentError(
            "bool: the truth value of a frame is ambiguous; use len(df) > 0 or a reduction"
        )

    @property
    def ndim(self) -> int:
        """Always 2.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.ndim
        2
        """
        return 2

    @property
    def size(self) -> int:
        """Number of values.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.size
        6
        """
        return len(self) * len(self._nodes)

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    @property
    def rejects(self) -> DataFrame | None:
        r"""Rows that ``read_csv(on_bad="reject")`` could not read; None for all other frames.

        >>> df = hr.read_csv(b"x\n1\n2,3\n", on_bad="reject")
        >>> df.x.to_list(), df.rejects.line.to_list()
        ([1], [3])
        """
        return self._rejects

    @rejects.setter
    def rejects(self, rows: DataFrame | None) -> None:
        self._rejects = rows

    # ---- copies and pickle -----------------------------------------------------------------------
    def __copy__(self) -> DataFrame:
        frame = DataFrame(self)
        frame._rejects = self._rejects
        return frame

    def __deepcopy__(self, memo: dict[int, Any]) -> DataFrame:
        return self.__copy__()  # the values are immutable

    def __reduce_ex__(self, protocol: Any) -> Any:
        return labels.reduced_frame(self, protocol)

    # ---- columns and rows ------------------------------------------------------------------------
    @overload
    def __getitem__(self, key: str) -> Series: ...
    @overload
    def __getitem__(self, key: list[Any] | slice | Deferred | DataFrame) -> DataFrame: ...
    @overload
    def __getitem__(self, key: Any) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """A column by name, columns by a list of names, rows by a mask or a slice.

        A boolean frame keeps all rows and sets null where it is false.
        """
        return select.get_item(self, key)

    def __setitem__(self, name: Any, values: Any) -> None:
        """Set a column: the handle points at a new node, existing columns are never written.

        A list of names takes a frame or array with as many columns, rows of as many values, one
        value or column per name, or one for all. A boolean mask or frame sets the selected values.
        """
        if is_temporary(sys.getrefcount(self), self):  # counts the references of the caller
            raise lost_assignment(name)
        select.set_columns(self, name, values)

    def __setattr__(self, name: str, values: Any) -> None:
        own = name.startswith("_") and hasattr(type(self), name)
        if own or name in ("rejects", "columns", "index"):
            object.__setattr__(self, name, values)
        elif name in self._nodes:
            if is_temporary(sys.getrefcount(self), self):
                raise lost_assignment(name)
            self[name] = values
        else:
            raise AttributeError(f"use brackets for a new column: df[{name!r}] = ...")

    def __getattr__(self, name: str) -> Series:
        if is_probed(name):
            raise AttributeError(name)
        nodes = self._nodes
        if name in nodes:
            return self._series(name)
        raise no_attribute("DataFrame has no column or method", name, nodes, DataFrame)

    def __dir__(self) -> list[str]:
        names = (name for name in self._nodes if isinstance(name, str) and name.isidentifier())
        return [*super().__dir__(), *names]

    def __delitem__(self, name: str) -> None:
        mark("delitem")
        del self._nodes[self._find(name)]

    def pop(self, name: str) -> Series:
        """Remove a column from this frame and return it.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.pop("x").to_list(), df.columns
        ([1, 2, 2], ['y'])
        """
        column: Series = self[name]
        del self[name]
        return column

    def insert(self, loc: int, column: str, value: Any) -> None:
        """Insert a new column at position `loc`.

        >>> df = hr.DataFrame({"x": [1, 2]})
        >>> df.insert(0, "id", ["a", "b"])
        >>> df.columns
        ['id', 'x']
        """
        select.insert(self, loc, column, value)

    def get(self, name: str, default: Any = None) -> Any:
        """A column by name, or `default` if there is none.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.get("x").to_list(), df.get("z") is None
        ([1, 2, 2], True)
        """
        return self[name] if name in self._nodes else default

    def keys(self) -> Any:
        """The column names.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> list(df.keys())
        ['x', 'y']
        """
        return self.columns

    def items(self) -> Iterator[tuple[str, Series]]:
        """Pairs of name and column.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> [name for name, column in df.items()]
        ['x', 'y']
        """
        return iter([(name, self[name]) for name in self._nodes])

    # ---- other columns ---------------------------------------------------------------------------

    def assign(self, **columns: Series | Callable[[DataFrame], Any] | Any) -> DataFrame:
        """A new frame with columns added or replaced; callables receive the frame.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.assign(z=lambda f: f.x * 2).columns
        ['x', 'y', 'z']
        """
        result = new_frame(self)
        for name, values in columns.items():
            result[name] = values(result) if callable(values) else values
        return result

    def drop(
        self,
        labels: Any = None,
        *,
        axis: int | str | None = None,
        columns: str | list[str] | None = None,
        index: Any = None,
        errors: str = "raise",
        inplace: bool = False,
    ) -> DataFrame:
        """A new frame without some columns, or with `index` or ``axis=0`` without rows by label.

        Without `axis`, strings that are not columns drop rows if the rows have labels.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.drop(columns="x").columns, df.drop(index=[0]).x.to_list()
        (['y'], [2, 3])
        """
        made = select.drop(self, labels, axis, columns, index, errors)
        return made_or_rebound(self, made, inplace)

    def rename(
        self,
        mapper: Mapping[str, str] | Callable[[str], str] | None = None,
        *,
        index: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
        columns: Mapping[str, str] | Callable[[str], str] | None = None,
        axis: int | str = 1,
        errors: str = "raise",
        inplace: bool = False,
    ) -> DataFrame:
        """A new frame with columns renamed by ``{old: new}`` or a function of names.

        An unknown name raises, unless ``errors="ignore"``. `index`, or ``axis=0``, replaces row
        labels instead.

        >>> df = hr.DataFrame({"x": [1], "y": [2]})
        >>> df.rename({"x": "a"}).columns, df.rename(columns=str.upper).columns
        (['a', 'y'], ['X', 'Y'])
        """
        return made_or_rebound(
            self, select.rename(self, mapper, index, columns, axis, errors), inplace
        )

    def add_prefix(self, prefix: str) -> DataFrame:
        """A new frame with `prefix` before each name.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.add_prefix("a_").columns
        ['a_x', 'a_y']
        """
        return self.rename(lambda name: f"{prefix}{name}")

    def add_suffix(self, suffix: str) -> DataFrame:
        """A new frame with `suffix` after each name.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.add_suffix("_a").columns
        ['x_a', 'y_a']
        """
        return self.rename(lambda name: f"{name}{suffix}")

    def filter(
        self,
        items: Iterable[str] | None = None,
        *,
        like: str | None = None,
        regex: str | None = None,
        axis: Axis = 1,
    ) -> DataFrame:
        """Select columns by name: those in `items`, containing `like`, or matching `regex`.

        With ``axis=0`` rows by label.

        >>> hr.DataFrame({"x_1": [1], "y": [2], "x_2": [3]}).filter(like="x_").columns
        ['x_1', 'x_2']
        """
        return select.filter_names(self, items, like=like, regex=regex, axis=axis)

    def select_dtypes(self, include: Any = None, exclude: Any = None) -> DataFrame:
        """Select columns by dtype: dtypes, or ``"number"``, ``"string"``, ``"datetime"``, ...

        >>> hr.DataFrame({"x": [1], "s": ["a"], "y": [0.5]}).select_dtypes("number").columns
        ['x', 'y']
        """
        return select.select_dtypes(self, include, exclude)

    # ---- rows by value ---------------------------------------------------------------------------

    def sql(self, query: str, /, *, dialect: str = "duckdb", params: Any = None) -> DataFrame:
        """Query the frame, as the table `self`, in SQL; the result is lazy. See `hr.sql`.

        >>> hr.DataFrame({"x": [1, 2, 3]}).sql("select sum(x) as total from self").to_dict()
        {'total': [6]}
        """
        from headrace.sql.context import PLANS, run

        return run(query, {"self": self}, {}, dialect, params, False, PLANS)

    def query(self, text: str) -> DataFrame:
        """Filter rows by an expression over columns, given as a string.

        The expression is parsed, never run as code: names are columns (in backticks if they are not
        identifiers; ``index`` is the label), ``@name`` is a variable of the caller; arithmetic,
        comparisons (chained too), ``in`` with a list, ``and``, ``or``, ``not`` (``&`` and ``|``
        bind as weakly as these), the methods of `.str` and `.dt`, tests and reductions of a column,
        and the functions ``abs exp log sqrt sin ...`` work.

        Notes
        -----
        The cost is bounded by the length of the expression and the data, and no code of the
        caller's objects runs: variables may be numbers, strings, times, lists and arrays of these,
        items of lists and dictionaries, and stored (not computed) attributes. An expression can
        compare any variable of the caller's function and module with the data: do not accept one
        from untrusted users if these hold secrets.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "a b": ["u", "v", "v"]})
        >>> least = 2
        >>> df.query("x >= @least and `a b` in ['v']").x.to_list()
        [2, 3]
        """
        return rows.filter_by_expression(self, text)

    def eval(self, text: str, inplace: bool = False) -> Any:
        """Evaluate an expression over columns to a column; ``"z = ..."`` gives a frame.

        With ``inplace=True`` this frame gets the new column.

        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> df.eval("x + y").to_list(), df.eval("z = y - x").z.to_list()
        ([4, 7], [2, 3])
        """
        return made_or_rebound(self, rows.eval_expression(self, text), inplace)

    def fillna(self, value: Any, *, inplace: bool = False) -> DataFrame:
        """Replace null and NaN by `value`, or per column by a mapping ``{name: value}``.

        A reduction such as ``df.mean()``, or a frame with the same rows, fills column by column.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.fillna({"y": 0.0}).y.to_list()
        [0.5, 0.0, 2.5]
        """
        return made_or_rebound(self, rows.fillna(self, value), inplace)

    def dropna(
        self,
        subset: str | list[str] | None = None,
        how: Literal["any", "all"] = "any",
        *,
        axis: int | str = 0,
        thresh: int | None = None,
        ignore_index: bool = False,
        inplace: bool = False,
    ) -> DataFrame:
        """Drop rows with null or NaN in `subset` (all columns).

        ``how="all"`` drops only rows without any value, `thresh` rows with fewer values. With
        ``axis=1`` columns are dropped, which evaluates them.

        >>> df = hr.DataFrame({"a": [1, None, 3], "b": [4, None, None]})
        >>> df.dropna().a.to_list(), df.dropna(how="all").a.to_list()
        ([1], [1, 3])
        """
        made = rows.dropna(self, subset, how, axis, thresh, ignore_index)
        return made_or_rebound(self, made, inplace)

    def astype(self, dtype: Any, errors: Literal["raise", "ignore"] = "raise") -> DataFrame:
        """Convert columns to another dtype, or per column by a mapping ``{name: dtype}``.

        With ``errors="ignore"`` columns with values that cannot be converted stay as they are,
        which is evaluated to find out.

        >>> df = hr.DataFrame({"x": [1, 2], "y": [0.5, 1.5]})
        >>> df.astype({"x": "float32"}).x.dtype.name
        'float32'
        """
        return rows.astype(self, dtype, errors)

    def merge(
        self,
        right: DataFrame | Series,
        how: str = "inner",
        on: str | list[str] | None = None,
        left_on: Any = None,
        right_on: Any = None,
        suffixes: tuple[str | None, str | None] = ("_x", "_y"),
        indicator: bool | str = False,
        validate: str | None = None,
        left_index: bool = False,
        right_index: bool = False,
        sort: bool = False,
    ) -> DataFrame:
        """Join the rows of two frames on equal keys.

        Rows follow the left frame; matches of one left row follow the right frame. A right join
        follows the right frame, an outer join is sorted by key. Null equals null, and
        NaN equals NaN. Unmatched rows get null in the other side's columns, which keep their dtype.

        Parameters
        ----------
        right : DataFrame or Series
            The other frame, or a labelled series.
        how : {"inner", "left", "right", "outer", "semi", "anti", "cross"}
            Which rows to keep; semi and anti: left rows with a match, or without.
        on : str or list of str, optional
            Key names in both frames; by default all shared names.
        left_on, right_on : str, Series or list of these, optional
            Keys of each side; integers and floats of any width compare.
        suffixes : tuple
            Appended to other column names that both frames have.
        indicator : bool or str
            Add a last column (`_merge`, or this name) with the side each row is from.
        validate : {"1:1", "1:m", "m:1", "m:m"}, optional
            Raise if keys repeat on a side where they must be unique; pandas' long names work too.
        left_index, right_index : bool
            Use the labels of a side as keys; those of the left side label the result.
        sort : bool
            Sort the result by key.

        Raises
        ------
        ColumnNotFoundError
            For an unknown column name.
        TypeMismatchError
            For key dtypes that cannot be compared, such as strings and numbers.
        InvalidArgumentError
            For conflicting options, and on evaluation for keys that violate `validate` or a result
            of 2^31 rows.

        Notes
        -----
        Keys compare as with ``==``: times of any unit and zone by instant (a shared key takes the
        zone of the left frame), decimals and floats as float64.

        Keys within a range of at most four times the right row count cost a few ns per row and
        core, others about 40. If every left row has one match, the left columns are shared. The
        hash table follows Birler, Schmidt, Fent and Neumann, "Simple, efficient, and robust hash
        tables for join processing", DaMoN 2024.

        >>> loans = hr.DataFrame({"id": [1, 2, 2], "paid": [5.0, 6.0, 7.0]})
        >>> people = hr.DataFrame({"id": [2, 1], "name": ["Bo", "Al"]})
        >>> loans.merge(people, on="id").to_dict()
        {'id': [1, 2, 2], 'paid': [5.0, 6.0, 7.0], 'name': ['Al', 'Bo', 'Bo']}
        """
        words = (how, on, left_on, right_on, suffixes, indicator, validate)
        return merge.merge(self, right, *words, left_index, right_index, sort)

    def join(
        self,
        other: DataFrame | Series | list[DataFrame | Series],
        on: str | list[str] | None = None,
        how: str = "left",
        lsuffix: str = "",
        rsuffix: str = "",
        *,
        sort: bool = False,
        validate: str | None = None,
    ) -> DataFrame:
        """Join columns of a labelled frame or series, or several, by labels or by columns `on`.

        >>> names = hr.DataFrame({"id": [1, 2], "name": ["Al", "Bo"]}).set_index("id")
        >>> hr.DataFrame({"id": [2, 3], "x": [5, 6]}).join(names, on="id").to_dict()
        {'id': [2, 3], 'x': [5, 6], 'name': ['Bo', None]}
        """
        return rows.join_frames(self, other, on, how, lsuffix, rsuffix, sort, validate)

    def append(self, other: Any, ignore_index: bool = False) -> DataFrame:
        """A new frame with the rows of another one, or one row from a mapping, appended.

        A loop copies all rows each time; `hr.advice` names the line.

        >>> hr.DataFrame({"x": [1]}).append({"x": 2}, ignore_index=True).x.to_list()
        [1, 2]
        """
        return rows.append(self, other, ignore_index)

    # ---- order -----------------------------------------------------------------------------------

    def sort_values(
        self,
        by: str | Sequence[str] | None = None,
        *,
        ascending: bool | Sequence[bool] = True,
        na_position: NaPosition = "last",
        ignore_index: bool = False,
        kind: str | None = None,
        key: Callable[[Series], Series] | None = None,
        inplace: bool = False,
    ) -> DataFrame:
        """Sort the rows by columns into a new frame; the sort is stable.

        Only the keys and the columns in use are sorted; `head` of the result selects the first rows
        without a full sort. Under a memory limit the sort spills to disk.

        Parameters
        ----------
        by : str or list of str
            Columns, most significant first. Strings compare bytewise, unordered categories
            alphabetically, false before true.
        ascending : bool or list of bool
            One for all keys, or one per key.
        na_position : {"last", "first"}
            Where rows with a null or NaN in a key go, regardless of direction.
        ignore_index : bool
            Without the columns that are labels.
        kind : str, optional
            Ignored: the sort is always stable.
        key : function, optional
            Applied to each column before comparing: ``key=lambda column: column.str.lower()``.

        Returns
        -------
        DataFrame
            Lazy. Rows without labels do not keep their old positions, unlike in pandas.

        Raises
        ------
        ColumnNotFoundError
            For an unknown column name.
        InvalidArgumentError
            If `ascending` and `by` differ in length.

        >>> df = hr.DataFrame({"k": ["b", "a", "b"], "v": [1, 2, 3]})
        >>> df.sort_values(["k", "v"], ascending=[True, False]).to_dict()
        {'k': ['a', 'b', 'b'], 'v': [2, 3, 1]}
        """
        made = rows.sort_values(self, by, ascending, na_position, ignore_index, key)
        return made_or_rebound(self, made, inplace)

    def nlargest(
        self, n: int, columns: str | Sequence[str], keep: Literal["first", "last", "all"] = "first"
    ) -> DataFrame:
        """The `n` rows with the largest values in `columns`, largest first, without a full sort.

        Rows with missing values come last; `keep` takes the first or last of equal rows, or all
        rows equal to the last one (which is evaluated).

        >>> hr.DataFrame({"v": [3, 9, 4], "w": ["a", "b", "c"]}).nlargest(2, "v").w.to_list()
        ['b', 'c']
        """
        return first_of_frame("nlargest", self, n, columns, True, keep)

    def nsmallest(
        self, n: int, columns: str | Sequence[str], keep: Literal["first", "last", "all"] = "first"
    ) -> DataFrame:
        """The `n` rows with the smallest values in `columns`, smallest first; see `nlargest`.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.nsmallest(1, "y").to_dict()
        {'x': [1], 'y': [0.5]}
        """
        return first_of_frame("nsmallest", self, n, columns, False, keep)

    # ---- groups ----------------------------------------------------------------------------------

    def duplicated(
        self, subset: Any = None, keep: Literal["first", "last", False] = "first"
    ) -> Series:
        """Mark repeated rows: all but the first, all but the last, or all; null equals null.

        >>> hr.DataFrame({"a": [1, 1, 2], "b": [3, 3, 3]}).duplicated().to_list()
        [False, True, False]
        """
        keys = keys_of(self, subset if subset is not None else self.columns)
        mark("duplicated")
        return new_series(repeated_rows([node for _, node in keys], keep))

    def drop_duplicates(
        self,
        subset: str | list[str] | None = None,
        *,
        keep: Literal["first", "last", False] = "first",
        ignore_index: bool = False,
        inplace: bool = False,
    ) -> DataFrame:
        """Drop rows that are equal in the columns of `subset` (all columns), keeping the first.

        ``keep="last"`` keeps the last, ``keep=False`` none. Order is preserved. Null equals null,
        and NaN equals NaN. Keys already known to be unique (from a group-by or an earlier
        `drop_duplicates`) return the frame itself.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.drop_duplicates("x").to_dict()
        {'x': [1, 2], 'y': [0.5, None]}
        """
        made = duplicates.drop_duplicates(self, subset, keep, ignore_index)
        return made_or_rebound(self, made, inplace)

    def quantile(
        self,
        q: float | list[float] = 0.5,
        axis: Axis = 0,
        *,
        numeric_only: bool = False,
        interpolation: str = "linear",
        method: Literal["single", "table"] = "single",
    ) -> Any:
        """Quantiles of each column, one row per quantile of a list; see `Series.quantile`.

        Along rows (``axis=1``) one float64 per row, null if all values are missing. With
        ``method="table"`` whole rows of the frame sorted by all its columns, of any dtypes:
        `interpolation` is "nearest", "lower" or "higher".

        >>> df = hr.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, None, 8.0]})
        >>> df.quantile([0.5, 1.0]).a.to_list(), df.quantile(0.5, axis=1).to_list()
        ([2.0, 4.0], [2.0, 2.0, 6.0])
        """
        return reductions.quantile(
            self, q, axis, numeric_only=numeric_only, interpolation=interpolation, method=method
        )

    def mode(self, axis: Axis = 0, numeric_only: bool = False, dropna: bool = True) -> DataFrame:
        """The most frequent values of each column, or row, sorted, padded with null; evaluates.

        >>> hr.DataFrame({"x": [1, 1, 2], "y": ["b", "a", None]}).mode().to_dict()
        {'x': [1, None], 'y': ['a', 'b']}
        """
        if axis in (1, "columns"):
            return self.T.mode(0, numeric_only, dropna).T
        return reductions.mode(self, numeric_only, dropna)

    def count(self, axis: Axis = 0, numeric_only: bool = False) -> Any:
        """Counts of values that are neither null nor NaN, for all but complex columns.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.count().to_dict()
        {'x': 3, 'y': 2}
        """
        frame = self.select_dtypes(["number", "bool"]) if numeric_only else self
        return reductions.count(frame, axis)

    def agg(self, func: Any, axis: Axis = 0) -> Any:
        """Aggregates by name: one for all columns, several, or per column by a mapping.

        Several give one row each, labelled by name, null where a column was not requested. With
        ``axis=1`` of each row, where several give one column each.

        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 5]})
        >>> df.agg({"x": "sum", "y": "max"}).to_dict()
        {'x': 3, 'y': 5}
        >>> df.agg(["min", "max"]).loc["max", "y"]
        5
        """
        return reductions.agg(self, func, axis)

    aggregate = agg

    def incremental(self, **named: tuple[str, str]) -> ColumnState:
        """A state of aggregates of columns that takes more rows: for streams and batches.

        It begins with the rows of this frame; ``state.update(batch)`` folds more, and
        ``state.value()`` is one row with the aggregates of all of them, with the bits of those of
        all rows at once. See `hr.stream`.

        Parameters
        ----------
        **named : (column, aggregate)
            Results by name: sum, prod, mean, min, max, any, all, count, var, std, sem, skew or
            kurt of a column of numbers.

        >>> state = hr.DataFrame({"x": [1.0, 5.0]}).incremental(total=("x", "sum"))
        >>> state.update(hr.DataFrame({"x": [3.0]}))
        >>> state.value().total.item()
        9.0
        """
        from headrace.stream.columns import of_frame

        mark("incremental")
        return of_frame(self, named)

    def corr(self, method: str = "pearson", *, numeric_only: bool = False) -> DataFrame:
        """Pearson correlation of each pair of numeric columns, over complete pairs; evaluates.

        In float64; NaN if one of them is constant. For ``"spearman"`` and ``"kendall"`` see
        `Series.corr`.

        >>> df = hr.DataFrame({"x": [1.0, 2.0, 3.0], "y": [3.0, 2.0, 1.0]})
        >>> round(df.corr().loc["x", "y"], 12)
        -1.0
        """
        if method in ("spearman", "kendall"):
            return reductions.by_pairs(self, method, numeric_only)
        if method != "pearson":
            raise InvalidArgumentError(
                f"corr: invalid value: method={method!r}; expected 'pearson', 'spearman' or "
                "'kendall'"
            )
        return reductions.pairwise(self, "corr", numeric_only, _core.correlation)

    def corrwith(self, other: Any, method: str = "pearson", *, drop: bool = False) -> Series:
        """Correlation of each number column with a series, or the same column of another frame.

        Null for columns that only one frame has, or without these if `drop`.

        >>> df = hr.DataFrame({"x": [1.0, 2.0, 4.0], "y": [4.0, 2.0, 1.0]})
        >>> df.corrwith(df.x).round(3).to_dict()
        {'x': 1.0, 'y': -0.929}
        """
        return reductions.corrwith(self, other, method, drop)

    def cov(self, *, numeric_only: bool = False) -> DataFrame:
        """Covariance of each pair of numeric columns, over complete pairs; evaluates.

        >>> hr.DataFrame({"x": [1, 2, 3], "y": [2, 4, 6]}).cov().to_dict()
        {'x': [1.0, 2.0], 'y': [2.0, 4.0]}
        """
        return pairwise(self, "cov", numeric_only, functools.partial(_core.covariance, ddof=1))

    def describe(
        self, percentiles: list[float] | None = None, include: Any = None, exclude: Any = None
    ) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each numeric column; evaluates.

        Times and durations are included as strings. A frame without any of these gives count,
        unique, top and freq of each column as strings; ``include="all"`` gives all of them, and
        `include` and `exclude` may be dtypes as in `select_dtypes`. The first column, `statistic`,
        labels the rows.

        >>> hr.DataFrame({"x": [1.0, 3.0]}).describe().loc["mean", "x"]
        2.0
        """
        return reductions.describe(self, percentiles, include, exclude)

    def _elementwise(self, op: str, *values: Any) -> DataFrame:
        return arithmetic.operate(self, op, *values)

    def __pos__(self) -> DataFrame:
        return arithmetic.map_columns(self, operator.pos)

    def __matmul__(self, other: Any) -> Any:
        return arithmetic.dot(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return arithmetic.dot_from_left(self, other)

    def dot(self, other: Any) -> Any:
        """The matrix product, by `hr.linalg`, with the labels of these rows.

        Labels of the other rows are matched with the names of these columns.

        >>> hr.DataFrame({"x": [1, 2], "y": [3, 4]}).dot([1, 1]).tolist()
        [4, 6]
        """
        return arithmetic.dot(self, other)

    def combine(
        self, other: Any, func: Callable[[Any, Any], Any], fill_value: Any = None
    ) -> DataFrame:
        """``func`` of each column of both frames, which have the same rows and names.

        >>> df = hr.DataFrame({"x": [1, 5], "y": [4, 2]})
        >>> df.combine(df + 1, lambda a, b: a * b).to_dict()
        {'x': [2, 30], 'y': [20, 6]}
        """
        sides = (
            [self, other]
            if fill_value is None
            else [self.fillna(fill_value), other.fillna(fill_value)]
        )
        return arithmetic.combine(sides[0], "combine", func, sides[1])

    def update(self, other: Any, overwrite: bool = True, errors: str = "ignore") -> None:
        """Take the values of `other` that are not missing, by label, in the columns that both have.

        Parameters
        ----------
        other : DataFrame or Series
            Its labels, or row numbers, are distinct; those that this frame lacks are left out.
        overwrite : bool
            Whether values that are not missing are replaced, too.
        errors : {"ignore", "raise"}
            Whether two values that are not missing raise.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4.0, None, 6.0]})
        >>> df.update(hr.DataFrame({"y": [9.0, 5.0]}))
        >>> df.y.to_list()
        [9.0, 5.0, 6.0]
        """
        matched.update(self, other, overwrite, errors)

    def compare(
        self,
        other: DataFrame,
        align_axis: Axis = 1,
        keep_shape: bool = False,
        keep_equal: bool = False,
        result_names: tuple[str, str] = ("self", "other"),
    ) -> DataFrame:
        """The values that differ from those of a frame with the same labels and names; evaluates.

        Columns ``("x", "self")`` and ``("x", "other")``, null where values are equal, unless
        `keep_equal`; only rows and columns with a difference, unless `keep_shape`. With
        ``align_axis=0`` the two are rows, one below the other.

        >>> df = hr.DataFrame({"x": [1, 2], "y": [3, 4]})
        >>> df.compare(df.assign(x=[1, 9])).to_dict()
        {('x', 'self'): [2], ('x', 'other'): [9]}
        """
        return matched.compare(self, other, align_axis, keep_shape, keep_equal, result_names)

    def first_valid_index(self) -> Any:
        """The label of the first row with a value that is not missing, None if there is none.

        >>> hr.DataFrame({"x": [None, 2.0]}).first_valid_index()
        1
        """
        return alignment.valid_label(self, 0)

    def last_valid_index(self) -> Any:
        """The label of the last row with a value that is not missing, None if there is none.

        >>> hr.DataFrame({"x": [1.0, None]}).last_valid_index()
        0
        """
        return alignment.valid_label(self, -1)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return arithmetic.array_ufunc(self, ufunc, method, *inputs, **kwargs)

    # ---- element-wise ----------------------------------------------------------------------------

    def round(self, decimals: int | Mapping[str, int] = 0) -> DataFrame:
        """Round floats to a number of decimals, or per column by a mapping; strings are kept.

        >>> df = hr.DataFrame({"y": [0.123, 4.567]})
        >>> df.round(1).y.to_list()
        [0.1, 4.6]
        """
        return arithmetic.round_columns(self, decimals)

    # ---- rows relative to others -----------------------------------------------------------------

    # ---- looking ---------------------------------------------------------------------------------

    def explain(self, analyze: bool = False, *, passes: bool = False) -> Explanation:
        """The steps that evaluating all columns would take, with the passes over the data.

        Filters are shown where they are applied: ``read_csv [file where (x > 5)]``, ``getitem
        [mask, before merge]``. With `analyze` the steps run, and each line reports time, rows,
        bytes (both with their predictions), memory in use, and what a memory limit moved. With
        `passes` the plan is shown before and after each optimizer pass that changes it. The result
        of a query begins with its SQL. Notebooks show a table.
        """
        return explain(list(self._nodes.values()), analyze, passes).of_query(query_of(self))

    def tag(self, column: Any, *tags: str) -> DataFrame:
        """Say what the values of a column are, ``"personal"``: what is made of them has the tags.

        `hr.policy` refuses exports by tags, `hr.lineage` tells them.

        >>> df = hr.DataFrame({"ssn": ["12", "34"], "x": [1, 2]}).tag("ssn", "personal")
        >>> df.assign(short=df["ssn"].str[0]).tags
        {'ssn': ['personal'], 'short': ['personal']}
        """
        return policy.tag(self, column, tags)

    def untag(self, column: Any, *tags: str) -> DataFrame:
        """Take tags away from a column; other columns keep theirs.

        >>> hr.DataFrame({"x": [1, 2]}).tag("x", "personal").untag("x", "personal").tags
        {}
        """
        return policy.untag(self, column, tags)

    @property
    def tags(self) -> dict[Any, list[str]]:
        """The tags of the columns that have some, by name; evaluates nothing."""
        return policy.tags_of(self._nodes.items())

    def to_dict(self, orient: str = "list") -> Any:
        """Python values: lists by name, or in the form given by `orient`.

        Parameters
        ----------
        orient : {"list", "records", "dict", "index", "split"}
            ``{name: [value]}``; one dictionary per row; ``{name: {label: value}}``; ``{label:
            {name: value}}``; columns, index and data separately.

        >>> hr.DataFrame({"a": [1, 2], "b": ["x", None]}).to_dict("records")
        [{'a': 1, 'b': 'x'}, {'a': 2, 'b': None}]
        """
        return export.to_dict(self, orient)

    def to_csv(
        self,
        path: str | PathLike[str] | IO[Any] | None = None,
        *,
        index: bool | None = None,
        **options: Any,
    ) -> str | None:
        r"""Write a CSV file; see `headrace.io.csv.write_csv`. Without a path, return the text.

        Labels are written as columns; ``index=True`` writes row numbers if there are none,
        ``index=False`` writes neither. `path` may be an open file. ``columns=`` chooses some. Other
        options of pandas (``mode``, ``encoding``, ``date_format``, ``quoting``, ...) are left to
        pandas, as `hr.fallbacks` lists.

        >>> hr.DataFrame({"a": [1, 2], "b": ["x", None]}).to_csv()
        'a,b\n1,x\n2,\n'
        """
        return export.to_csv(self, path, index=index, **options)

    def to_string(
        self,
        buf: str | PathLike[str] | IO[str] | None = None,
        *,
        columns: Sequence[Any] | None = None,
        header: bool | Sequence[str] = True,
        index: bool = True,
        na_rep: str = "NaN",
        float_format: str | Callable[[float], str] | None = None,
        justify: str | None = None,
        max_rows: int | None = None,
        **options: Any,
    ) -> str | None:
        """All rows and columns as pandas' plain text, returned or written to `buf`.

        Null and NaN are `na_rep` (times: NaT). `justify` places the headers (right, left or
        center), `header` may give them. Of more than `max_rows` rows the first and last are shown.
        Other options of pandas (``formatters``, ``col_space``, ...) are left to pandas, as
        `hr.fallbacks` lists.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> print(df.to_string())
           x    y
        0  1  1.5
        1  2  NaN
        2  6  2.5
        """
        shown = dict(columns=columns, header=header, index=index, na_rep=na_rep)
        return plain_text(
            self, buf, float_format, options, **shown, justify=justify, max_rows=max_rows
        )

    def to_html(
        self, *, index: bool = True, float_format: Callable[[float], str] | None = None
    ) -> str:
        """All rows and columns as an HTML table; without `index` no labels."""
        with option_context("display.float_format", float_format or option("float_format")):
            return frame_html(self, whole=True, index=index)

    def memory_usage(self, index: bool = True, deep: bool = True) -> Any:
        """Bytes of each column: values, validity and text; evaluates.

        The options have no effect: labels are left out, all bytes count.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.memory_usage().to_dict()
        {'x': 24, 'y': 25}
        """
        _core.force(self._every())
        return column_values({name: self[name].nbytes for name in self._nodes}, "memory_usage")

    def info(self) -> None:
        """Print names, dtypes, non-null counts and total bytes; evaluates."""
        export.info(self)

    def to_json(
        self,
        path: str | PathLike[str] | IO[Any] | None = None,
        *,
        orient: str | None = None,
        lines: bool = False,
        durable: bool = True,
        **pandas: Any,
    ) -> str | None:
        r"""JSON text, returned or written to `path`, which is replaced whole or not at all.

        ``orient="records"`` is an array of objects, with ``lines=True`` an object a line (also
        without `orient`): formatted on all cores, labels left out. Floats have the fewest digits
        that read back to the same value; NaN and infinities are null. Dates and times are ISO 8601
        strings, lists arrays, and text is UTF-8. Other shapes (pandas' default is "columns"),
        packed files, and pandas' options are written by pandas, as `hr.fallbacks` lists. `durable`
        waits until the bytes are on disk.

        >>> hr.DataFrame({"a": [1, 2], "b": ["x", None]}).to_json(lines=True)
        '{"a":1,"b":"x"}\n{"a":2,"b":null}\n'
        """
        return json.to_json(self, path, orient=orient, lines=lines, durable=durable, **pandas)

    def to_ipc(
        self,
        path: str | PathLike[str] | IO[bytes],
        *,
        compression: str | None = None,
        format: Literal["file", "stream"] = "file",
        durable: bool = True,
    ) -> None:
        """Write an Arrow IPC file or stream, which is replaced whole or not at all.

        Labels are written as columns. ``compression="lz4"`` or ``"zstd"`` packs each buffer.
        Batches have 2^16 rows; strings have offsets, categories are dictionaries.
        ``format="stream"`` has no footer, for pipes. `durable` waits until the bytes are on disk.

        >>> hr.DataFrame({"x": [1, 2]}).to_ipc("example.arrow", compression="zstd")
        >>> hr.read_ipc("example.arrow").to_dict()
        {'x': [1, 2]}
        """
        ipc.to_ipc(self, path, compression=compression, format=format, durable=durable)

    def to_feather(
        self, path: str | PathLike[str] | IO[bytes], compression: str | None = None
    ) -> None:
        """Write a Feather file: `to_ipc` by the name that pandas has for it."""
        ipc.to_ipc(self, path, compression=compression)

    def to_parquet(
        self,
        path: str | PathLike[str] | BinaryIO | None = None,
        engine: str = "auto",
        compression: str | None = "snappy",
        index: bool | None = None,
        partition_cols: Iterable[str] | None = None,
        **options: Any,
    ) -> bytes | None:
        """Write a Parquet file; see `headrace.io.parquet.write_parquet`.

        Options are `compression_level`, `row_group_size`, `bloom_filter`, `layout` and
        `write_page_checksum`. Without `path` the bytes are returned.

        >>> frame = hr.DataFrame({"x": [1, 2]})
        >>> hr.read_parquet(frame.to_parquet()).x.to_list()
        [1, 2]
        """
        return write_parquet(self, path, engine, compression, index, partition_cols, **options)

    def to_numpy(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        """A two-dimensional NumPy array of all columns but labels; the ledger records the copy.

        Without `dtype` it is NumPy's promotion of the columns; object for strings, categories, or
        times mixed with numbers.

        >>> hr.DataFrame({"x": [1, 2], "y": [0.5, 1.5]}).to_numpy()
        array([[1. , 0.5],
               [2. , 1.5]])
        """
        found = export.to_numpy(self)
        return found if dtype is None else found.astype(dtype, copy=False)

    def to_array(self) -> Array:
        """All columns but labels, which must be numeric, as one lazy two-dimensional array.

        The dtype is NumPy's promotion of the columns; nulls become NaN in floats and raise in
        integers. Several columns need one copy (column-major), a single one none. `hr.asarray`,
        DLPack and `to_torch` use it too.

        >>> x = hr.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5]}).to_array()
        >>> x.shape, x[:, 0].tolist()
        ((3, 2), [1.0, 2.0, 3.0])
        """
        return export.to_array(self)

    def __dlpack__(self, **options: Any) -> Any:
        return self.to_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.to_array().__dlpack_device__()

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        return export.to_ndarray(self, dtype, copy)

    def to_arrow(self) -> Any:
        """A pyarrow table on the same memory.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> df.to_arrow().num_rows
        3
        """
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self) -> Any:
        """A pandas frame; numbers without nulls share memory. Labels become its index.

        >>> df = hr.DataFrame({"x": [1, 2, 2], "y": [0.5, None, 2.5]})
        >>> type(df.to_pandas()).__name__
        'DataFrame'
        """
        return export.to_pandas(self)

    def to_polars_lazy(self) -> Any:
        """A `polars.LazyFrame` that reads this plan when Polars collects.

        Polars asks for the columns that it needs and at most for the rows of a `head`; it gets them
        in batches, numbers without a copy. Filters run in Polars; labels stay behind.

        >>> import polars as pl
        >>> frame = hr.DataFrame({"x": [1, 2, 3]})
        >>> frame.to_polars_lazy().filter(pl.col("x") > 1).collect()["x"].to_list()
        [2, 3]
        """
        return to_polars_lazy(self)

    def __arrow_c_schema__(self) -> Any:
        return self._table().__arrow_c_schema__()

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        return export.arrow_device_array(self, requested_schema, **kwargs)

    def __narwhals_dataframe__(self) -> Any:
        return narwhals_frame(self)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return interchange_frame(self, nan_as_null, allow_copy)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return frame_text(self)

    def _repr_html_(self) -> str:
        return frame_html(self)

    @property
    def _constructor(self) -> type[DataFrame]:  # pandas' names of these; Dask asks for them
        return DataFrame

    @property
    def _constructor_sliced(self) -> Any:
        return Column._series

    def _get_numeric_data(self) -> DataFrame:
        return self.select_dtypes(["number", "bool"])

    @property
    def index(self) -> Any:
        """The row labels: a series, a `hr.MultiIndex` for several levels, else positions.

        >>> hr.DataFrame({"id": ["a", "b"], "x": [1, 2]}).set_index("id").index.to_list()
        ['a', 'b']
        """
        labels: Any = row_labels(self)
        labels._owner = weakref.ref(self)
        return labels

    @index.setter
    def index(self, values: Any) -> None:
        labels.set_labels(self, values)

    def set_index(
        self, keys: Any, *, drop: bool = True, append: bool = False, inplace: bool = False
    ) -> DataFrame:
        """Use columns as the labels of the rows.

        Nothing is computed or sorted until `loc` needs it. Labels may repeat.

        Parameters
        ----------
        keys : str, Series or list of these
            Columns by name, or values over the same rows.
        drop : bool
            Whether the labels are no longer among the columns.
        append : bool
            Append to the existing labels.

        >>> df = hr.DataFrame({"id": ["a", "b", "c"], "x": [1, 2, 3]}).set_index("id")
        >>> df.loc["b", "x"], df.loc[["c", "a"]].x.to_list(), df.loc["b":].x.to_list()
        (2, [3, 1], [2, 3])
        """
        return made_or_rebound(
            self, labels.set_index(self, keys, drop=drop, append=append), inplace
        )

    def reset_index(
        self, level: Any = None, *, drop: bool = False, inplace: bool = False, names: Any = None
    ) -> DataFrame:
        """Make labels the first columns, or drop them; the rows are labelled by position.

        `level` is only for some of the labels, by name or position; `names` are what to call them.

        >>> df = hr.DataFrame({"id": [1], "x": [2]}).set_index("id")
        >>> df.columns, df.reset_index().columns, df.reset_index(drop=True).columns
        (['x'], ['id', 'x'], ['x'])
        """
        return made_or_rebound(
            self, labels.reset_index(self, level, drop=drop, names=names), inplace
        )

    @property
    def loc(self) -> Locator:
        """Select rows by label: one, a list, a slice (both ends included), a mask; then columns.

        ``frame.loc[mask, "x"] = value`` assigns to the selected rows.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.loc[df.x > 1, "y"] = 0
        >>> df.loc[:, "y"].to_list(), df.loc[2].x
        ([4, 0, 0], 3)
        """
        return Locator(self)

    @property
    def iloc(self) -> PositionLocator:
        """Select rows, then columns, by position: one, a list, a slice or a mask.

        >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
        >>> df.iloc[-1].y, df.iloc[:2, 0].to_list(), df.iloc[0, 1]
        (6, [1, 2], 4)
        """
        return PositionLocator(self)

    @property
    def at(self) -> Locator:
        """One value by label and column name: the same as `loc`.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.at[1, "x"]
        2
        """
        return labels.at(self)

    @property
    def iat(self) -> PositionLocator:
        """One value by row and column position: the same as `iloc`.

        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.iat[2, 1]
        2.5
        """
        return PositionLocator(self)

    def sort_index(
        self,
        *,
        axis: Axis = 0,
        level: Any = None,
        ascending: bool | list[bool] = True,
        na_position: NaPosition = "last",
        inplace: bool = False,
    ) -> DataFrame:
        """Sort the rows by label, or with ``axis=1`` the columns by name; the sort is stable.

        `level` (names or positions) sorts by these labels first, then by the others, unless
        `ascending` is a list.

        >>> hr.DataFrame({"id": ["b", "a"], "x": [1, 2]}).set_index("id").sort_index().x.to_list()
        [2, 1]
        """
        if axis in (1, "columns"):
            made: DataFrame = self[sorted(self.columns, reverse=not ascending)]
        else:
            made = labels.sort_index(self, level, ascending, na_position)
        return made_or_rebound(self, made, inplace)

    def apply(
        self,
        function: Callable[..., Any] | str,
        axis: int | str = 0,
        *,
        result_type: Literal["expand"] | None = None,
        args: tuple[Any, ...] = (),
        **kwargs: Any,
    ) -> Any:
        """Apply a function, or a method by name, to each column, or with ``axis=1`` to each row.

        It gets `args` and `kwargs` too. Per column the result is a frame of columns with the same
        rows, or one value per column. Series that a function of rows gives become columns, and with
        ``result_type="expand"`` lists as well. A function of rows that only computes, compares,
        branches and calls known functions on the row's values and constants becomes a step of the
        plan. Any other runs immediately, once per row, in Python: `hr.advice` and `hr.fallbacks`
        report it, and `hr.strict` raises.

        >>> df = hr.DataFrame({"a": [1, 5], "b": [4, 2]})
        >>> df.apply(lambda row: row.a + row["b"], axis=1).to_list()
        [5, 7]
        >>> df.apply(lambda row: row.a if row.a > row.b else -row.b, axis=1).to_list()
        [-4, 5]
        >>> df.apply(lambda column: column.max() - column.min()).to_dict()
        {'a': 4, 'b': 2}
        """
        return apply.apply_function(self, function, axis, result_type, args, kwargs)

    def iterrows(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over (label or position, row) pairs in Python: slow; `hr.advice` names the line.

        >>> [row["a"] for _, row in hr.DataFrame({"a": [1, 2]}).iterrows()]
        [1, 2]
        """
        return apply.iterrows(self)

    def itertuples(self, index: bool = True, name: str | None = "Row") -> Iterator[Any]:
        """Iterate over rows as named tuples in Python: slow; `hr.advice` names the line.

        >>> [row.a for row in hr.DataFrame({"a": [1, 2]}).itertuples()]
        [1, 2]
        """
        return apply.itertuples(self, index, name)

    def iter_batches(
        self,
        rows: int,
        *,
        shuffle: bool = False,
        seed: int | None = None,
        drop_last: bool = False,
        rank: int = 0,
        world: int = 1,
    ) -> Iterator[DataFrame]:
        """Frames of `rows` rows each, in order or shuffled.

        The plan is evaluated once, before the first batch, by the whole engine; what exceeds the
        memory limit waits on the disk, and each batch is made when it is asked for.

        Parameters
        ----------
        rows : int
            Rows per batch; the last one may be shorter.
        shuffle : bool
            Whether all rows come in random order, each once. Frames larger than about half of the
            memory limit are sorted into it, others are gathered from; the order is the same.
        seed : int, optional
            The order is a function of it; by default another one each time.
        drop_last : bool
            Whether a last batch that is shorter is left out.
        rank, world : int
            Every `world`-th row of the order, from the `rank`-th on: together the ranks take each
            row once.

        Raises
        ------
        InvalidArgumentError
            If `rows` or `rank` cannot be, for a `seed` without `shuffle`, and for ranks without a
            seed.

        >>> df = hr.DataFrame({"x": range(5)})
        >>> [batch.x.to_list() for batch in df.iter_batches(2)]
        [[0, 1], [2, 3], [4]]
        >>> parts = df.iter_batches(5, shuffle=True, seed=1)
        >>> [sorted(batch.x.to_list()) for batch in parts]
        [[0, 1, 2, 3, 4]]
        """
        return iter_batches(
            self, rows, shuffle=shuffle, seed=seed, drop_last=drop_last, rank=rank, world=world
        )

    def value_counts(
        self,
        subset: str | list[str] | None = None,
        normalize: bool = False,
        sort: bool = True,
        ascending: bool = False,
        dropna: bool = True,
    ) -> Any:
        """How often each row occurs (in the columns of `subset`), most frequent first.

        Ties keep the order of first appearance. `normalize` gives shares of the counted rows.

        >>> hr.DataFrame({"a": [1, 1, 2], "b": ["x", "x", "y"]}).value_counts().to_dict()
        {(1, 'x'): 2, (2, 'y'): 1}
        """
        return duplicates.value_counts(self, subset, normalize, sort, ascending, dropna)

    def nunique(self, axis: Axis = 0, dropna: bool = True) -> Any:
        """The number of distinct values of each column, or row.

        >>> hr.DataFrame({"a": [1, 1, 2], "b": ["x", "x", None]}).nunique().to_dict()
        {'a': 2, 'b': 1}
        """
        if axis in (1, "columns"):
            return reductions.distinct_numbers(self, dropna)
        return column_values({n: self[n].nunique(dropna) for n in self._nodes}, "nunique")

    @property
    def T(self) -> DataFrame:  # noqa: N802
        """Transpose a small frame; evaluates.

        Column names are the row labels, or positions; rows are labelled by column names.

        Raises
        ------
        TypeMismatchError
            If the columns have no common dtype.
        InvalidArgumentError
            For more than 10,000 rows.

        >>> hr.DataFrame({"a": [1, 2], "b": [3.0, 4.0]}).agg(["min", "max"]).T.to_dict()
        {'min': [1.0, 3.0], 'max': [2.0, 4.0]}
        """
        return reshape.transpose(self)

    def transpose(self) -> DataFrame:
        """The same as `T`.

        >>> hr.DataFrame({"x": [1, 2], "y": [3, 4]}).transpose().to_dict()
        {0: [1, 3], 1: [2, 4]}
        """
        return self.T

    def pivot_table(
        self,
        values: Any = None,
        index: Any = None,
        columns: Any = None,
        aggfunc: Any = "mean",
        fill_value: Any = None,
        margins: bool = False,
        margins_name: str = "All",
        *,
        dropna: bool = True,
        observed: bool = True,
        sort: bool = True,
    ) -> DataFrame:
        """Aggregate `values` into one row per key of `index` and one column per value of `columns`.

        Parameters
        ----------
        values : str or list of str, optional
            Numeric columns; a list gives columns ``("x", "a")`` for value x at column a.
        index : str, Series or list of them
            Keys, which become the labels.
        columns : str, Series or list of them, optional
            The columns whose distinct values become column names; evaluated immediately.
        aggfunc : str, callable, list or dict
            An aggregate as in `DataFrameGroupBy.agg`; a dictionary from column to aggregate; a list
            gives columns ``("mean", "a")``.
        fill_value : optional
            Replaces null where there are no rows.
        margins : bool
            Add the aggregates of all rows as a last row and last columns, labelled `margins_name`;
            keys become strings.
        dropna : bool
            Leave out rows and columns without values.
        observed, sort : bool
            As in `groupby`.

        >>> df = hr.DataFrame({"d": [1, 1, 2], "s": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
        >>> df.pivot_table(values="x", index="d", columns="s").to_dict()
        {'a': [1.0, 3.0], 'b': [2.0, None]}
        """
        words = (values, index, columns, aggfunc, fill_value, margins, margins_name)
        return pivot.pivot_table(self, *words, dropna=dropna, observed=observed, sort=sort)

    def pivot(self, *, columns: Any, index: Any = None, values: Any = None) -> DataFrame:
        """One row per key of `index` and one column per value of `columns`, without aggregating.

        Parameters
        ----------
        columns, index : str or list of str
            Column names; `index` defaults to the row labels.
        values : str or list of str, optional
            All other columns by default; all but a single name give columns ``("x", "a")`` for
            value x at column a.

        Raises
        ------
        InvalidArgumentError
            If rows have the same keys, or a key is missing.

        >>> df = hr.DataFrame({"d": [1, 1, 2], "s": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
        >>> df.pivot(index="d", columns="s", values="x").to_dict()
        {'a': [1.0, 3.0], 'b': [2.0, None]}
        """
        return pivot.pivot(self, columns, index, values)

    def unstack(self, level: Any = -1, fill_value: Any = None) -> Any:
        """Turn a level of the row labels into columns, in sorted order; see `pivot`.

        Several levels give columns in order of appearance. Of rows with a single level, all values
        as a series, column by column.

        >>> df = hr.DataFrame({"d": [1, 1, 2], "s": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
        >>> df.set_index(["d", "s"]).unstack(fill_value=0).to_dict()
        {('x', 'a'): [1.0, 3.0], ('x', 'b'): [2.0, 0.0]}
        """
        return pivot.unstack(self, level, fill_value)

    def stack(self, level: int = -1) -> Any:
        """One value per row and column, labelled by the row labels and the column names.

        Of names of several levels, a `level` becomes labels, and the others stay names.

        >>> hr.DataFrame({"a": [1, 2], "b": [3, 4]}, index=["x", "y"]).stack().to_dict()
        {('x', 'a'): 1, ('x', 'b'): 3, ('y', 'a'): 2, ('y', 'b'): 4}
        """
        return pivot.stack(self, level)

    def explode(self, column: str | list[str], ignore_index: bool = False) -> DataFrame:
        """One row for each item of the lists in `column`; the other columns repeat.

        A null or empty list gives one row of null. Lists of several columns have the same lengths.
        The rows keep their labels, or the positions they were at as label ``"index"``.

        >>> df = hr.DataFrame({"id": [1, 2, 3], "x": [["a", "b"], [], None]})
        >>> df.explode("x").to_dict()
        {'id': [1, 1, 2, 3], 'x': ['a', 'b', None, None]}
        """
        return nested.explode_frame(self, column, ignore_index)

    def to_struct(self, name: str | None = None) -> Series:
        """The columns as one series of structs.

        >>> hr.DataFrame({"x": [1, 2], "y": ["a", None]}).to_struct().to_list()
        [{'x': 1, 'y': 'a'}, {'x': 2, 'y': None}]
        """
        return nested.to_struct(self, name)

    # ---- times -----------------------------------------------------------------------------------

    # ---- formats by pandas -----------------------------------------------------------------------
    def to_excel(self, *args: Any, **kwargs: Any) -> Any:
        """Make a sheet of an Excel file by pandas, which copies; see `hr.fallbacks`."""
        return written(self, "to_excel", *args, **kwargs)

    def to_sql(self, *args: Any, **kwargs: Any) -> Any:
        """Make a table of a database by pandas, which copies; see `hr.fallbacks`."""
        return written(self, "to_sql", *args, **kwargs)

    def to_records(self, *args: Any, **kwargs: Any) -> Any:
        """Make a NumPy record array by pandas, which copies; see `hr.fallbacks`."""
        return written(self, "to_records", *args, **kwargs)

    def to_markdown(self, *args: Any, **kwargs: Any) -> Any:
        """Make a table in Markdown by pandas, which copies; see `hr.fallbacks`."""
        return written(self, "to_markdown", *args, **kwargs)

    def to_latex(self, *args: Any, **kwargs: Any) -> Any:
        """Make a LaTeX table by pandas, which copies; see `hr.fallbacks`."""
        return written(self, "to_latex", *args, **kwargs)

    def map(self, func: Any) -> DataFrame:
        """What a function makes of each value; see `Series.map`.

        >>> hr.DataFrame({"x": [1, 2]}).map(lambda v: v * 10).x.to_list()
        [10, 20]
        """
        return arithmetic.map_columns(self, lambda column: column.map(func))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._nodes)

    # ---- rows by new labels ----------------------------------------------------------------------
    def reindex(
        self,
        labels: Any = None,
        *,
        index: Any = None,
        columns: Any = None,
        axis: int | str = 0,
        method: Literal["ffill", "pad", "bfill", "backfill", "nearest"] | None = None,
        fill_value: Any = None,
        limit: int | None = None,
    ) -> DataFrame:
        """The rows with these labels, or these columns, in this order; missing ones are filled.

        Parameters
        ----------
        labels, index : list or Series
            Row labels; without labels of its own a frame has the row numbers. Labels of the frame
            must be distinct.
        columns : list of str
            Column names; new columns have NaN or `fill_value`.
        fill_value : optional
            For rows and columns that the frame does not have; null by default.
        method, limit : optional
            Give a missing row the values of the last label before it ("ffill"), of the first after
            it ("bfill") or of the nearest, of the later one of two as near; at most `limit` in a
            row from one label. Labels of the frame must ascend. Columns are not filled.

        >>> hr.DataFrame({"x": [1, 2]}, index=["a", "b"]).reindex(["b", "c"]).x.to_list()
        [2, None]
        """
        words = {"index": index, "columns": columns, "axis": axis}
        return alignment.reindex(self, labels, fill_value, method, limit, **words)

    def xs(self, key: Any, axis: int | str = 0, level: Any = None) -> Any:
        """The rows with a label, without its level; with ``axis=1`` the columns with a name.

        `level` is the level, by default the first: its name, or for columns its position.

        >>> df = hr.DataFrame({"k": ["a", "a"], "n": [1, 2], "x": [3, 4]}).set_index(["k", "n"])
        >>> df.xs(2, level="n").to_dict()
        {'x': [4]}
        """
        return alignment.xs(self, key, level, axis)

    def droplevel(self, level: Any, axis: int | str = 0) -> DataFrame:
        """The rows without some levels of their labels; with ``axis=1`` of the column names.

        >>> df = hr.DataFrame({"k": ["a"], "n": [1], "x": [3]}).set_index(["k", "n"])
        >>> df.droplevel("n").to_dict()
        {'x': [3]}
        """
        return alignment.droplevel(self, level, axis)

    def swaplevel(self, i: Any = -2, j: Any = -1, axis: int | str = 0) -> DataFrame:
        """The rows with two levels of their labels exchanged, or with ``axis=1`` of their names.

        >>> df = hr.DataFrame({"k": ["a"], "n": [1], "x": [3]}).set_index(["k", "n"])
        >>> df.swaplevel().columns
        ['x']
        """
        return alignment.swaplevel(self, i, j, axis)

    def rename_axis(
        self, mapper: Any = ..., *, index: Any = ..., columns: Any = ..., axis: Axis = 0
    ) -> DataFrame:
        """The rows with other names of their labels, also of row numbers; None takes a name away.

        `columns`, or a name with ``axis=1``, is what the column names are called.

        >>> hr.DataFrame({"k": ["a"], "x": [3]}).set_index("k").rename_axis("key").columns
        ['x']
        """
        if axis in (1, "columns"):
            columns, mapper = mapper, ...
        return alignment.rename_axis(self, mapper if index is ... else index, columns)

    def set_axis(self, labels: Any, *, axis: int | str = 0) -> DataFrame:
        """A new frame with other row labels, or with ``axis=1`` other column names.

        >>> hr.DataFrame({"x": [1], "y": [2]}).set_axis(["a", "b"], axis=1).columns
        ['a', 'b']
        """
        return alignment.set_axis(self, labels, axis)

    def squeeze(self, axis: Axis | None = None) -> Any:
        """The only column as a series, the only row as a row, or the only value.

        With ``axis=0`` only of a single row, with ``axis=1`` only of a single column.

        >>> hr.DataFrame({"x": [1, 2]}).squeeze().to_list(), hr.DataFrame({"x": [1]}).squeeze()
        ([1, 2], 1)
        """
        return alignment.squeeze(self, axis)

    def melt(
        self,
        id_vars: str | list[str] | None = None,
        value_vars: str | list[str] | None = None,
        var_name: str | None = None,
        value_name: str = "value",
    ) -> DataFrame:
        """Unpivot to long form: one row per row and column of `value_vars`.

        >>> hr.DataFrame({"id": [1, 2], "a": [3, 4], "b": [5, 6]}).melt("id").to_dict()
        {'id': [1, 2, 1, 2], 'variable': ['a', 'a', 'b', 'b'], 'value': [3, 4, 5, 6]}
        """
        return reshape.melt(self, id_vars, value_vars, var_name, value_name)
