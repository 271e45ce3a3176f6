# SPDX-License-Identifier: Apache-2.0
"""`hr.DataFrame`: named columns of one row domain, deferred."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.deferred import Deferred, caller_variables, mark
from headrace.errors import ExchangeError, InvalidArgumentError, TypeMismatchError
from headrace.frame_arithmetic import FrameArithmetic
from headrace.functions import FrameFunctions, grows
from headrace.labels import FrameLabels, LabelledSeries, Names, relabelled
from headrace.reshaping import FrameShapes, columns_of_rows, split_columns
from headrace.series import Series
from headrace.text import is_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    import numpy as np
    import numpy.typing as npt

    from headrace.dtypes import DType
    from headrace.group import GroupBy
    from headrace.sorting import NaPosition


def _frame_from(data: Any) -> DataFrame:
    from headrace.exchange import from_arrow, from_pandas

    table: Any = None
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        table = from_pandas(data)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        table = from_arrow(data)
    if isinstance(table, DataFrame):
        return table
    raise TypeMismatchError(
        f"DataFrame: these values are no table: type={type(data).__name__!r}; "
        "pass columns by name, or a table of pandas, pyarrow or Polars"
    )


class DataFrame(FrameArithmetic, FrameLabels, FrameFunctions, FrameShapes):
    """Rows in order under named columns. Each column is a deferred series of the same row domain.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [0.5, None, 2.5]})
    >>> df["z"] = df.x * 2
    >>> df[df.x > 1].z.to_list()
    [4, 6]

    Lists of rows (with the names of their columns) and of dictionaries work too:

    >>> hr.DataFrame([[1, "a"], [2, "b"]], columns=["x", "s"]).s.to_list()
    ['a', 'b']
    """

    __slots__ = ("__weakref__", "_labels", "_nodes", "rejects")
    #: The index: nodes by name. Those of columns that are shown are the columns' own.
    _labels: dict[str, _core.Node]
    #: Rows that `read_csv(on_bad="reject")` set aside; None for all other frames.
    rejects: DataFrame | None

    def __init__(
        self, data: Mapping[str, Any] | Any = None, columns: Iterable[str] | None = None
    ) -> None:
        self._nodes: dict[str, _core.Node] = {}
        self._labels = {}
        self.rejects = None
        mark("DataFrame")
        if isinstance(data, DataFrame):
            picked = data if columns is None else data[list(columns)]
            self._nodes, self._labels = dict(picked._nodes), dict(picked._labels)
            return
        if data is None:
            return
        if isinstance(data, list):
            data = columns_of_rows(data, columns)
        elif columns is not None and isinstance(data, Mapping):
            data = {name: data[name] for name in columns}
        elif columns is not None:
            data = dict(zip(columns, split_columns(data), strict=True))
        if not isinstance(data, Mapping):
            self._nodes = _frame_from(data)._nodes
            return
        domain = _core.new_domain()
        single = {name: v for name, v in data.items() if isinstance(v, bool | int | float | str)}
        for name, values in data.items():
            if name in single and len(single) < len(data):
                continue
            node = Series(values)._node
            if not isinstance(values, Series):
                node = _core.in_domain(node, domain)
            self._put(str(name), node)
        for name, value in single.items():
            self[str(name)] = value
        self._nodes = {str(name): self._nodes[str(name)] for name in data}

    @classmethod
    def _of(
        cls, nodes: dict[str, _core.Node], labels: Mapping[str, _core.Node] | None = None
    ) -> DataFrame:
        frame = cls()
        frame._nodes = nodes
        for name, node in (labels or {}).items():
            frame._labels[name] = nodes.get(name, node)
        return frame

    def _hidden(self) -> dict[str, _core.Node]:
        """Labels that are no columns: others were picked."""
        return {name: node for name, node in self._labels.items() if name not in self._nodes}

    def _of_rows(self, names: list[str], nodes: Iterable[_core.Node]) -> DataFrame:
        """Other rows of the columns and hidden labels `names`."""
        made = dict(zip(names, nodes, strict=True))
        shown = {name: made[name] for name in self._nodes}
        return DataFrame._of(shown, {name: made[name] for name in self._labels})

    def _everything(self) -> dict[str, _core.Node]:
        """Columns and hidden labels."""
        return {**self._nodes, **self._hidden()}

    def _unlabelled(self) -> list[str]:
        """The columns that are no labels."""
        return [name for name in self._nodes if name not in self._labels]

    def _aligned(self, series: Series) -> _core.Node:
        """Values of as many rows as these of this frame."""
        for node in self._nodes.values():
            return _core.align_check("DataFrame", series.name or "", node, series._node)
        return series._node

    @classmethod
    def _of_parts(cls, table: _core.Node, names: Iterable[str]) -> DataFrame:
        """The columns of a table node, in order."""
        return cls._of({name: _core.part(table, i) for i, name in enumerate(names)})

    @classmethod
    def _from_table(cls, table: _core.Table) -> DataFrame:
        domain = _core.new_domain()
        return cls._of(
            {name: _core.data(table.column(i), name, domain) for i, name in enumerate(table.names)}
        )

    def _put(self, name: str, node: _core.Node) -> None:
        if self._nodes:
            first = next(iter(self._nodes.values()))
            node = _core.align_check("DataFrame", name, first, node)
        self._nodes[name] = node
        if name in self._labels:
            self._labels[name] = node

    def to(self, device: str) -> DataFrame:
        """The same rows on a device, as `Array.to` for each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2]}).to("cpu")["a"].sum().item()
        3
        """
        mark("to")
        nodes = self._everything()
        return self._of_rows(list(nodes), [_core.to(node, device) for node in nodes.values()])

    # ---- shape -------------------------------------------------------------------------------
    @property
    def columns(self) -> Names:
        """Names, in order."""
        return Names(self._nodes)

    @property
    def dtypes(self) -> dict[str, DType]:
        """Element type of each column, known before anything runs."""
        return {name: self[name].dtype for name in self._nodes}

    def __len__(self) -> int:
        for node in self._nodes.values():
            return len(Series(node))
        return 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; runs the plan if only the data can tell the rows."""
        return (len(self), len(self._nodes))

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __bool__(self) -> bool:
        raise InvalidArgumentError(
            "bool: a frame is neither true nor false; use len(df) > 0 or a reduction"
        )

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    # ---- copies and pickle -------------------------------------------------------------------
    def __copy__(self) -> DataFrame:
        frame = DataFrame(self)
        frame.rejects = self.rejects
        return frame

    def __deepcopy__(self, memo: dict[int, Any]) -> DataFrame:
        return self.__copy__()  # nobody can change the values

    def __reduce_ex__(self, protocol: Any) -> Any:
        from headrace.sharing import reduced

        if self._labels:
            return relabelled, (self.reset_index(), list(self._labels), self.columns)
        return reduced(self, protocol)

    # ---- columns and rows --------------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        """A column by name, columns by a list of names, rows by a mask or a slice.

        A frame of bools keeps all rows, with null where it is false.
        """
        mark("getitem")
        if isinstance(key, DataFrame):
            return self.where(key)
        if isinstance(key, str):
            return self._series(self._find(key))
        if isinstance(key, list) and all(isinstance(k, str) for k in key):
            return DataFrame._of({k: self._nodes[self._find(k)] for k in key}, self._labels)
        if not isinstance(key, slice | Deferred | list) and not getattr(key, "ndim", 0):
            raise TypeMismatchError(
                f"getitem: a frame takes a name, a list of names, a mask or a slice: key={key!r}"
            )
        domain = _core.new_domain()
        nodes = self._everything()
        picked = [_core.in_domain(Series(node)[key]._node, domain) for node in nodes.values()]
        return self._of_rows(list(nodes), picked)

    def _series(self, name: str) -> Series:
        """A column that there is, with the labels of its rows."""
        node = self._nodes[name]
        if not self._labels or name in self._labels:
            return Series(node, name)
        return LabelledSeries(DataFrame._of({**self._labels, name: node}, self._labels), name)

    def __getattr__(self, name: str) -> Series:
        if name.startswith("_"):
            raise AttributeError(name)
        nodes: dict[str, _core.Node] = object.__getattribute__(self, "_nodes")
        if name in nodes:
            return self._series(name)
        raise AttributeError(
            f"DataFrame has no column or method {name!r}; the columns are {', '.join(nodes)}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._nodes if name.isidentifier())]

    def __setitem__(self, name: str, values: Any) -> None:
        """Bind a column: the handle points at a new node, published columns are never written."""
        mark("setitem")
        if isinstance(values, bool | int | float | str) and self._nodes:
            values = Series(_core.repeat(next(iter(self._nodes.values())), values))
        self._put(name, Series(values)._node)

    def _find(self, name: str) -> str:
        if name not in self._nodes:
            _core.no_such_column("DataFrame", self.columns, name)
        return name

    def assign(self, **columns: Series | Callable[[DataFrame], Any] | Any) -> DataFrame:
        """A new frame with columns added or replaced; callables get the frame."""
        result = DataFrame(self)
        for name, values in columns.items():
            result[name] = values(result) if callable(values) else values
        return result

    def drop(self, columns: str | list[str]) -> DataFrame:
        """A new frame without these columns."""
        gone = {self._find(name) for name in ([columns] if isinstance(columns, str) else columns)}
        kept = {name: node for name, node in self._nodes.items() if name not in gone}
        labels = {name: node for name, node in self._labels.items() if name not in gone}
        return DataFrame._of(kept, labels)

    def rename(self, columns: Mapping[str, str]) -> DataFrame:
        """A new frame with columns renamed by `{old: new}`."""
        for name in columns:
            self._find(name)
        names = [columns.get(name, name) for name in self._nodes]
        if len(set(names)) < len(names):
            raise InvalidArgumentError(f"rename: a column name would be repeated: columns={names}")
        labels = {columns.get(name, name): node for name, node in self._labels.items()}
        return DataFrame._of(dict(zip(names, self._nodes.values(), strict=True)), labels)

    # ---- rows by what they hold --------------------------------------------------------------
    def query(self, text: str) -> DataFrame:
        """The rows for which an expression over columns, given as text, is true.

        The text is parsed, never run as code: names are columns (in backticks where they are no
        words), ``@name`` is a variable of the caller; arithmetic, comparisons (chained too), ``in``
        with a list, ``and``, ``or``, ``not``, and the methods ``abs between clip is_nan is_null
        isin isna notna round`` work.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 3], "a b": ["u", "v", "v"]})
        >>> least = 2
        >>> df.query("x >= @least and `a b` in ['v']").x.to_list()
        [2, 3]
        """
        from headrace.query import evaluate

        mark("query")
        mask = evaluate(text, self, caller_variables())
        if not isinstance(mask, Series) or mask.dtype.kind != "b":
            raise TypeMismatchError(f"query: the text is no condition on rows: text={text!r}")
        return DataFrame(self[mask])

    def isna(self) -> DataFrame:
        """True where a value is null or NaN, column by column."""
        found = {name: self[name].isna()._node for name in self._unlabelled()}
        return DataFrame._of({**self._nodes, **found}, self._labels)

    def fillna(self, value: Any) -> DataFrame:
        """Null and NaN replaced by `value`, or by column from a mapping ``{name: value}``.

        A frame of one row, as ``df.mean()`` is, gives its columns' values too.
        """
        mark("fillna")
        if isinstance(value, DataFrame):
            firsts = {name: value[name].to_list()[0] for name in value._unlabelled()}
            value = {name: first for name, first in firsts.items() if first is not None}
        values = value if isinstance(value, Mapping) else dict.fromkeys(self._unlabelled(), value)
        for name in values:
            self._find(name)
        filled = {name: self[name].fillna(each)._node for name, each in values.items()}
        return DataFrame._of({**self._nodes, **filled}, self._labels)

    def dropna(
        self, subset: str | list[str] | None = None, how: Literal["any", "all"] = "any"
    ) -> DataFrame:
        """The rows without null and NaN in `subset` (all columns); `how="all"`: with some value."""
        mark("dropna")
        if how not in ("any", "all"):
            raise InvalidArgumentError(f"dropna: no such word: how={how!r}; pass any or all")
        names = [subset] if isinstance(subset, str) else subset or self._unlabelled()
        present = [self[self._find(name)].notna() for name in names]
        if not present:
            return DataFrame(self)
        kept = functools.reduce(operator.and_ if how == "any" else operator.or_, present)
        return DataFrame(self[kept])

    def astype(self, dtype: Any) -> DataFrame:
        """Columns as another dtype, or by column from a mapping ``{name: dtype}``."""
        mark("astype")
        wanted = dtype if isinstance(dtype, Mapping) else dict.fromkeys(self._unlabelled(), dtype)
        for name in wanted:
            self._find(name)
        cast = {name: self[name].astype(each)._node for name, each in wanted.items()}
        return DataFrame._of({**self._nodes, **cast}, self._labels)

    def merge(
        self,
        right: DataFrame,
        how: str = "inner",
        on: str | list[str] | None = None,
        left_on: Any = None,
        right_on: Any = None,
        suffixes: tuple[str | None, str | None] = ("_x", "_y"),
        indicator: bool | str = False,
        validate: str | None = None,
    ) -> DataFrame:
        """Rows of both frames whose keys are equal, side by side.

        Left rows in order, of each its partners in order; of an outer join then the right rows
        without one; of a right join right rows in order. Null equals null, and NaN equals NaN.
        Columns of the side without a row are null, and stay of their dtype.

        Parameters
        ----------
        right : DataFrame
            The other frame.
        how : {"inner", "left", "right", "outer", "semi", "anti", "cross"}
            Which rows stay; semi and anti: left rows that have a partner, or none.
        on : str or list of str, optional
            Names of the keys in both frames; all names they share when no key is given.
        left_on, right_on : str, Series or list of these, optional
            Keys of each side; integers and floats of any width agree.
        suffixes : tuple
            Appended to other columns that both frames have.
        indicator : bool or str
            A last column (named `_merge`, or this) of the side that the row is from.
        validate : {"1:1", "1:m", "m:1", "m:m"}, optional
            Raise when keys of a side come twice and should not; pandas' long words work too.

        Raises
        ------
        ColumnNotFoundError
            For a name that is no column.
        TypeMismatchError
            For keys of dtypes that are never equal.
        InvalidArgumentError
            For options that do not fit, and, when it runs, for keys against `validate` or a result
            of 2^31 rows.

        Notes
        -----
        Keys from a range of at most four times the right rows take a few ns a row and core, others
        about 40. Where every left row has one partner, the left columns are shared. The table of
        the right keys follows Birler, Schmidt, Fent and Neumann, "Simple, efficient, and robust
        hash tables for join processing", DaMoN 2024.

        >>> import headrace as hr
        >>> loans = hr.DataFrame({"id": [1, 2, 2], "paid": [5.0, 6.0, 7.0]})
        >>> people = hr.DataFrame({"id": [2, 1], "name": ["Bo", "Al"]})
        >>> loans.merge(people, on="id").to_dict()
        {'id': [1, 2, 2], 'paid': [5.0, 6.0, 7.0], 'name': ['Al', 'Bo', 'Bo']}
        """
        from headrace.joining import merge

        return merge(self, right, how, on, left_on, right_on, suffixes, indicator, validate)

    def head(self, rows: int = 5) -> DataFrame:
        """The first rows, computed from no more than these where the plan allows it.

        All but the last ``-rows`` when `rows` is negative, as in pandas.
        """
        mark("head")
        if rows < 0:
            return DataFrame(self[:rows])
        domain = _core.new_domain()
        every = self._everything()
        nodes = _core.prefix(list(every.values()), rows)
        return self._of_rows(list(every), [_core.in_domain(node, domain) for node in nodes])

    def tail(self, rows: int = 5) -> DataFrame:
        """The last rows; all but the first ``-rows`` when `rows` is negative."""
        length = len(self)
        return DataFrame(self[max(length - rows, 0) if rows >= 0 else -rows : length])

    # ---- order -------------------------------------------------------------------------------
    def sort_values(
        self,
        by: str | Sequence[str],
        *,
        ascending: bool | Sequence[bool] = True,
        na_position: NaPosition = "last",
    ) -> DataFrame:
        """The rows in the order of columns, as a new frame; equal rows stay in their order.

        Only the keys and the columns that somebody looks at are sorted; `head` of the result takes
        the first rows without sorting the others. Under a memory limit the sort spills by itself.

        Parameters
        ----------
        by : str or list of str
            Columns; the first one counts most. Strings compare by their bytes, categories by their
            text unless they are ordered, false before true.
        ascending : bool or list of bool
            One for all keys, or one a key.
        na_position : {"last", "first"}
            Where rows with a null or NaN in a key go, whatever its direction.

        Returns
        -------
        DataFrame
            Deferred. Rows without labels do not remember their old places, as pandas' do.

        Raises
        ------
        ColumnNotFoundError
            For a name that the frame does not have.
        InvalidArgumentError
            When `ascending` has another length than `by`.

        Examples
        --------
        >>> import headrace as hr
        >>> df = hr.DataFrame({"k": ["b", "a", "b"], "v": [1, 2, 3]})
        >>> df.sort_values(["k", "v"], ascending=[True, False]).to_dict()
        {'k': ['a', 'b', 'b'], 'v': [2, 3, 1]}
        """
        from headrace.sorting import sort_frame

        return sort_frame(self, by, ascending, na_position)

    def nlargest(self, n: int, columns: str | Sequence[str]) -> DataFrame:
        """The `n` rows with the greatest values in `columns`, greatest first, without a full sort.

        Rows with missing values come last; of equal rows the first ones are taken.

        >>> import headrace as hr
        >>> hr.DataFrame({"v": [3, 9, 4], "w": ["a", "b", "c"]}).nlargest(2, "v").w.to_list()
        ['b', 'c']
        """
        from headrace.sorting import first_of_frame

        return first_of_frame("nlargest", self, n, columns, True)

    def nsmallest(self, n: int, columns: str | Sequence[str]) -> DataFrame:
        """The `n` rows with the least values in `columns`, least first; see `nlargest`."""
        from headrace.sorting import first_of_frame

        return first_of_frame("nsmallest", self, n, columns, False)

    # ---- groups ------------------------------------------------------------------------------
    def groupby(
        self,
        by: Any,
        *,
        as_index: bool = True,
        sort: bool = True,
        dropna: bool = True,
        order: bool = True,
    ) -> GroupBy:
        """The rows by key. Aggregates are frames with the keys as their first columns.

        An aggregate of one column picked by name is a series that knows its keys.

        Parameters
        ----------
        by : str, Series or list of these
            Column names, or series and expressions over rows of this frame.
        as_index : bool
            Whether the keys are labels of the aggregates; without, that of one column is a frame.
        sort : bool
            Groups in the order of their keys; else in the order of their first rows.
        dropna : bool
            Leave out rows with null or NaN in a key; else null and NaN are keys, at the end.
        order : bool
            False with ``sort=False``: groups in whatever order is cheapest, the same in each run.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"id": ["b", "a", "b"], "x": [1.0, 2.0, 3.0]})
        >>> df.groupby("id").x.mean().to_dict()
        {'a': 2.0, 'b': 2.0}
        """
        from headrace.group import GroupBy, group_order, keys_of

        keys = keys_of(self, by)
        return GroupBy(keys, self._nodes, group_order(sort, order), dropna, as_index)

    def drop_duplicates(self, subset: str | list[str] | None = None) -> DataFrame:
        """The first of the rows that are equal in the columns of `subset` (all columns), in order.

        Null equals null, and NaN equals NaN.
        """
        from headrace.group import Words, keys_of

        keys = keys_of(self, subset if subset is not None else self._unlabelled())
        mark("drop_duplicates")
        table = _core.group_by(keys, [Words("", "first_row")], "first", False)
        rows = _core.part(table, len(keys))
        nodes = self._everything()
        return self._of_rows(list(nodes), [_core.take(node, rows) for node in nodes.values()])

    def describe(self) -> DataFrame:
        """Count, mean, std, min, quartiles and max of each numeric column.

        The first column, `statistic`, names the rows.
        """
        table: dict[str, Any] = {
            "statistic": ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
        }
        todo: dict[str, list[Any]] = {}
        for name in self._unlabelled():
            column = self[name]
            if column.dtype.kind not in "iuf":
                continue
            column = column.astype("float64")  # the least of no integers is NaN
            parts = [column.count(), column.mean(), column.std(), column.min(), column.max()]
            todo[name] = [*parts, column.quantile([0.25, 0.5, 0.75])]
        if not todo:
            raise TypeMismatchError(f"describe: no numeric column: columns={self.columns}")
        _core.force([part._node for parts in todo.values() for part in parts])
        for name, (count, mean, std, least, most, quartiles) in todo.items():
            table[name] = [float(x) for x in (count, mean, std, least, *quartiles.tolist(), most)]
        return DataFrame(table)

    # ---- reductions: one row, a value for each column of numbers -----------------------------
    def _each(self, kind: str, kinds: str = "biuf", **options: Any) -> DataFrame:
        columns = [self[name] for name in self._unlabelled() if self[name].dtype.kind in kinds]
        if not columns:
            raise TypeMismatchError(f"{kind}: no column of numbers: columns={self.columns}")
        return DataFrame(
            {str(c.name): getattr(c, kind)(**options).reshape(1) for c in columns},
        )

    def sum(self) -> DataFrame:
        """Sums, nulls and NaN left out."""
        return self._each("sum")

    def mean(self) -> DataFrame:
        """Means, nulls and NaN left out."""
        return self._each("mean")

    def median(self) -> DataFrame:
        """Medians, nulls and NaN left out."""
        return self._each("median", "iuf")

    def std(self, ddof: int = 1) -> DataFrame:
        """Standard deviations, dividing by the count less `ddof`."""
        return self._each("std", ddof=ddof)

    def var(self, ddof: int = 1) -> DataFrame:
        """Variances, dividing by the count less `ddof`."""
        return self._each("var", ddof=ddof)

    def min(self) -> DataFrame:
        """Least values, nulls and NaN left out."""
        return self._each("min")

    def max(self) -> DataFrame:
        """Greatest values, nulls and NaN left out."""
        return self._each("max")

    def count(self) -> DataFrame:
        """Numbers of values that are neither null nor NaN, of all columns but complex ones."""
        return self._each("count", "biufMOU")

    # ---- looking -----------------------------------------------------------------------------
    def _table(self) -> _core.Table:
        nodes = list(self._nodes.values())
        _core.force(nodes)
        return _core.Table(self.columns, [node.value() for node in nodes])

    def explain(self, analyze: bool = False) -> str:
        """The steps that a look at all columns would take, with the passes over the data.

        With `analyze` they run, and each line says what its step took: time, rows, bytes, and what
        a memory limit moved.
        """
        from headrace.profiling import explain

        return explain(list(self._nodes.values()), analyze)

    def to_dict(self) -> dict[str, list[Any]]:
        """Lists of Python values by name."""
        self._table()
        return {name: Series(node).to_list() for name, node in self._nodes.items()}

    def to_csv(self, path: str | PathLike[str], **options: Any) -> None:
        """Write a CSV file; see `headrace.io.write_csv`."""
        from headrace.io import write_csv

        write_csv(self, path, **options)

    def to_parquet(self, path: str | PathLike[str], **options: Any) -> None:
        """Write a Parquet file; see `headrace.parquet.write_parquet`."""
        from headrace.parquet import write_parquet

        write_parquet(self, path, **options)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """A two-dimensional NumPy array of all columns but labels, by a copy in the ledger.

        Its dtype is the one that NumPy promotes the columns to; object when there are strings,
        categories, or times beside numbers.
        """
        import numpy as np

        self._table()
        nodes = [self._nodes[name] for name in self._unlabelled()]
        columns = [Series(node).to_numpy() for node in nodes]
        try:
            dtype = np.result_type(*columns) if columns else np.dtype("float64")
        except TypeError:  # times and numbers
            dtype = np.dtype(object)
        for i, (column, node) in enumerate(zip(columns, nodes, strict=True)):
            # NumPy itself would make integers of nanoseconds.
            if dtype.kind == "O" and column.dtype.kind == "M":
                columns[i] = np.empty(len(column), object)
                columns[i][:] = Series(node).to_list()
        size = len(self) * len(columns) * dtype.itemsize
        _core.record_copy("to_numpy", "columns become one array", size, False)
        if not columns:
            return np.empty((0, 0))
        return np.column_stack([column.astype(dtype, copy=False) for column in columns])

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ExchangeError("__array__: a frame becomes one array by a copy; pass copy=None")
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)

    def to_arrow(self) -> Any:
        """A pyarrow table on the same memory."""
        import pyarrow as pa

        return pa.table(self)

    def to_pandas(self) -> Any:
        """A pandas frame; numbers without nulls stay on the same memory. Labels are its index."""
        import pandas as pd

        self._table()
        columns = {n: Series(self._nodes[n], n).to_pandas() for n in self._unlabelled()}
        made = pd.DataFrame(columns, copy=False) if columns else pd.DataFrame()
        labels = {name: Series(node) for name, node in self._labels.items()}
        if labels:  # pandas looks up objects, not texts of Arrow
            found = [v.to_numpy() if is_text(v) else v.to_pandas() for v in labels.values()]
            many = len(found) > 1
            made.index = (
                pd.MultiIndex.from_arrays(found, names=list(labels))
                if many
                else pd.Index(found[0], name=next(iter(labels)))
            )
        return made

    def __arrow_c_schema__(self) -> Any:
        return self._table().__arrow_c_schema__()

    def __arrow_c_device_array__(self, requested_schema: Any = None, **kwargs: Any) -> Any:
        nodes = list(self._nodes.values())
        _core.force(nodes)
        table = _core.Table(self.columns, [_core.value_there(node) for node in nodes])
        return table.__arrow_c_device_array__(requested_schema)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        from headrace.display import frame_text

        return frame_text(self)

    def _repr_html_(self) -> str:
        from headrace.display import frame_html

        return frame_html(self)


def concat(frames: Iterable[DataFrame | Series]) -> Any:
    """The rows of all frames, or of all series, one after the other.

    Columns are those of the first frame; the others have the same names in any order. Numbers of
    different dtypes take the one they have in common; categories get one dictionary.

    >>> import headrace as hr
    >>> hr.concat([hr.DataFrame({"x": [1]}), hr.DataFrame({"x": [2.5]})]).x.to_list()
    [1.0, 2.5]
    """
    mark("concat")
    grows("concat", "collect the parts in a list and concat them once, behind the loop")
    parts = list(frames)
    if not parts:
        raise InvalidArgumentError("concat: there is nothing to join")
    series = [part for part in parts if isinstance(part, Series)]
    tables = [part for part in parts if isinstance(part, DataFrame)]
    if len(series) == len(parts):
        return Series(_core.concat([part._node for part in series]), series[0].name)
    if len(tables) < len(parts):
        raise TypeMismatchError(
            "concat: frames or series are wanted, not both: "
            f"types={sorted({type(part).__name__ for part in parts})}"
        )
    names = tables[0].columns
    for at, part in enumerate(tables):
        if sorted(part.columns) != sorted(names):
            raise InvalidArgumentError(
                f"concat: frames have different columns: at={at}, columns={part.columns}, "
                f"first={names}"
            )
    domain = _core.new_domain()
    joined = {
        name: _core.in_domain(_core.concat([part._nodes[name] for part in tables]), domain)
        for name in names
    }
    labels = list(tables[0]._labels)
    kept = all(list(part._labels) == labels and not part._hidden() for part in tables)
    return DataFrame._of(joined, {name: joined[name] for name in labels} if kept else None)
