# SPDX-License-Identifier: Apache-2.0
"""`GroupState`: what a group-by knows of the rows so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.aggregates import group_kinds
from headrace.dtypes import DType
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import frame_of
from headrace.frame.concat import rows_of
from headrace.groupby.keys import aggregate_name
from headrace.series.column import series_of, with_rows_of
from headrace.stream import moments
from headrace.stream.state import State, check_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy

#: By aggregate: what is folded of rows, and of what was folded.
_FOLDS = {
    **{name: (name, name) for name in ("sum", "prod", "min", "max", "first", "last")},
    **{name: (name, name) for name in ("any", "all")},
    **{"count": ("count", "sum"), "size": ("size", "sum")},
}
_MOMENTS = ("var", "std", "sem", "skew", "kurt")
#: Folded morsels that wait to be folded together: with them, one table of all groups and the open
#: morsel there are at most eight rows of a group, which the engine adds in their order.
_MOST_WAITING = 6


class Column(NamedTuple):
    """A column of the result: its name, its aggregate, and the column that is aggregated."""

    name: Any
    aggregate: str
    source: str


class GroupState(State):
    """A group-by whose rows come in batches, from `GroupBy.incremental`.

    It keeps one row per group for the whole morsels of 131,072 rows that came, and the rows of the
    morsel that is open.

    Notes
    -----
    However the rows are cut into batches, `value` has the same bits. They are those of ``agg`` over
    all rows: for counts, extremes, ends, integers, strings and decimals always; for sums, products
    and means of floats where all rows fit into one morsel, or the keys have at most 16,384 possible
    values (integers: in the range between the least and the greatest one); for ``var``, ``std``,
    ``sem``, ``skew`` and ``kurt`` within one morsel. Elsewhere the two differ by roundings.

    >>> first = hr.DataFrame({"k": ["a", "b"], "v": [1.5, 2.0]})
    >>> state = first.groupby("k").incremental(total=("v", "sum"), n=("v", "count"))
    >>> state.update(hr.DataFrame({"k": ["b", "c"], "v": [0.25, 4.0]}))
    >>> state.value().to_dict()
    {'total': [1.5, 2.25, 4.0], 'n': [1, 2, 1]}
    """

    _kind = "groups"

    def __init__(
        self,
        keys: list[str],
        columns: list[Column],
        dtypes: Mapping[str, str],
        *,
        order: str,
        dropna: bool,
        labelled: bool,
    ) -> None:
        super().__init__(dtypes)
        self._keys, self._columns = keys, columns
        self._order, self._dropna, self._labelled = order, dropna, labelled
        self._names = [f"k{at}" for at in range(len(keys))]
        self._folded: list[list[DataFrame]] = []
        for each in columns:
            _check(each, dtypes.get(each.source, ""))
        #: What is folded: by name, the aggregate of rows, that of folded ones, and the source.
        self._parts: dict[str, tuple[str, str, str]] = {}
        self._moments: list[str] = []
        for each in columns:
            self._add(each)

    def _add(self, column: Column) -> None:
        how, source = column.aggregate, column.source
        if how in _MOMENTS:
            if source not in self._moments:
                self._moments.append(source)
            return
        if how == "mean":
            self._parts[self._total(source)] = ("sum", "sum", source)
            how = "count"
        self._parts[_named(how, source)] = (*_FOLDS[how], source)

    def _total(self, source: str) -> str:
        """The part that has the sum of values as float64."""
        is_float = self._open.dtypes[source] in ("float16", "float32", "float64")
        return _named("sum" if is_float else "total", source)

    # ---- folding ---------------------------------------------------------------------------------
    def _of_rows(self, rows: DataFrame, order: bool = False) -> list[DataFrame]:
        """What is kept of the rows of one morsel."""
        keys = dict(zip(self._names, (rows._nodes[key] for key in self._keys), strict=True))
        nodes = dict(keys)
        for name, (_, _, source) in self._parts.items():
            node = rows._nodes[source if source else self._keys[0]]
            if _is_float_fold(name, self._open.dtypes.get(source, "")):
                node = _core.astype(node, "float64")
            nodes[name] = node
        frame = frame_of(nodes)
        spec = {name: (name, first) for name, (first, _, _) in self._parts.items()}
        tables = [self._grouped(frame, spec, order)]
        sources = frame_of({**keys, **{f"x{i}": rows._nodes[s] for i, s in self._numbered()}})
        for at, _ in self._numbered():
            tables.append(moments.of_rows(sources, self._names, f"x{at}", self._dropna, order))
        return tables

    def _numbered(self) -> list[tuple[int, str]]:
        return list(enumerate(self._moments))

    def _grouped(self, frame: DataFrame, spec: dict[str, Any], order: bool) -> DataFrame:
        """The groups of a table, with a mark for sums that are NaN: they would be left out."""
        spec = {**spec, "rows": spec.get("rows", (self._names[0], "size"))}
        marks = {name: (name, "any") for name in frame._nodes if str(name).startswith("nan:")}
        made = frame.groupby(self._names, sort=order, dropna=self._dropna, as_index=False).agg(
            **spec, **marks
        )
        for name in self._parts:
            if not _may_be_nan(name, made._nodes[name].dtype):
                continue
            mark = made[name].isna()
            made[f"nan:{name}"] = mark | made[f"nan:{name}"] if f"nan:{name}" in marks else mark
        return made

    def _joined(self, tables: list[list[DataFrame]], order: bool = False) -> list[DataFrame]:
        """Several tables as one: a row per group."""
        if len(tables) == 1 and not order:
            return tables[0]
        spec: dict[str, Any] = {name: (name, then) for name, (_, then, _) in self._parts.items()}
        spec["rows"] = ("rows", "sum")
        first = self._grouped(rows_of([each[0] for each in tables]), spec, order)
        made = [first]
        for at, _ in self._numbered():
            every = rows_of([each[1 + at] for each in tables])
            made.append(moments.joined(every, self._names, self._dropna, order))
        return made

    def _fold(self, rows: DataFrame) -> None:
        self._keep(self._of_rows(rows))

    def _keep(self, tables: list[DataFrame]) -> None:
        """Put a folded morsel behind the others."""
        tables = _ready(tables)
        waiting: list[Any] = [*self._folded, tables]
        if len(waiting) > _MOST_WAITING:
            waiting = [_ready(self._joined(waiting))]
        self._folded = waiting

    def _append(self, other: State) -> None:
        assert isinstance(other, GroupState)
        for tables in other._folded:
            self._keep(tables)

    # ---- results ---------------------------------------------------------------------------------
    def value(self) -> DataFrame:
        """The aggregates of all rows so far: what ``agg`` gives for them, labels included."""
        order = self._order == "sorted"
        tables = [*self._folded]
        rows = self._open.rows()
        if rows._rows() or not tables:
            tables.append(self._of_rows(rows, order))
        is_one = len(tables) == 1 and not self._folded
        made = tables[0] if is_one else self._joined(tables, order)
        return self._result(_ready(made))

    def take_out(self, key: str, until: Any) -> DataFrame | None:
        """The groups whose key is at most a value, which are let go; None if there are none.

        Rows that come later begin such a group anew.
        """
        made = self.value()
        key_of = made._labels if self._labelled else made._nodes
        gone = series_of(key_of[key]) <= until
        if not bool(gone.any()):
            return None
        at = self._names[self._keys.index(key)]
        folded = [_ready([t[t[at] > until] for t in tables]) for tables in self._folded]
        rows = self._open.rows()
        rows = rows[rows[key] > until]
        _core.force(rows._every())
        any_row = made._any_node()
        assert any_row is not None
        taken = made[with_rows_of(gone, any_row)]
        _core.force(taken._every())
        self._folded = [[frame_of(dict(t._nodes)) for t in tables] for tables in folded]
        self._open.replace(frame_of(dict(rows._nodes)))
        return taken

    def _result(self, tables: list[DataFrame]) -> DataFrame:
        first = tables[0]
        columns: dict[Any, Any] = {}
        for name, how, source in self._columns:
            dtype = self._open.dtypes.get(source, "")
            if how in _MOMENTS:
                table = tables[1 + self._moments.index(source)]
                parts = {part: table[part] for part in moments.PARTS}
                columns[name] = moments.result(how, parts, 1)
            elif how == "mean":
                count = first[_named("count", source)]
                columns[name] = (_exact(first, self._total(source)) / count).where(count > 0)
            else:
                columns[name] = _exact(first, _named(how, source))
            if dtype in ("float32", "float16") and how in (*_MOMENTS, "mean", "sum", "prod"):
                columns[name] = columns[name].astype(dtype)
        domain = first._nodes[self._names[0]].domain
        nodes = {n: _core.in_domain(each._node, domain) for n, each in columns.items()}
        keys = {k: first._nodes[n] for k, n in zip(self._keys, self._names, strict=True)}
        return frame_of(nodes, keys) if self._labelled else frame_of({**keys, **nodes})

    # ---- files -----------------------------------------------------------------------------------
    def _words(self) -> dict[str, Any]:
        return {
            "keys": self._keys,
            "columns": [list(each) for each in self._columns],
            "order": self._order,
            "dropna": self._dropna,
            "labelled": self._labelled,
        }


def _named(how: str, source: str) -> str:
    return f"{how}:{source}"


def _is_float_fold(name: str, dtype: str) -> bool:
    """Whether sums are kept in 64 bits until the end."""
    halves = name.startswith(("sum:", "prod:")) and dtype in ("float16", "float32")
    return halves or name.startswith("total:")


def _may_be_nan(name: str, dtype: str) -> bool:
    return name.startswith(("sum:", "prod:", "total:")) and dtype == "float64"


def _exact(table: DataFrame, name: str) -> Any:
    """A column, with NaN where its values gave that."""
    mark = f"nan:{name}"
    return table[name].where(~table[mark], float("nan")) if mark in table._nodes else table[name]


def _ready(tables: list[DataFrame]) -> list[DataFrame]:
    _core.force([node for table in tables for node in table._every()])
    return tables


def _check(column: Column, dtype: str) -> None:
    how = column.aggregate
    if how not in _FOLDS and how not in _MOMENTS and how != "mean":
        raise UnsupportedError(
            f"incremental: needs all values of a group together: aggregate={how!r}, "
            f"column={column.source!r}; use {', '.join(_FOLDS)}, mean, {', '.join(_MOMENTS)}"
        )
    kinds = "biuf" if how in (*_MOMENTS, "mean") else group_kinds(how)
    if how != "size" and not DType(dtype).is_of(kinds):
        raise TypeMismatchError(
            f"incremental: this aggregate does not support the column: aggregate={how!r}, "
            f"column={column.source!r}, dtype={dtype!r}; select other columns, or use astype"
        )


def of_groups(groups: GroupBy, found: Iterable[Any]) -> GroupState:
    """The state of the rows of a group-by."""
    columns = [
        Column(name, aggregate_name(how, "aggregate", "incremental"), source)
        for name, how, source in found
    ]
    for each in columns:
        check_name(each.name)
    if not groups._observed:
        raise UnsupportedError(
            "incremental: groups without rows are not kept: observed=False; use observed=True"
        )
    keys: list[str] = []
    for name, node in groups._keys:
        known = [n for n, each in groups._nodes.items() if each is node]
        if groups._single or groups._nodes.get(name) is node:
            known = [name]
        if not known:
            raise InvalidArgumentError(
                f"incremental: the frame has no column with this key: key={name!r}; assign it "
                "first, in each batch"
            )
        keys.append(known[0])
    sources = {each.source: groups._nodes[each.source] for each in columns if each.source}
    nodes = {**dict(zip(keys, (node for _, node in groups._keys), strict=True)), **sources}
    state = GroupState(
        keys,
        columns,
        {name: node.dtype for name, node in nodes.items()},
        order=groups._order,
        dropna=groups._dropna,
        labelled=groups._labelled,
    )
    state.update(frame_of(nodes))
    return state
