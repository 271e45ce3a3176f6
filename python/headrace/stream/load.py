# SPDX-License-Identifier: Apache-2.0
"""States from files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import Error, InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.stream import checkpoint
from headrace.stream.columns import ColumnState, parts_of
from headrace.stream.groups import Column, GroupState

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame

_SURPRISES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)


def load(path: str | os.PathLike[str]) -> GroupState | ColumnState:
    """The state of a file that ``save`` wrote, with the same bits; nothing in it is executed.

    Raises
    ------
    hr.InputError
        (an OSError) For a file that cannot be read, is not the file of a state, or is damaged:
        sizes, checksum, names, dtypes and counts are checked before anything uses them.
    hr.UnsupportedError
        For a file of a later version.

    >>> state = hr.DataFrame({"v": [1.5, 2.0]}).incremental(total=("v", "sum"))
    >>> state.save("example.state", position={"offset": 12})
    >>> again = hr.stream.load("example.state")
    >>> again.value().to_dict(), again.position
    ({'total': [3.5]}, {'offset': 12})
    """
    mark("load")
    name = os.fspath(path)
    header, tables = checkpoint.read(name)
    try:
        return _state(header, tables)
    except Error as error:
        raise checkpoint.damaged(name, str(error)) from None
    except _SURPRISES as error:
        raise checkpoint.damaged(name, f"{type(error).__name__}: {error}") from None


def _state(header: dict[str, Any], tables: list[DataFrame]) -> GroupState | ColumnState:
    words, dtypes = header["words"], header["dtypes"]
    rows, count, folded = header["rows"], header["open"], header["folded"]
    for each in (rows, count, *folded):
        if type(each) is not int or not 0 <= each < 2**63:
            raise ValueError(f"not a count: {each!r}")
    if header["morsel"] != _core.morsel_rows():
        raise InvalidArgumentError(
            f"load: another size of morsels: rows={header['morsel']!r}, "
            f"expected={_core.morsel_rows()}"
        )
    open_rows, *rest = tables
    own = {name: str(node.dtype) for name, node in open_rows._nodes.items()}
    held = open_rows._rows()
    if own != dtypes or held > count or count >= _core.morsel_rows() or count > rows:
        raise ValueError("the open rows are of another state")
    columns = [
        Column(_name(each[0]), each[1], each[2]) for each in map(_of_three, words["columns"])
    ]
    sources = {each.source for each in columns if each.source}
    if not sources <= set(dtypes):
        raise ValueError("an aggregate has no column")
    state: GroupState | ColumnState
    if header["kind"] == "columns":
        state = ColumnState(columns, dtypes)
        for each, own_rows, table in zip(state._states, folded, rest, strict=True):
            if own_rows != rows - count:
                raise ValueError("partials of other rows")
            each.restore(own_rows, parts_of(table))
    elif header["kind"] == "groups":
        state = _groups(words, columns, dtypes)
        if sum(folded) != len(rest):
            raise ValueError("another number of tables")
        sample = state._of_rows(open_rows.head(0))
        for size in folded:
            own_tables, rest = rest[:size], rest[size:]
            _check_tables(own_tables, sample)
            state._folded.append(own_tables)
    else:
        raise ValueError(f"no such kind: {header['kind']!r}")
    state._open.replace(open_rows)
    state._open.count = count
    state.rows, state.position = rows, header["position"]
    return state


def _groups(words: Any, columns: list[Column], dtypes: dict[str, str]) -> GroupState:
    keys, order, dropna, labelled = (words[n] for n in ("keys", "order", "dropna", "labelled"))
    if not keys or not all(type(key) is str and key in dtypes for key in keys):
        raise ValueError("a key without a column")
    if order not in ("sorted", "first", "any") or {type(dropna), type(labelled)} != {bool}:
        raise ValueError("an option is wrong")
    return GroupState(keys, columns, dtypes, order=order, dropna=dropna, labelled=labelled)


def _of_three(made: Any) -> list[Any]:
    if not isinstance(made, list) or len(made) != 3 or not all(type(e) is str for e in made[1:]):
        raise TypeError("not a column")
    return made


def _name(made: Any) -> Any:
    name = tuple(made) if isinstance(made, list) else made
    if not all(type(each) is str for each in (name if isinstance(name, tuple) else (name,))):
        raise TypeError("a name is no string")
    return name


def _check_tables(tables: list[DataFrame], like: list[DataFrame]) -> None:
    """Raise if tables of a file have other columns than the state makes."""
    for table, sample in zip(tables, like, strict=True):
        own = {name: str(node.dtype) for name, node in table._nodes.items()}
        if own != {name: str(node.dtype) for name, node in sample._nodes.items()}:
            raise ValueError(f"a table has other columns: {own}")
