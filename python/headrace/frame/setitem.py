# SPDX-License-Identifier: Apache-2.0
"""Assignment to some rows of a frame: `loc`, `iloc` and boolean masks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from opcode import opmap
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.column_reductions import by_column
from headrace.frame.columns import frame_of, is_frame, new_frame
from headrace.frame.concat import rows_of
from headrace.frame.construct import columns_of_array, columns_of_rows, is_single, repeated
from headrace.lazy.handle import Deferred
from headrace.rows import by_position, is_missing, refuse_apart, unnamed
from headrace.series.column import is_series, new_series, series_of, series_over, with_rows_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


#: Opcodes of ``a[b] = c`` and ``a.b = c``; they hold one reference more than a method call.
_STORES = (opmap["STORE_SUBSCR"], opmap["STORE_ATTR"])


def is_temporary(references: int, value: Any) -> bool:
    """Whether only the running ``__setitem__`` holds a reference to a value."""
    if references > 3:
        return False
    caller = sys._getframe(2)
    least = 3 if caller.f_code.co_code[caller.f_lasti] in _STORES else 2
    if sys.version_info < (3, 14):
        return references <= least
    # Python borrows what variables hold without a reference.
    return references < least and not any(held is value for held in caller.f_locals.values())


def is_of_locator(references: int) -> bool:
    """Whether only the `loc` of a value holds a reference to it."""
    return references <= 2


def lost_assignment(key: Any) -> InvalidArgumentError:
    """The error for an assignment whose result would be lost."""
    word = f": key={key!r}" if isinstance(key, str | int) else ""
    return InvalidArgumentError(
        f"setitem: assignment to a temporary copy{word}; set rows and column in one "
        "step, df.loc[rows, 'name'] = value, or assign the copy to a variable first"
    )


class Picked(NamedTuple):
    """The rows of a frame selected by a key of `loc` or `iloc`."""

    #: True for these rows, never null.
    mask: Series
    #: Position of each row's value among the assigned values.
    source: Series
    #: The row set of these rows alone.
    domain: Callable[[], int]

    @classmethod
    def by_mask(cls, mask: Series, domain: Callable[[], int]) -> Picked:
        """Rows in the order of the frame, null as false; nothing runs."""
        mask = mask.fill_null(False)
        return cls(mask, mask.astype("int64").cumsum() - 1, domain)

    @classmethod
    def by_places(cls, frame: DataFrame, places: Any, domain: Callable[[], int]) -> Picked:
        """Rows at positions, in their order; for a repeated position the last value wins."""
        import numpy as np

        chosen, source = np.zeros(len(frame), bool), np.zeros(len(frame), np.int64)
        places = np.atleast_1d(places)
        chosen[places] = True
        source[places] = np.arange(len(places))
        mask, own = (new_series(frame._aligned(series_over(each))) for each in (chosen, source))
        return cls(mask, own, domain)

    def rows(self) -> int:
        """Number of rows; evaluates the mask."""
        return int(self.mask.sum())


def put_values(
    frame: DataFrame, names: list[str], single: bool, value: Any, picked: Picked | None
) -> None:
    """Set columns at the rows of `picked`, or at all rows; on an error the frame is unchanged."""
    made = new_frame(frame)
    for name, part in zip(names, [value] if single else _parts(names, value), strict=True):
        if picked is None:
            made[name] = part
            continue
        at_rows = _at_rows(name, part, picked)
        if name in made:
            made[name] = made[name].where(~picked.mask, at_rows)
        else:
            made[name] = _new_column(at_rows, picked.mask)
    frame._nodes, frame._labels = made._nodes, made._labels


def add_row(frame: DataFrame, label: Any, names: list[str], value: Any) -> None:
    """Append a row with a label that no row has; other columns than `names` are null."""
    parts = _parts(names, value) if len(names) > 1 or not is_single(value) else [value]
    row = new_frame({name: [part] for name, part in zip(names, parts, strict=True)})
    levels = list(frame._labels) or [unnamed(0, 1)]
    labels = list(label) if isinstance(label, tuple) else [label]
    if len(labels) != len(levels):
        raise InvalidArgumentError(f"loc: expected a label for each level: label={label!r}")
    made = new_frame({str(at): [each] for at, each in enumerate(labels)})
    row._labels = dict(zip(levels, made._nodes.values(), strict=True))
    counted = not frame._labels and label == len(frame)
    rows = frame
    if not frame._labels:
        numbers = frame._number_node()
        assert numbers is not None
        rows = frame_of(dict(frame._nodes), {levels[0]: numbers})
    joined = rows_of([rows, row])
    columns = {name: joined._nodes[name] for name in [*frame._nodes, *row._nodes]}
    whole = frame_of(columns, joined._labels)
    whole = whole.reset_index(drop=True) if counted else whole
    frame._nodes, frame._labels = whole._nodes, whole._labels


def _parts(names: list[str], value: Any) -> list[Any]:
    """The value for each column: by name from a mapping or frame, by position from a list."""
    value = by_column(value)
    if is_single(value) or isinstance(value, Deferred):
        return [value] * len(names)
    if is_frame(value) or isinstance(value, Mapping):
        for name in names:
            if name not in value:
                _core.no_such_column("loc", list(value.keys()), name)
        return [value[name] for name in names]
    if getattr(value, "ndim", 1) == 2:
        return list(columns_of_array(value, names).values())
    if len(value) and all(isinstance(row, list | tuple | Mapping) for row in value):
        return list(columns_of_rows(list(value), names).values())
    parts = list(value)
    if len(parts) != len(names):
        raise InvalidArgumentError(
            f"loc: number of values does not match the columns: expected={len(names)}, "
            f"got={len(parts)}"
        )
    return parts


def _at_rows(name: str, value: Any, picked: Picked) -> Any:
    """A single value as it is; one value per selected row as a column with them at these rows."""
    if is_single(value) or is_missing(value):
        return value
    column = value if is_series(value) else new_series(by_position(value))
    frame_rows, own = picked.mask._node, column._node
    if is_series(value):
        refuse_apart("loc", [frame_rows, own])
    if isinstance(value, Deferred) and _same_rows(own, frame_rows):
        return column
    if own.domain and own.domain == picked.domain():
        column = _never_empty(column)
    elif is_series(value) or (own.domain and frame_rows.domain):
        raise InvalidArgumentError(
            "loc: the values belong to other rows than the selected ones: "
            f"column={name!r}; select them with the same key, or pass to_numpy() to "
            "assign by position"
        )
    else:
        rows = picked.rows()
        if len(column) != rows:
            raise InvalidArgumentError(
                f"loc: expected one value for each selected row: column={name!r}, "
                f"expected={rows}, got={len(column)}"
            )
        if rows == 0:
            column = _never_empty(column)
    return with_rows_of(series_of(_core.take(column._node, picked.source._node)), frame_rows)


def _same_rows(own: _core.Node, rows: _core.Node) -> bool:
    """Whether a column covers all rows of the frame."""
    if own.domain:
        return own.domain == rows.domain
    return own.shape[0] == rows.shape[0] >= 0


def _never_empty(column: Series) -> Series:
    """Append a null, so that `take` has something to take when no row is selected."""
    null = new_series([None], dtype=str(column.dtype))
    parts = [new_frame({"value": series_of(each._node)}) for each in (column, null)]
    return rows_of(parts)["value"]


def _new_column(value: Any, mask: Series) -> Series:
    """A column with `value` where the mask is true, null elsewhere."""
    filled = value if is_series(value) else new_series(repeated(mask._node, value))
    return filled.where(mask)
