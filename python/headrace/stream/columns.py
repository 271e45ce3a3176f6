# SPDX-License-Identifier: Apache-2.0
"""`ColumnState`: what aggregates of whole columns know of the rows so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.aggregates import NUMBERS
from headrace.dtypes import DType
from headrace.errors import TypeMismatchError, UnsupportedError
from headrace.frame.columns import frame_of
from headrace.series.column import new_series
from headrace.stream.groups import Column
from headrace.stream.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.frame.dataframe import DataFrame

#: Their `ddof`.
_DDOF = {
    **dict.fromkeys(("sum", "prod", "mean", "min", "max", "any", "all", "count"), 0),
    **dict.fromkeys(("skew", "kurt"), 0),
    **dict.fromkeys(("var", "std", "sem"), 1),
}
_PART = ("level", "count", "value", "squares", "cubes", "fourths", "integer", "index", "has_null")
_DTYPES = ("int64", "int64", *("float64",) * 4, "uint64", "int64", "bool")


class ColumnState(State):
    """Aggregates of columns whose rows come in batches, from `DataFrame.incremental`.

    Notes
    -----
    `value` has the bits of the same aggregates of all rows, however they are cut into batches. The
    state takes some hundred bytes per aggregate, and the rows of the open morsel.

    >>> state = hr.DataFrame({"v": [1.5, 2.0]}).incremental(total=("v", "sum"), high=("v", "max"))
    >>> state.update(hr.DataFrame({"v": [4.0]}))
    >>> state.value().to_dict(), state.rows
    ({'total': [7.5], 'high': [4.0]}, 3)
    """

    _kind = "columns"

    def __init__(self, columns: list[Column], dtypes: Mapping[str, str]) -> None:
        super().__init__(dtypes)
        self._columns = columns
        for _, how, source in columns:
            if how not in _DDOF:
                raise UnsupportedError(
                    f"incremental: needs all values together: aggregate={how!r}, "
                    f"column={source!r}; use {', '.join(_DDOF)}"
                )
            if not DType(dtypes[source]).is_of(NUMBERS):
                raise TypeMismatchError(
                    f"incremental: expected numbers: aggregate={how!r}, column={source!r}, "
                    f"dtype={dtypes[source]!r}; group by a constant for other columns"
                )
        self._states = self._fresh()

    def _fresh(self) -> list[Any]:
        dtypes = self._open.dtypes
        return [_core.ReduceState(how, dtypes[of], _DDOF[how]) for _, how, of in self._columns]

    def value(self) -> DataFrame:
        """The aggregates of all rows so far, as one row."""
        rows = self._open.rows()
        made = {}
        for (name, how, source), state in zip(self._columns, self._states, strict=True):
            found = state.total(rows._nodes[source].value())
            dtype = _core.aggregate_dtype(how, self._open.dtypes[source])
            made[name] = new_series([found], dtype=dtype)._node
        domain = _core.new_domain()
        return frame_of({name: _core.in_domain(node, domain) for name, node in made.items()})

    def _fold(self, rows: DataFrame) -> None:
        for (_, _, source), state in zip(self._columns, self._states, strict=True):
            state.push(rows._nodes[source].value())

    def _append(self, other: State) -> None:
        assert isinstance(other, ColumnState)
        for own, later in zip(self._states, other._states, strict=True):
            own.merge(later)

    def _snapshot(self) -> Any:
        return super()._snapshot(), [(each.rows, each.parts()) for each in self._states]

    def _restore(self, saved: Any) -> None:
        super()._restore(saved[0])
        self._states = self._fresh()
        for state, (rows, parts) in zip(self._states, saved[1], strict=True):
            state.restore(rows, parts)

    def __reduce__(self) -> Any:
        return _restored, (self._columns, self._open.dtypes, self._snapshot(), self.position)

    # ---- files -----------------------------------------------------------------------------------
    def _words(self) -> dict[str, Any]:
        return {"columns": [list(each) for each in self._columns]}

    def _more_words(self) -> dict[str, Any]:
        return {"folded": [each.rows for each in self._states]}

    def _tables(self) -> list[list[DataFrame]]:
        return [[_table(each.parts())] for each in self._states]


def _restored(columns: Any, dtypes: Any, snapshot: Any, position: Any) -> ColumnState:
    state = ColumnState(columns, dtypes)
    state._restore(snapshot)
    state.position = position
    return state


def _table(parts: list[Any]) -> DataFrame:
    columns = list(zip(*parts, strict=True)) or [()] * len(_PART)
    made = {
        name: new_series(list(values), dtype=dtype)._node
        for name, values, dtype in zip(_PART, columns, _DTYPES, strict=True)
    }
    domain = _core.new_domain()
    return frame_of({name: _core.in_domain(node, domain) for name, node in made.items()})


def parts_of(table: DataFrame) -> list[Any]:
    """The way back from a table of a file; raises ValueError for another one."""
    found = {name: str(node.dtype) for name, node in table._nodes.items()}
    if found != dict(zip(_PART, _DTYPES, strict=True)):
        raise ValueError(f"partials have other columns: {found}")
    columns = [table._series(name).to_list() for name in _PART]
    if any(value is None for each in columns for value in each):
        raise ValueError("a partial is null")
    return list(zip(*columns, strict=True))


def of_frame(frame: DataFrame, named: Mapping[str, Any]) -> ColumnState:
    """The state of the rows of a frame."""
    columns = []
    for name, pair in named.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], str)):
            raise TypeMismatchError(
                f"incremental: expected a (column, aggregate) pair: {name}={pair!r}; for example "
                f"{name}=('x', 'sum')"
            )
        columns.append(Column(name, pair[1], frame._find(pair[0])))
    if not columns:
        raise TypeMismatchError("incremental: expected an aggregate; pass out=('x', 'sum')")
    nodes = {each.source: frame._nodes[each.source] for each in columns}
    state = ColumnState(columns, {name: node.dtype for name, node in nodes.items()})
    state.update(frame_of(nodes))
    return state
