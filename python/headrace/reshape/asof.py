# SPDX-License-Identifier: Apache-2.0
"""Joins of ordered rows: by the nearest time, or number, before or after; filled downwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, framed, is_frame
from headrace.frame.concat import concat
from headrace.frame.indexing import positions
from headrace.lazy.handle import mark
from headrace.reshape.alignment import rows_apart, taken_or_missing
from headrace.series.column import series_of
from headrace.time_units import is_length, length_of

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: Names of the positions of rows, besides keys.
_LEFT, _RIGHT = " left", " right"


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


def merge_ordered(
    left: DataFrame,
    right: DataFrame,
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    fill_method: Literal["ffill"] | None = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
    how: Literal["left", "right", "outer", "inner"] = "outer",
) -> DataFrame:
    """Join two frames and sort the rows by key; evaluates.

    Parameters
    ----------
    on, left_on, right_on : str or list of str, optional
        The keys; by default the columns that both sides have.
    left_by, right_by : str or list of str, optional
        Columns of one side: each of their groups is joined with the whole other side.
    fill_method : "ffill", optional
        Fill rows without a match from the row before.
    suffixes : (str, str)
        Appended to names that both sides have.
    how : {"outer", "inner", "left", "right"}
        Which keys are kept.

    Examples
    --------
    >>> prices = hr.DataFrame({"day": [1, 3], "price": [10, 12]})
    >>> events = hr.DataFrame({"day": [2], "note": ["x"]})
    >>> hr.merge_ordered(prices, events, fill_method="ffill").to_dict()
    {'day': [1, 2, 3], 'price': [10, 10, 12], 'note': [None, 'x', 'x']}
    """
    mark("merge_ordered")
    if fill_method not in (None, "ffill"):
        raise InvalidArgumentError(
            f"merge_ordered: invalid value: fill_method={fill_method!r}; expected 'ffill' or None"
        )
    if left_by is not None or right_by is not None:
        if left_by is not None and right_by is not None:
            raise InvalidArgumentError("merge_ordered: pass only one of left_by and right_by")
        split = left if right_by is None else right
        by = left_by if right_by is None else right_by
        by = [by] if isinstance(by, str) else list(by)
        if on is None and left_on is None:
            on = [n for n in left.columns if n in right.columns and n not in by]
        pieces = []
        for key, part in split.groupby(by, sort=False):
            sides = (part, right) if right_by is None else (left, part)
            words = (on, left_on, right_on, None, None, fill_method, suffixes, how)
            piece = merge_ordered(sides[0], sides[1], *words)
            pieces.append(piece.assign(**dict(zip(by, key, strict=True))))
        return concat(pieces, ignore_index=True)
    keys = [left_on, right_on] if on is None else [on, on]
    if keys == [None, None]:
        keys = [[n for n in left.columns if n in right.columns]] * 2
    mine, other = ([each] if isinstance(each, str) else list(each) for each in keys)
    left, right = (side.reset_index(drop=True) for side in (left, right))
    places = [
        frame_of({n: side._nodes[key] for n, key in zip(mine, own, strict=True)}).assign(
            **{word: positions(len(side))}
        )
        for side, own, word in ((left, mine, _LEFT), (right, other, _RIGHT))
    ]
    both = places[0].merge(places[1], how=how, on=mine).sort_values(mine).reset_index(drop=True)
    found = (both[word].ffill() if fill_method else both[word] for word in (_LEFT, _RIGHT))
    rows = [each.fill_null(-1).to_numpy() for each in found]
    keyed = set(mine) & set(other)
    shared = {n for n in left._nodes if n in right._nodes} - keyed
    made: dict[Any, Series] = {}
    for side, places_of, suffix in zip((left, right), rows, suffixes, strict=True):
        for name, node in side._nodes.items():
            if name in keyed:
                made.setdefault(name, both[name])
            else:
                word = f"{name}{suffix or ''}" if name in shared else name
                made[word] = taken_or_missing(node, places_of)
    return rows_apart(made)
