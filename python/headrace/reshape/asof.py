# SPDX-License-Identifier: Apache-2.0
"""As-of joins: rows of two frames by the nearest time, or number, before or after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import framed, is_frame
from headrace.lazy.handle import mark
from headrace.reshape.alignment import rows_apart
from headrace.series.column import series_of
from headrace.time_units import is_length, length_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def merge_ordered(
    left: DataFrame,
    right: DataFrame,
    on: str | list[str],
    how: str = "outer",
    fill_method: Literal["ffill"] | None = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
) -> DataFrame:
    """Join on equal keys in the order of the keys, and fill what has no match from above.

    >>> left, right = hr.DataFrame({"t": [1, 3], "a": [5, 6]}), hr.DataFrame({"t": [2], "b": [7]})
    >>> hr.merge_ordered(left, right, on="t", fill_method="ffill").to_dict()
    {'t': [1, 2, 3], 'a': [5, 5, 6], 'b': [None, 7, 7]}
    """
    made: DataFrame = left.merge(right, how, on=on, suffixes=suffixes)
    made = made.sort_values(on, ignore_index=True)
    return made if fill_method is None else made.ffill()


def merge_asof(
    left: DataFrame,
    right: DataFrame,
    on: str | None = None,
    left_on: str | None = None,
    right_on: str | None = None,
    left_index: bool = False,
    right_index: bool = False,
    by: str | list[str] | None = None,
    left_by: str | list[str] | None = None,
    right_by: str | list[str] | None = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
    tolerance: Any = None,
    allow_exact_matches: bool = True,
    direction: Literal["backward", "forward", "nearest"] = "backward",
) -> DataFrame:
    """Each row of `left` with the last row of `right` whose key is not greater.

    Parameters
    ----------
    left, right : DataFrame
        Both in the order of their keys.
    on, left_on, right_on : str
        The keys: numbers, times or durations.
    left_index, right_index : bool
        Whether the labels of that side are its key.
    by, left_by, right_by : str or list of str, optional
        Columns that must be equal; null is equal to null.
    suffixes : (str, str)
        Appended to names that both sides have.
    tolerance : number, str or timedelta, optional
        The most that keys may be apart, ``"2s"`` for times.
    allow_exact_matches : bool
        Whether an equal key matches.
    direction : {"backward", "forward", "nearest"}
        Whether a right row comes before, after, or where it is nearest.

    Returns
    -------
    DataFrame
        The rows of `left`, with null where no row matches.

    Raises
    ------
    InvalidArgumentError
        On evaluation for a key that is missing or out of order.

    >>> trades = hr.DataFrame({"time": [1, 5, 10], "price": [3.0, 4.0, 5.0]})
    >>> quotes = hr.DataFrame({"time": [2, 5, 7], "bid": [1, 2, 3]})
    >>> hr.merge_asof(trades, quotes, on="time").bid.to_list()
    [None, 2, 3]
    """
    mark("merge_asof")
    sides = [side if is_frame(side) else framed(side) for side in (left, right)]
    ours, theirs = sides
    left_key = _key(ours, "left", on, left_on, left_index)
    right_key = _key(theirs, "right", on, right_on, right_index)
    pairs = _pairs(by, left_by, right_by)
    nodes: tuple[Any, Any, list[Any], list[Any]] = (
        ours._labels[left_key] if left_index else ours._key(left_key),
        theirs._labels[right_key] if right_index else theirs._key(right_key),
        [ours[one]._node for one, _ in pairs],
        [theirs[other]._node for _, other in pairs],
    )
    number, span = _tolerance(tolerance, series_of(nodes[0]).dtype)
    rows = _core.asof_rows(*nodes, direction, allow_exact_matches, number, span)
    gone = {other for one, other in pairs if one == other}
    if right_index or left_key == right_key:
        gone.add(right_key)
    taken = [name for name in theirs._nodes if name not in gone]
    made = {}
    for name in ours._nodes:
        word = name + (suffixes[0] or "") if name in taken else name
        made[word] = series_of(ours._nodes[name])
    for name in taken:
        word = name + (suffixes[1] or "") if name in ours._nodes else name
        if word in made:
            raise InvalidArgumentError(
                f"merge_asof: duplicate column name in the result: name={word!r}; pass suffixes="
            )
        made[word] = series_of(_core.asof_values(theirs._nodes[name], rows))
    labels = ours._labels if left_index else {}
    return rows_apart(made, {name: series_of(node) for name, node in labels.items()})


def _key(frame: DataFrame, side: str, on: Any, own: Any, index: bool) -> Any:
    if index:
        if on is not None or own is not None or len(frame._labels) != 1:
            raise InvalidArgumentError(
                f"merge_asof: {side}_index=True needs one label level and no key: "
                f"labels={list(frame._labels)}"
            )
        return next(iter(frame._labels))
    name = on if own is None else own
    if (on is None) == (own is None) or not isinstance(name, str):
        raise InvalidArgumentError(
            f"merge_asof: expected one key of each side, as on= or {side}_on=: on={on!r}, "
            f"{side}_on={own!r}"
        )
    return name if name in frame._labels else frame._find(name)


def _pairs(by: Any, left_by: Any, right_by: Any) -> list[tuple[str, str]]:
    if by is not None and (left_by is not None or right_by is not None):
        raise InvalidArgumentError("merge_asof: got by together with left_by or right_by")
    sides = [by, by] if by is not None else [left_by, right_by]
    one, other = ([] if s is None else [s] if isinstance(s, str) else list(s) for s in sides)
    if len(one) != len(other):
        raise InvalidArgumentError(
            f"merge_asof: the sides have different numbers of keys: left_by={one}, right_by={other}"
        )
    return list(zip(one, other, strict=True))


def _tolerance(tolerance: Any, dtype: Any) -> tuple[float | None, int | None]:
    """A distance of numbers, or nanoseconds of times."""
    if tolerance is None:
        return None, None
    is_timed = str(dtype).startswith(("date", "timedelta"))
    if is_timed != (isinstance(tolerance, str) or is_length(tolerance)):
        raise TypeMismatchError(
            f"merge_asof: the tolerance does not fit the keys: tolerance={tolerance!r}, "
            f"dtype={str(dtype)!r}; pass a length of time for times, a number for numbers"
        )
    span = length_of("merge_asof", tolerance) if is_timed else None
    number = None if is_timed else float(tolerance)
    if (span or number or 0) < 0:
        raise InvalidArgumentError(f"merge_asof: the tolerance is negative: tolerance={tolerance}")
    return number, span
