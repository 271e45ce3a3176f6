# SPDX-License-Identifier: Apache-2.0
"""Two frames matched by label: `update`, and `compare` of what differs."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

from headrace.errors import InvalidArgumentError
from headrace.frame.columns import frame_of, framed, is_frame, new_frame
from headrace.frame.concat import concat
from headrace.frame.in_place import made_or_rebound
from headrace.lazy.handle import mark
from headrace.reshape.alignment import at_labels
from headrace.series.column import is_series, new_series, series_of, with_rows_of
from headrace.series.strings import plain

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def _updated(own: Series, other: Series, overwrite: bool) -> Series:
    new = other if overwrite else own.combine_first(other)
    made: Series = new.where(new.notna(), own)
    whole = own.dtype.kind in "iu" and made.dtype.kind == "f"
    return made.astype(own.dtype) if whole and (new.isna() | (new % 1 == 0)).all() else made


def update(frame: DataFrame, other: Any, overwrite: bool, errors: str) -> None:
    """See `DataFrame.update`."""
    mark("update")
    if errors not in ("ignore", "raise"):
        raise InvalidArgumentError(
            f"update: invalid value: errors={errors!r}; expected 'ignore' or 'raise'"
        )
    given = other if is_frame(other) else framed(other) if is_series(other) else new_frame(other)
    names = [name for name in frame._nodes if name in given._nodes]
    beside = {n: series_of(at_labels(frame, given._series(n))) for n in names}
    if errors == "raise" and any((frame[n].notna() & beside[n].notna()).any() for n in names):
        raise InvalidArgumentError(f"update: both frames have values in a row: columns={names}")
    made = {n: _updated(frame._series(n), beside[n], overwrite)._node for n in names}
    made_or_rebound(frame, frame_of({**frame._nodes, **made}, frame._labels), True)


def update_series(series: Series, other: Any) -> None:
    """See `Series.update`."""
    own = framed(series)
    name = next(iter(own._nodes))
    given = framed(other if is_series(other) else new_series(other))
    update(own, frame_of({name: next(iter(given._nodes.values()))}, given._labels), True, "ignore")
    made = series._like(own._nodes[name])
    made_or_rebound(series, made, True)


def _sides(own: Series, other: Series) -> tuple[Series, Series]:
    return plain(own), plain(with_rows_of(other, own._node))


def _same_labels(frame: DataFrame, other: DataFrame) -> bool:
    return (
        frame.columns == other.columns
        and len(frame) == len(other)
        and frame.index.to_list() == other.index.to_list()
    )


def compare(
    frame: DataFrame,
    other: Any,
    align_axis: int | str,
    keep_shape: bool,
    keep_equal: bool,
    names: tuple[str, str],
) -> DataFrame:
    """See `DataFrame.compare`."""
    mark("compare")
    if not is_frame(other) or not _same_labels(frame, other):
        raise InvalidArgumentError(
            "compare: expected frames with the same labels and column names; use align first"
        )
    sides = {n: _sides(series_of(v), series_of(other._nodes[n])) for n, v in frame._nodes.items()}
    differ = {n: (a != b) & ~(a.isna() & b.isna()) for n, (a, b) in sides.items()}
    if not keep_shape:
        differ = {n: each for n, each in differ.items() if each.any()}
    shown = {
        n: [(each if keep_equal else each.where(differ[n]))._node for each in sides[n]]
        for n in differ
    }
    down = align_axis in (0, "index")
    parts = [
        frame_of(
            {(n if down else (n, names[side])): nodes[side] for n, nodes in shown.items()},
            frame._labels,
        )
        for side in (0, 1)
    ]
    if not keep_shape and differ:
        some = functools.reduce(operator.or_, differ.values())
        parts = [part[some] for part in parts]
    if down:
        both = concat(parts, keys=list(names))
        rows = len(parts[0])
        both = both.iloc[[at + side * rows for at in range(rows) for side in (0, 1)]]
        return both.swaplevel(0, len(both._labels) - 1)
    ordered = {key: part._nodes[key] for n in shown for part, key in _keys(parts, n, names)}
    return frame_of(ordered, parts[0]._labels)


def _keys(parts: list[DataFrame], name: Any, names: tuple[str, str]) -> list[tuple[Any, Any]]:
    return [(part, (name, side)) for part, side in zip(parts, names, strict=True)]


def compare_series(
    series: Series,
    other: Any,
    align_axis: int | str,
    keep_shape: bool,
    keep_equal: bool,
    names: tuple[str, str],
) -> Any:
    """See `Series.compare`."""
    if not is_series(other):
        raise InvalidArgumentError(f"compare: expected a series: type={type(other).__name__!r}")
    own, theirs = (each.to_frame("value") for each in (series, other))
    made = compare(own, theirs, align_axis, True, keep_equal, names)
    if align_axis in (0, "index"):
        return (made if keep_shape else made.dropna())["value"]
    made = frame_of(dict(zip(names, made._nodes.values(), strict=True)), made._labels)
    if keep_shape:
        return made
    a, b = _sides(series_of(own._nodes["value"]), series_of(theirs._nodes["value"]))
    return made[(a != b) & ~(a.isna() & b.isna())]
