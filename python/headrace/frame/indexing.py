# SPDX-License-Identifier: Apache-2.0
"""Selection by label and by position: `loc` and `iloc`."""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeGuard

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import PickedNumbers, frame_of, new_frame
from headrace.frame.names import masked_names
from headrace.frame.setitem import Picked, add_row, is_of_locator, lost_assignment, put_values
from headrace.lazy.advice import value_by_value
from headrace.lazy.handle import Deferred, is_array, mark
from headrace.rows import Row, are_picked, is_missing, is_ready, same_rows, whole_number
from headrace.series.column import is_series, new_series, series_of, series_over, single_value
from headrace.series.datetime import is_time
from headrace.series.partial_dates import (
    before_end,
    equal_to,
    is_beyond,
    is_partial,
    time_span,
    within,
)
from headrace.series.strings import is_text, plain

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.index import RowNumber
    from headrace.series.series import Series

_SHOWN = 5


def positions(rows: int) -> Series:
    """0, 1, 2, ..., the default labels."""
    import numpy as np

    return series_over(np.arange(rows), "index")


def counts_rows(key: Any) -> TypeGuard[RowNumber]:
    """Whether these are row numbers, which are valid for the rows of one row set alone."""
    return isinstance(key, Deferred) and hasattr(key, "_domain")


def refuse_numbers(op: str, key: Any, domain: int) -> None:
    """Raise for labels of filtered or sorted rows, which have none."""
    if not domain & _core.PICKED_ROWS or counts_rows(key):
        return
    if (isinstance(key, slice) and key.start is None is key.stop) or is_mask(key):
        return
    words = "" if key is None else f": label={key!r}"
    raise InvalidArgumentError(
        f"{op}: filtered or sorted rows have no labels{words}; use iloc or a mask, "
        "set labels with set_index, or renumber the rows with reset_index(drop=True)"
    )


def check_row_numbers(op: str, key: Any, domain: int) -> None:
    """Raise for the index of another row set."""
    are_moved = is_array(key) and counts_rows(key) and (key._domain | domain) & _core.PICKED_ROWS
    if are_moved and key._domain != domain:
        raise InvalidArgumentError(
            f"{op}: the row number belongs to other rows, which were filtered or sorted; "
            "use it on the same rows, or set labels first with set_index"
        )
    refuse_numbers(op, key, domain)
    own = key._domain if is_series(key) and counts_rows(key) else domain
    if domain and own != domain:
        raise InvalidArgumentError(
            f"{op}: the index belongs to other rows: rows={len(key)}; filtered or sorted "
            "rows without labels are numbered from 0 again; use a mask, or set labels "
            "first with set_index"
        )


def _no_label(op: str, wanted: Any, labels: Iterable[str], fix: str = "") -> ColumnNotFoundError:
    names = ", ".join(labels) or "the row positions"
    return ColumnNotFoundError(
        f"{op}: no such label: label={wanted!r}; the labels are {names}{fix}"
    )


def is_mask(key: Any) -> bool:
    """Whether this is a boolean column, array or list."""
    if isinstance(key, Deferred) or hasattr(key, "__array_interface__"):
        return str(key.dtype) == "bool"
    return isinstance(key, list) and bool(key) and all(isinstance(each, bool) for each in key)


def is_several(key: Any) -> bool:
    """Whether this is a list of labels or positions."""
    return isinstance(key, list | range) or bool(getattr(key, "ndim", 0))


def one_label(key: Any) -> Any:
    """The label in a one-element array, such as a result of `idxmax`, which is evaluated."""
    one: Any = key
    return one.item() if isinstance(key, Deferred) and not is_several(key) else key


def _equal(label: Series, key: Any) -> Series:
    """The rows with a label, or within the time span of a partial date."""
    found: Series
    if is_missing(key):
        found = label.isna()
    elif isinstance(key, str) and is_time(label):
        found = within(label, key) if is_partial(label, key) else equal_to(label, key)
    else:
        found = label == key
    return found


def domain_of(frame: DataFrame) -> int:
    """The row set of a frame; 0 if it has no columns."""
    return next((node.domain for node in frame._every()), 0)


def _row_of(frame: DataFrame) -> Row:
    ((label, row),) = rows_of_frame(frame)
    return Row(row, label)


def _ready_row(frame: DataFrame, row: int) -> Row | None:
    """The row of columns that have their values, without a frame of it in between; else None."""
    nodes = frame._nodes
    if frame._labels or not nodes or isinstance(frame._labels, PickedNumbers):
        return None
    if not all(is_ready(node, row) and not are_picked(node) for node in nodes.values()):
        return None
    values = {name: node.row(row) for name, node in nodes.items()}
    for name, value in values.items():
        if value is None and DType(nodes[name].dtype).is_of("biuf"):
            values[name] = math.nan
    return Row(values, row % next(iter(nodes.values())).shape[0])


def lists_of_columns(frame: DataFrame) -> list[list[Any]]:
    """The values of each column, evaluated together; a missing number is NaN."""
    _core.force(frame._every())
    lists = []
    for node in frame._nodes.values():
        values = series_of(node).to_list()
        if node.nullable and DType(node.dtype).is_of("biuf"):
            values = [math.nan if value is None else value for value in values]
        lists.append(values)
    return lists


def rows_of_frame(frame: DataFrame) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The label and the values by name of each row; a missing number is NaN."""
    lists = lists_of_columns(frame)
    names = list(frame._nodes)
    for label, row in zip(frame._label_list(), zip(*lists, strict=True), strict=True):
        yield label, dict(zip(names, row, strict=True))


def _beyond(labels: list[Series], end: Any, test: Callable[[Any, Any], Series]) -> Series:
    """The rows whose labels, level by level, are beyond an end of a slice, or equal it."""
    first, *rest = end if isinstance(end, tuple) else (end,)
    equal = labels[0] == first
    inner = equal & _beyond(labels[1:], tuple(rest), test) if rest else equal
    return test(labels[0], first) | inner


def is_name(frame: DataFrame, columns: Any) -> bool:
    """Whether this is the name of one column, which may be a tuple or a number."""
    if isinstance(columns, str):
        return True
    return isinstance(columns, tuple | int) and columns in frame._nodes


class Locator:
    """``frame.loc``: rows by label or mask, then columns by name."""

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    # ---- the parts of a key ----------------------------------------------------------------------
    def _halves(self, key: Any) -> tuple[Any, Any]:
        labels = len(self._frame._labels)
        if not isinstance(key, tuple):
            return key, None
        if labels > 1 and not (len(key) == 2 and (isinstance(key[0], tuple | slice | list))):
            if len(key) == 2 and (is_mask(key[0]) or self._is_column(key[1])):
                return key
            if len(key) == 2 and isinstance(key[1], list | slice):
                return key
            return key, None
        if len(key) != 2:
            raise InvalidArgumentError(f"loc: expected rows and columns: key={key!r}")
        return key

    def _is_column(self, word: Any) -> bool:
        """Whether the second of two words is a column and no label of the second level."""
        if not is_name(self._frame, word) or word not in self._frame._nodes:
            return False
        level = self._label_columns()[1]
        return not is_text(level) or not bool((level == word).any().item())

    def _names(self, columns: Any) -> list[str]:
        frame = self._frame
        if columns is None:
            return frame.columns
        if isinstance(columns, slice):
            names = frame.columns
            first = 0 if columns.start is None else names.index(frame._find(columns.start))
            last = (
                len(names) if columns.stop is None else names.index(frame._find(columns.stop)) + 1
            )
            return names[first : last : columns.step]
        kept = masked_names(columns, frame.columns)
        return [frame._find(name) for name in (columns if kept is None else kept)]

    # ---- rows ------------------------------------------------------------------------------------
    def _slice_mask(self, key: slice) -> Series | None:
        """The rows whose label is within the slice; None for all rows."""
        if key.step not in (None, 1):
            if not isinstance(key.step, int) or key.step < 1:
                raise InvalidArgumentError(f"loc: expected a positive step: step={key.step!r}")
            within = self._slice_mask(slice(key.start, key.stop))
            if within is None:
                frame = self._frame
                return new_series(frame._aligned(positions(len(frame)))) % key.step == 0
            return within & ((within.cumsum() - 1) % key.step == 0)
        if key.start is None and key.stop is None:
            return None
        labels = self._label_columns()
        if len(labels) > 1:
            ends = [] if key.start is None else [_beyond(labels, key.start, operator.gt)]
            ends += [] if key.stop is None else [_beyond(labels, key.stop, operator.lt)]
            return functools.reduce(operator.and_, ends)
        (label,) = labels
        if (placed := self._between_places(label, key)) is not None:
            return placed
        ends = []
        if key.start is not None:
            partial = is_time(label) and isinstance(key.start, str)
            ends.append(label >= (time_span(key.start, label).first if partial else key.start))
        if key.stop is not None:
            partial = is_time(label) and isinstance(key.stop, str)
            span = time_span(key.stop, label) if partial else None
            ends.append(label <= key.stop if span is None else before_end(label, span))
        return functools.reduce(operator.and_, ends)

    def _between_places(self, label: Series, key: slice) -> Series | None:
        """The rows from one label to another that each occur once, if labels are out of order."""
        given = [end for end in (key.start, key.stop) if end is not None]
        spans = is_time(label) and any(isinstance(end, str) for end in given)
        if spans or label.is_monotonic_increasing:
            return None
        found = [(label == end).fill_null(False).to_numpy().nonzero()[0].tolist() for end in given]
        if any(len(each) != 1 for each in found):
            return None
        at = new_series(self._frame._aligned(positions(len(label))))
        first = 0 if key.start is None else found[0][0]
        return at >= first if key.stop is None else (at >= first) & (at <= found[-1][0])

    def _label_columns(self) -> list[Series]:
        frame = self._frame
        if frame._labels:
            return [series_of(node, name) for name, node in frame._labels.items()]
        return [new_series(frame._aligned(positions(len(frame))), "index")]

    def _equal_mask(self, key: Any) -> Series:
        """The rows with this label, or with these leading labels."""
        wanted = key if isinstance(key, tuple) else (key,)
        labels = self._label_columns()
        if len(wanted) > len(labels):
            raise InvalidArgumentError(
                f"loc: too many labels: key={key!r}, labels={list(self._frame._labels)}"
            )
        tests = [
            label.isin(each) if isinstance(each, list) else _equal(label, each)
            for label, each in zip(labels, wanted, strict=False)
            if not isinstance(each, slice) or each != slice(None)
        ]
        return functools.reduce(operator.and_, tests)

    def _partial_times(self, key: Any) -> list[tuple[Series, str]]:
        """The time labels and the partial dates in a key."""
        wanted = key if isinstance(key, tuple) else (key,)
        pairs = zip(self._label_columns(), wanted, strict=False)
        return [(label, each) for label, each in pairs if is_partial(label, each)]

    def _places(self, key: Any) -> Any:
        """The positions of the rows with these labels, in the order of `key`; all must exist."""
        labels = self._label_columns()
        several = len(labels) > 1
        wanted = list(zip(*key, strict=True)) if several else [key]
        if several and len(wanted) != len(labels):
            raise InvalidArgumentError(
                f"loc: expected tuples with a value for each label level: key={key!r}"
            )
        names = [f"label {i}" for i in range(len(labels))]
        left = new_frame(
            {
                n: new_series(list(w) if isinstance(w, tuple | range) else w)
                for n, w in zip(names, wanted, strict=True)
            }
        )
        if len(left) == 0:
            return []
        right = new_frame({n: plain(label) for n, label in zip(names, labels, strict=True)})
        right["place"] = new_series(right._aligned(positions(len(right))))
        found = left.merge(right, on=names, how="left")
        absent = found[found.place.is_null()]
        if len(absent):
            values = list(zip(*absent[names].to_dict().values(), strict=True))[:_SHOWN]
            shown = values if several else [value for (value,) in values]
            raise _no_label("loc", shown, self._frame._labels)
        return found.place.to_numpy()

    def _rows(self, key: Any) -> tuple[DataFrame, bool]:
        """The rows, and whether a single label was given."""
        frame = self._frame
        if isinstance(key, slice):
            if not frame._labels and key.start is None and key.stop is None:
                return frame[key], False
            if not frame._labels and key.step is None and key.stop is not None and key.stop >= 0:
                return frame[key.start : key.stop + 1], False
            mask = self._slice_mask(key)
            return (frame if mask is None else frame[mask]), False
        if is_mask(key):
            return frame[key], False
        if is_several(key):
            import numpy as np

            parts = not isinstance(key, Deferred) and not any(isinstance(k, tuple) for k in key)
            if len(frame._labels) > 1 and parts:
                return frame[self._label_columns()[0].isin(list(key))], False
            return frame[np.asarray(self._places(key), np.int64)], False
        if not frame._labels:
            row = operator.index(key) if hasattr(key, "__index__") else -1
            if not 0 <= row < len(frame):
                raise _no_label("loc", key, [])
            return frame[row : row + 1], True
        found = frame[self._equal_mask(key)]
        if isinstance(key, tuple) and any(isinstance(each, slice | list) for each in key):
            return found, False
        spans = self._partial_times(key)
        if len(found) == 0 and (not spans or any(is_beyond(*span) for span in spans)):
            raise _no_label("loc", key, frame._labels)
        wanted, levels = len(key) if isinstance(key, tuple) else 1, list(found._labels.items())
        if wanted < len(levels):
            return frame_of(found._nodes, dict(levels[wanted:])), False
        return found, len(found) == 1 and not spans

    def __getitem__(self, key: Any) -> Any:
        """Rows by label, list of labels, label slice (both ends included) or mask."""
        mark("loc")
        return self.pick(*self._halves(key))

    def pick(self, rows: Any, columns: Any) -> Any:
        """The rows and columns selected by the two parts of a key."""
        frame = self._frame
        if type(rows) is int and type(columns) is str and not frame._labels and rows >= 0:
            node = frame._nodes.get(columns)
            if node is not None and is_ready(node, rows) and not are_picked(node):
                value_by_value("loc")
                return single_value(node.row(rows))
        is_number = type(rows) is int and columns is None and rows >= 0
        if is_number and (row := _ready_row(frame, rows)) is not None:
            value_by_value("loc")
            return row
        rows = rows(frame) if callable(rows) else rows
        frame = self._at_numbers(rows)
        found, single = self._rows(one_label(rows))
        if single:
            value_by_value("loc")
        if is_name(frame, columns):
            series = found[columns]
            return single_value(series.to_list()[0]) if single else series
        picked = found if columns is None else found[self._names(columns)]
        return _row_of(picked) if single else picked

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to some rows: ``frame.loc[frame.x > 3, "y"] = 0``; other rows are unchanged."""
        mark("loc")
        if is_of_locator(sys.getrefcount(self._frame)):
            raise lost_assignment(key)
        frame = self._frame
        rows, columns = self._halves(key)
        if callable(rows):
            rows = rows(frame)
        single = isinstance(columns, str) or is_name(frame, columns)
        names = [columns] if single else self._names(columns)
        self._at_numbers(rows)
        label = one_label(rows)
        if self._is_new(label):
            add_row(frame, label, names, value)
        else:
            put_values(frame, names, single, value, self._picked(label))

    def _at_numbers(self, rows: Any) -> DataFrame:
        """Take the numbers of selected rows as labels if a key needs them."""
        whole = isinstance(rows, slice) and rows.start is None is rows.stop
        if not (whole or is_mask(rows) or counts_rows(rows)):
            self._frame = self._frame._numbered()
        if not self._frame._labels:
            check_row_numbers("loc", rows, domain_of(self._frame))
        return self._frame

    def _is_new(self, label: Any) -> bool:
        """Whether this is a single label that no row has."""
        if isinstance(label, slice) or is_mask(label) or is_several(label) or counts_rows(label):
            return False
        if self._partial_times(label):
            return False
        return not bool(self._equal_mask(label).any().item())

    def _picked(self, rows: Any) -> Picked | None:
        """The selected rows; None for all."""
        frame = self._frame

        def domain() -> int:
            return domain_of(self._rows(rows)[0])

        if isinstance(rows, slice):
            mask = self._slice_mask(rows)
            return None if mask is None else Picked.by_mask(mask, domain)
        if is_mask(rows):
            if is_series(rows):
                frame._refuse_free("loc", rows._node)
            node = frame._aligned(new_series(rows))
            return Picked.by_mask(series_of(node), domain)
        if is_several(rows):
            return Picked.by_places(frame, self._places(rows), domain)
        return Picked.by_mask(self._equal_mask(rows), domain)


def row_slice(frame: DataFrame, rows: slice) -> DataFrame | None:
    """The rows of a slice of positions, shared; None for labels, and for steps other than one."""
    if isinstance(rows.stop or rows.start, str) or rows.step not in (None, 1):
        return None
    nodes = frame._every()
    begin, stop, _ = rows.indices(frame._rows())
    count = stop - begin if stop > begin else 0
    domain = same_rows(nodes[0] if nodes else None, rows)

    def pick(node: _core.Node) -> _core.Node:
        return _core.slice_columns([node], begin, count, domain)[0]

    return frame._of_rows(_core.slice_columns(nodes, begin, count, domain), pick)


class PositionLocator:
    """``frame.iloc``: rows and columns by position."""

    __slots__ = ("_frame",)

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def __getitem__(self, key: Any) -> Any:
        """One row by position, or rows by a slice, a list or a mask; then columns likewise."""
        mark("iloc")
        frame = self._frame
        if type(key) is slice:
            made = row_slice(frame, key)
            return frame[key] if made is None else made
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if type(rows) is type(columns) is int and -len(frame._nodes) <= columns < len(frame._nodes):
            node = list(frame._nodes.values())[columns]
            if is_ready(node, rows):
                value_by_value("iloc")
                return single_value(node.row(rows))
        if type(key) is int and (ready := _ready_row(frame, key)) is not None:
            value_by_value("iloc")
            return ready
        if callable(rows):
            rows = rows(frame)
        if isinstance(key, tuple):
            picked, single = self._names(columns)
            frame = frame[picked]
        else:
            picked, single = [], False
        found = self._rows(frame, rows)
        if not isinstance(rows, slice) and not is_several(rows):
            value_by_value("iloc")
            row = _row_of(found)
            return row[picked[0]] if single else row
        return found[picked[0]] if single else found

    def __setitem__(self, key: Any, value: Any) -> None:
        """Assign to some rows by position: ``frame.iloc[0, 2] = 5``; other rows are unchanged."""
        import numpy as np

        mark("iloc")
        if is_of_locator(sys.getrefcount(self._frame)):
            raise lost_assignment(key)
        frame = self._frame
        rows, columns = key if isinstance(key, tuple) else (key, None)
        if callable(rows):
            rows = rows(frame)
        names, single = self._names(slice(None) if columns is None else columns)
        at = np.asarray(rows) if is_several(rows) else rows
        if not isinstance(rows, slice) and not is_several(rows):
            at = whole_number("iloc", "row", rows)
        try:
            places = np.arange(len(frame))[at]
        except IndexError:
            raise IndexError(f"iloc: row out of range: row={rows}, rows={len(frame)}") from None
        picked = Picked.by_places(frame, places, lambda: domain_of(self._rows(frame, rows)))
        put_values(frame, names, single, value, picked)

    def _names(self, columns: Any) -> tuple[list[str], bool]:
        """The column names, and whether a single position was given."""
        names = self._frame.columns
        if isinstance(columns, slice):
            return names[columns], False
        single = not is_several(columns)
        wanted = [columns] if single else columns
        if is_mask(columns):
            wanted = [at for at, each in enumerate(columns) if each]
        places = [whole_number("iloc", "column", each) for each in wanted]
        for at in places:
            if not -len(names) <= at < len(names):
                raise IndexError(f"iloc: column out of range: column={at}, columns={len(names)}")
        return [names[at] for at in places], single

    def _rows(self, frame: Any, rows: Any) -> DataFrame:
        """Rows of a frame by a slice, a mask, a list or a single position."""
        if isinstance(rows, slice) or is_mask(rows):
            key = rows
        elif is_several(rows):
            key = self._checked(rows)
            nodes = frame._every()
            if nodes and (place := _core.place_ahead(nodes[0])) != "host":
                from headrace.array.construct import asarray

                key = asarray(key).to(place)
        else:
            at, length = whole_number("iloc", "row", rows), len(frame)
            if not -length <= at < length:
                raise IndexError(f"iloc: row out of range: row={at}, rows={length}")
            key = slice(at % length, at % length + 1)
        return frame[key]

    def _checked(self, rows: Any) -> Any:
        import numpy as np

        at, length = np.asarray(rows), len(self._frame)
        if at.size and at.dtype.kind not in "iu":
            raise TypeMismatchError(f"iloc: expected integer positions: dtype={str(at.dtype)!r}")
        at = at.astype(np.int64)
        if at.size and not (-length <= at.min() and at.max() < length):
            wrong = at[(at < -length) | (at >= length)].ravel()[0]
            raise IndexError(f"iloc: row out of range: row={wrong}, rows={length}")
        return np.where(at < 0, at + length, at)
