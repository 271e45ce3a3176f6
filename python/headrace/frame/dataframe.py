# SPDX-License-Identifier: Apache-2.0
"""`hr.DataFrame`: named, lazy columns of one row set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.apply import FrameFunctions
from headrace.frame.arithmetic import FrameArithmetic
from headrace.frame.construct import columns_from, put_columns
from headrace.frame.duplicates import FrameGroups
from headrace.frame.export import FrameExports
from headrace.frame.indexing import is_mask
from headrace.frame.labels import FrameLabels, LabelledSeries, picked_again, relabelled
from headrace.frame.reshape import FrameShapes
from headrace.frame.rows import FrameRows
from headrace.frame.select import FrameColumns
from headrace.lazy.handle import Deferred, mark
from headrace.rows import (
    Dtypes,
    Names,
    are_picked,
    is_probed,
    no_attribute,
    picked_domain,
    refuse_apart,
    same_rows,
)
from headrace.series.series import Series
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from collections.abc import Iterator


def _frame_from(data: Any) -> DataFrame:
    from headrace.interop.exchange import from_arrow, from_pandas

    table: Any = None
    if type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "columns"):
        table = from_pandas(data)
    elif hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        table = from_arrow(data)
    if isinstance(table, DataFrame):
        return table
    raise TypeMismatchError(
        "DataFrame: cannot build a table from this type: "
        f"type={type(data).__name__!r}; pass columns by name, or a table of pandas, "
        "pyarrow or Polars"
    )


class DataFrame(
    FrameColumns,
    FrameRows,
    FrameGroups,
    FrameArithmetic,
    FrameExports,
    FrameLabels,
    FrameFunctions,
    FrameShapes,
):
    """A table of named columns. Each column is a lazy series over the same rows.

    >>> import headrace as hr
    >>> df = hr.DataFrame({"x": [1, 2, 3], "y": [0.5, None, 2.5]})
    >>> df["z"] = df.x * 2
    >>> df[df.x > 1].z.to_list()
    [4, 6]

    Also takes rows (lists, generators, record arrays), dictionaries, two-dimensional arrays, and
    pandas, pyarrow and Polars tables; `index` sets labels, `dtype` applies to all columns:

    >>> hr.DataFrame([[1, "a"], [2, "b"]], columns=["x", "s"]).s.to_list()
    ['a', 'b']
    >>> hr.DataFrame((n, n * n) for n in range(3)).to_dict()
    {'0': [0, 1, 2], '1': [0, 1, 4]}

    Attributes
    ----------
    rejects : DataFrame or None
        Rows that ``read_csv(on_bad="reject")`` could not read; None for all other frames.
    """

    __slots__ = ("__weakref__", "_labels", "_nodes", "rejects")
    #: The index: nodes by name, shared with the columns that are shown.
    _labels: dict[str, _core.Node]
    rejects: DataFrame | None

    def __init__(
        self,
        data: Mapping[str, Any] | Any = None,
        columns: Iterable[str] | None = None,
        index: Any = None,
        dtype: Any = None,
    ) -> None:
        self._nodes: dict[str, _core.Node] = {}
        self._labels = {}
        self.rejects = None
        mark("DataFrame")
        if isinstance(data, Series):
            columns = None if columns is None else list(columns)
            data = data.to_frame(data.name or (columns[0] if columns else "0"))
        if isinstance(data, DataFrame):
            self._take(data, columns)
        elif data is not None or columns is not None or index is not None:
            found = columns_from(data, columns)
            if found is None:
                self._take(_frame_from(data), columns)
            else:
                put_columns(self, found, index)
        if dtype is not None:
            self._nodes = self.astype(dtype)._nodes

    def _take(self, data: DataFrame, columns: Iterable[str] | None) -> None:
        picked = data if columns is None else data[list(columns)]
        self._nodes, self._labels = dict(picked._nodes), dict(picked._labels)

    @classmethod
    def from_dict(
        cls, data: Mapping[Any, Any], orient: str = "columns", columns: Iterable[str] | None = None
    ) -> DataFrame:
        """Build a frame from columns by name, or with ``orient="index"`` from rows by label.

        >>> import headrace as hr
        >>> hr.DataFrame.from_dict({"r": [1, 2]}, orient="index", columns=["a", "b"]).b.to_list()
        [2]
        """
        if orient not in ("columns", "index"):
            raise InvalidArgumentError(
                f"from_dict: invalid value: orient={orient!r}; expected 'columns' or 'index'"
            )
        if orient == "columns":
            return cls(data, columns)
        return cls(list(data.values()), columns, index=list(data))

    @classmethod
    def from_records(cls, data: Any, columns: Iterable[str] | None = None) -> DataFrame:
        """Build a frame from rows: lists, tuples, dictionaries, or NumPy records.

        >>> import headrace as hr
        >>> hr.DataFrame.from_records([(1, "a"), (2, "b")], columns=["x", "y"]).to_dict()
        {'x': [1, 2], 'y': ['a', 'b']}
        """
        return cls(data, columns)

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
        """Labels that are not among the selected columns."""
        return {name: node for name, node in self._labels.items() if name not in self._nodes}

    def _of_rows(self, names: list[str], nodes: Iterable[_core.Node]) -> DataFrame:
        """A frame of new rows for the columns and hidden labels `names`."""
        made = dict(zip(names, nodes, strict=True))
        shown = {name: made[name] for name in self._nodes}
        return DataFrame._of(shown, {name: made[name] for name in self._labels})

    def _everything(self) -> dict[str, _core.Node]:
        """Columns and hidden labels."""
        return {**self._nodes, **self._hidden()}

    def _unlabelled(self) -> list[str]:
        """The columns that are not labels."""
        return [name for name in self._nodes if name not in self._labels]

    def _names_of(self, kinds: str) -> list[str]:
        """The columns of these kinds of dtypes that are not labels; see `DType.is_of`."""
        dtypes = {name: self._nodes[name].dtype for name in self._unlabelled()}
        found = {dtype: DType(dtype).is_of(kinds) for dtype in set(dtypes.values())}
        return [name for name, dtype in dtypes.items() if found[dtype]]

    def _aligned(self, series: Series) -> _core.Node:
        """Values with the row count of this frame, as part of it."""
        for node in self._nodes.values():
            return _core.align_check("DataFrame", series.name or "", node, series._node)
        return series._node

    def _in_domain(self, domain: int) -> DataFrame:
        """The same rows as another row set, without labels."""
        return DataFrame._of({n: _core.in_domain(v, domain) for n, v in self._nodes.items()})

    def _refuse_free(self, op: str, node: _core.Node) -> None:
        """Raise for a separate series combined with filtered or sorted rows."""
        refuse_apart(op, [node, *list(self._everything().values())[:1]])

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
            if not node.domain and node.shape[0] >= 0 > first.shape[0]:
                _core.force([first])  # the row count depends on the data
            node = _core.align_check("DataFrame", name, first, node)
        self._nodes[name] = node
        if name in self._labels:
            self._labels[name] = node

    def to(self, device: str) -> DataFrame:
        """Copy the frame to a device: `Array.to` for each column.

        >>> import headrace as hr
        >>> hr.DataFrame({"a": [1, 2]}).to("cpu")["a"].sum().item()
        3
        """
        mark("to")
        nodes = self._everything()
        return self._of_rows(list(nodes), [_core.to(node, device) for node in nodes.values()])

    # ---- shape -----------------------------------------------------------------------------------
    @property
    def columns(self) -> Names:
        """Column names, in order; ``df.columns = [...]`` renames all of them.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.columns
        ['x', 'y']
        """
        return Names(self._nodes)

    @columns.setter
    def columns(self, names: Iterable[str]) -> None:
        fresh = [str(n) for n in (names.to_list() if isinstance(names, Series) else names)]
        if len(fresh) != len(self._nodes):
            raise InvalidArgumentError(
                f"columns: length mismatch: expected={len(self._nodes)}, got={len(fresh)}"
            )
        renamed = self.rename(dict(zip(self._nodes, fresh, strict=True)))
        self._nodes, self._labels = renamed._nodes, renamed._labels

    @property
    def dtypes(self) -> Dtypes:
        """Element type of each column, known before anything runs.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.dtypes
        {'x': dtype('int64'), 'y': dtype('float64')}
        """
        return Dtypes({name: DType(node.dtype) for name, node in self._nodes.items()})

    def __len__(self) -> int:
        for node in self._nodes.values():
            return len(Series(node))
        return 0

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; runs the plan if the row count depends on the data.

        >>> import headrace as hr
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

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.ndim
        2
        """
        return 2

    @property
    def size(self) -> int:
        """Number of values.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.size
        6
        """
        return len(self) * len(self._nodes)

    @property
    def empty(self) -> bool:
        """Whether the frame has no rows or no columns.

        >>> import headrace as hr
        >>> df = hr.DataFrame({"x": [1, 2, 6], "y": [1.5, None, 2.5]})
        >>> df.empty
        False
        """
        return self.size == 0

    def __contains__(self, name: object) -> bool:
        return name in self._nodes

    # ---- copies and pickle -----------------------------------------------------------------------
    def __copy__(self) -> DataFrame:
        frame = DataFrame(self)
        frame.rejects = self.rejects
        return frame

    def __deepcopy__(self, memo: dict[int, Any]) -> DataFrame:
        return self.__copy__()  # the values are immutable

    def __reduce_ex__(self, protocol: Any) -> Any:
        from headrace.interop.sharing import reduced

        if self._labels:
            return relabelled, (self.reset_index(), list(self._labels), self.columns)
        if any(map(are_picked, self._nodes.values())):
            return picked_again, (self.reset_index(),)
        return reduced(self, protocol)

    # ---- columns and rows ------------------------------------------------------------------------
    def __getitem__(self, key: Any) -> Any:
        """A column by name, columns by a list of names, rows by a mask or a slice.

        A boolean frame keeps all rows and sets null where it is false.
        """
        mark("getitem")
        if callable(key):
            key = key(self)
        if isinstance(key, DataFrame):
            return self.where(key)
        if isinstance(key, slice) and isinstance(key.stop or key.start, str):
            return self.loc[key]
        if isinstance(key, Series) and is_text(key):
            key = key.to_list()  # column names, from a label of reductions
        if isinstance(key, str):
            return self._series(self._find(key))
        if isinstance(key, list) and all(isinstance(k, str) for k in key):
            return DataFrame._of({k: self._nodes[self._find(k)] for k in key}, self._labels)
        if not isinstance(key, slice | Deferred | list) and not getattr(key, "ndim", 0):
            raise TypeMismatchError(
                f"getitem: expected a name, a list of names, a mask or a slice: key={key!r}"
            )
        nodes = self._everything()
        if is_mask(key):  # rows selected by equal masks are the same row set
            mask = key if isinstance(key, Deferred) else Series(key)
            if isinstance(mask, Series):
                refuse_apart("getitem", [mask._node, *nodes.values()])
            picked = [_core.filter(node, mask._node) for node in nodes.values()]
            return self._of_rows(list(nodes), picked)
        first = next(iter(nodes.values()), None)
        known = isinstance(key, slice) or hasattr(key, "tobytes")
        domain = same_rows(first, key) if known else picked_domain()
        taken = [_core.in_domain(Series(node)[key]._node, domain) for node in nodes.values()]
        return self._of_rows(list(nodes), taken)

    def _series(self, name: str) -> Series:
        """An existing column, with its row labels."""
        node = self._nodes[name]
        if not self._labels or name in self._labels:
            return Series(node, name)
        return LabelledSeries(DataFrame._of({**self._labels, name: node}, self._labels), name)

    def __getattr__(self, name: str) -> Series:
        if is_probed(name):
            raise AttributeError(name)
        nodes: dict[str, _core.Node] = object.__getattribute__(self, "_nodes")
        if name in nodes:
            return self._series(name)
        raise no_attribute("DataFrame has no column or method", name, nodes, DataFrame)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self._nodes if name.isidentifier())]
