# SPDX-License-Identifier: Apache-2.0
"""The part of `DataFrame` that sets, selects, drops and renames columns."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.dtypes import dtype_word
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.frame.construct import columns_of_array, columns_of_rows, is_single, repeated
from headrace.frame.indexing import (
    check_row_numbers,
    counts_rows,
    domain_of,
    is_mask,
    row_slice,
)
from headrace.lazy.handle import Deferred, is_array, mark
from headrace.reshape.alignment import at_labels
from headrace.rows import (
    by_position,
    given_names,
    picked_domain,
    refuse_apart,
    same_rows,
    with_levels,
)
from headrace.series.column import Column, is_series, new_series, series_of
from headrace.series.strings import is_text

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

_COLUMNS = (1, "columns")
_KINDS = {"number": "iufm", "bool": "b", "object": "U", "string": "U", "str": "U"}
_MORE_KINDS = {"category": "O", "datetime": "M", "datetime64": "M", "float": "f", "int": "i"}
_MORE_KINDS |= {"timedelta": "m", "timedelta64": "m"}


def _names(columns: Any) -> list[Any]:
    return [columns] if isinstance(columns, str | int | tuple) else list(columns)


def _is_of(column: Series, kind: Any) -> bool:
    """Whether a dtype matches an argument of `select_dtypes`."""
    word = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    letters = {**_KINDS, **_MORE_KINDS}.get(word) if word == "number" or word is kind else None
    if letters is not None:
        return column.dtype.is_of(letters)
    return str(column.dtype) == dtype_word(kind)


def get_item(frame: DataFrame, key: Any) -> Any:
    """See `DataFrame.__getitem__`."""
    mark("getitem")
    if type(key) is slice and (made := row_slice(frame, key)) is not None:
        return made
    if type(key) is list:
        with contextlib.suppress(KeyError, TypeError):
            return frame_of({name: frame._nodes[name] for name in key}, frame._labels)
    if isinstance(key, str | int | tuple | float) and (
        type(key) is not bool or key in frame._nodes
    ):
        if key not in frame._nodes and (below := frame._below(key)):
            if list(below) == [""]:  # what were labels before `reset_index`
                return frame_of({key: below[""]}, frame._labels)._series(key)
            return frame_of(below, frame._labels)
        return frame._series(frame._find(key))
    if callable(key):
        key = key(frame)
    if is_frame(key):
        return frame.where(key)
    if isinstance(key, slice) and isinstance(key.stop or key.start, str):
        return frame.loc[key]
    if is_series(key) and is_text(key):
        key = key.to_list()  # column names, from a label of reductions
    if isinstance(key, list) and all(isinstance(k, str | tuple) or k in frame._nodes for k in key):
        if any(k not in frame._nodes and frame._below(k) for k in key):
            names = [n for k in key for n in frame._nodes if n == k or n[0] == k]
            return frame_of({n: frame._nodes[n] for n in names}, frame._labels)
        return frame_of({k: frame._nodes[frame._find(k)] for k in key}, frame._labels)
    if not isinstance(key, slice | Deferred | list) and not getattr(key, "ndim", 0):
        raise TypeMismatchError(
            f"getitem: expected a name, a list of names, a mask or a slice: key={key!r}"
        )
    nodes = frame._every()
    if is_mask(key):  # rows selected by equal masks are the same row set
        mask = key if isinstance(key, Deferred) else new_series(key)
        if is_series(mask):
            mask = frame._over_rows(mask)
            refuse_apart("getitem", [mask._node, *nodes])
        picked = _core.filter_columns(nodes, mask._node)
        return frame._of_rows(picked, lambda node: _core.filter(node, mask._node))
    known = isinstance(key, slice) or hasattr(key, "tobytes")
    domain = same_rows(next(iter(nodes), None), key) if known else picked_domain()

    def pick(node: _core.Node) -> _core.Node:
        return _core.in_domain(series_of(node)[key]._node, domain)

    return frame._of_rows([pick(node) for node in nodes], pick)


def set_columns(frame: DataFrame, name: Any, values: Any) -> None:
    """See `DataFrame.__setitem__`."""
    mark("setitem")
    if type(name) is str and is_series(values):
        node = at_labels(frame, values)
        frame._refuse_free("setitem", node)
        frame._put(name, node)
        return
    if isinstance(name, list) and all(isinstance(each, str) for each in name):
        parts = [values[n] for n in values.columns] if is_frame(values) else values
        if is_single(parts) or is_series(parts):
            parts = [parts] * len(name)
        elif getattr(parts, "ndim", 1) == 2:
            parts = list(columns_of_array(parts, name).values())
        elif isinstance(parts, list) and all(isinstance(row, list | tuple) for row in parts):
            parts = list(columns_of_rows(parts, name).values())
        if len(parts) != len(name):
            raise InvalidArgumentError(
                f"setitem: number of columns does not match the names: expected={len(name)}, "
                f"got={len(parts)}"
            )
        made = new_frame(frame)  # on an error the frame is unchanged
        for each, part in zip(name, parts, strict=True):
            made[each] = part
        frame._nodes, frame._labels = made._nodes, made._labels
        return
    if is_frame(name):
        frame._nodes = frame.mask(name, values)._nodes
        return
    if is_series(name) and name.dtype == "bool":
        frame.loc[name] = values
        return
    if not isinstance(name, str | int | tuple):
        raise TypeMismatchError(
            f"setitem: expected a column name: name={name!r}; use df.loc[rows, name] = value for "
            "some rows"
        )
    if is_frame(values) and len(values._nodes) == 1:
        values = values[values.columns[0]]
    if is_single(values):
        rows = frame._any_node()
        values = [values] if rows is None else new_series(repeated(rows, values))
    frame._put(name, new_series(by_position(values))._node)


def rename_all(frame: DataFrame, names: Any) -> None:
    """Give all columns new names, in this frame."""
    fresh = given_names(names)
    if len(fresh) != len(frame._nodes):
        raise InvalidArgumentError(
            f"columns: length mismatch: expected={len(frame._nodes)}, got={len(fresh)}"
        )
    frame._nodes = _called(frame, fresh)._nodes


def _called(frame: DataFrame, names: list[Any]) -> DataFrame:
    """The frame with other names of its columns, which must differ."""
    if len(set(names)) < len(names):
        raise InvalidArgumentError(f"rename: duplicate column name: columns={names}")
    return frame_of(dict(zip(names, frame._nodes.values(), strict=True)), frame._labels)


def insert(frame: DataFrame, loc: int, column: str, value: Any) -> None:
    """See `DataFrame.insert`."""
    if column in frame._nodes:
        raise InvalidArgumentError(f"insert: the column already exists: column={column!r}")
    names = list(frame._nodes)
    frame[column] = value
    names.insert(loc, column)
    frame._nodes = {name: frame._nodes[name] for name in names}


def drop(
    frame: DataFrame, labels: Any, axis: int | str | None, columns: Any, index: Any, errors: str
) -> DataFrame:
    """See `DataFrame.drop`."""
    mark("drop")
    if errors not in ("raise", "ignore"):
        raise InvalidArgumentError(
            f"drop: invalid value: errors={errors!r}; expected 'raise' or 'ignore'"
        )
    if is_array(labels) and counts_rows(labels):
        labels, index = None, labels
    if labels is not None:
        labels = labels if hasattr(labels, "__iter__") else [labels]
        texts = isinstance(labels, str) or all(isinstance(each, str) for each in labels)
        if axis is None:
            known = not frame._labels or any(n in frame._nodes for n in _names(labels))
            axis = 1 if known and texts else 0
        if axis in _COLUMNS:
            columns = labels
        else:
            index = labels
    made = new_frame(frame)
    if columns is not None:
        ignored = errors == "ignore"
        gone = {n for n in _names(columns) if not ignored or n in frame._nodes}
        for name in gone:
            frame._find(name)
        kept = {name: node for name, node in frame._nodes.items() if name not in gone}
        made = frame_of(kept, frame._labels)
    if index is not None:
        if is_array(index) and counts_rows(index):
            check_row_numbers("drop", index, domain_of(frame))
            return new_frame(made[made.index != index])
        several = isinstance(index, list | range | Column) or hasattr(index, "ndim")
        if errors == "raise":
            frame.loc[index if several else [index]]  # raises for missing ones
        own = counts_rows(index)
        found = made.index.isin(index if own else list(index) if several else [index])
        made = made[~found]
    return made


def _relabelled(labels: Series, words: Any) -> Series:
    """What a function makes of labels, or labels replaced by those of a mapping."""
    return labels.map(words) if callable(words) else labels.replace(dict(words.items()))


def rename(
    frame: DataFrame,
    mapper: Mapping[str, str] | Callable[[str], str] | None = None,
    index: Mapping[Any, Any] | Callable[[Any], Any] | None = None,
    columns: Mapping[str, str] | Callable[[str], str] | None = None,
    axis: int | str = 1,
    errors: str = "raise",
) -> DataFrame:
    """See `DataFrame.rename`."""
    if mapper is not None and axis in _COLUMNS:
        columns = mapper
    elif mapper is not None:
        index = mapper
    if index is not None:
        labels = {
            name: _relabelled(series_of(node, name), index)._node
            for name, node in (frame._labels or frame._numbered()._labels).items()
        }
        if not labels:
            raise InvalidArgumentError("rename: the rows have no labels; use set_index first")
        frame = frame_of(frame._nodes, labels)
    words = columns
    if words is None:
        return new_frame(frame)
    if callable(words):
        words = {name: words(name) for name in frame._nodes}
    for name in words if errors != "ignore" else ():
        frame._find(name)
    levels = tuple(frame.columns.names)
    return _called(frame, [with_levels(words.get(n, n), levels) for n in frame._nodes])


def filter_names(
    frame: DataFrame,
    items: Iterable[str] | None = None,
    *,
    like: str | None = None,
    regex: str | None = None,
    axis: int | str = 1,
) -> DataFrame:
    """See `DataFrame.filter`."""
    if sum(each is not None for each in (items, like, regex)) != 1:
        raise InvalidArgumentError("filter: expected exactly one of items, like and regex")
    rows = axis in (0, "index")
    known = frame.index.to_list() if rows else list(frame._nodes)
    if items is not None:
        names = [name for name in items if name in known]
    elif like is not None:
        names = [name for name in known if like in str(name)]
    else:
        assert regex is not None
        names = [name for name in known if re.search(regex, str(name))]
    return frame.loc[names] if rows else frame[names]


def select_dtypes(frame: DataFrame, include: Any = None, exclude: Any = None) -> DataFrame:
    """See `DataFrame.select_dtypes`."""
    if include is None and exclude is None:
        raise InvalidArgumentError("select_dtypes: pass include or exclude")

    def among(name: str, kinds: Any) -> bool:
        several = kinds if isinstance(kinds, list | tuple) else [kinds]
        return any(_is_of(frame[name], kind) for kind in several)

    names = [n for n in frame._nodes if include is None or among(n, include)]
    return frame[[n for n in names if exclude is None or not among(n, exclude)]]
