# SPDX-License-Identifier: Apache-2.0
"""Joins: match rows of two frames by equal keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, frame_of_parts, is_frame
from headrace.lazy.handle import mark
from headrace.rows import engine_names, unnamed
from headrace.series.column import is_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series

#: Which sides must have unique keys.
_UNIQUE = {
    "1:1": (True, True),
    "1:m": (True, False),
    "m:1": (False, True),
    "m:m": (False, False),
    "one_to_one": (True, True),
    "one_to_many": (True, False),
    "many_to_one": (False, True),
    "many_to_many": (False, False),
}
_LEFT_ONLY = ("semi", "anti")

Key = tuple[str | None, _core.Node]


def _keys(frame: DataFrame, keys: Any, option: str) -> list[Key]:
    """Name and node of each key; the name is None for a series that is not a column."""
    found: list[Key] = []
    for key in keys if isinstance(keys, list | tuple) else [keys]:
        if isinstance(key, str):
            found.append((key, frame._key(key)))
        elif is_series(key):
            found.append((None, key._node))
        else:
            raise TypeMismatchError(
                f"merge: expected a column name or a series as key: {option}={type(key).__name__!r}"
            )
    return found


def _both_keys(
    left: DataFrame, right: DataFrame, on: Any, left_on: Any, right_on: Any
) -> tuple[list[Key], list[Key]]:
    if on is None and left_on is None and right_on is None:
        on = [name for name in left.columns if name in right]
        if not on:
            raise InvalidArgumentError(
                "merge: the frames have no column name in common: "
                f"left={left.columns}, right={right.columns}; pass left_on and right_on"
            )
    if on is not None and (left_on is not None or right_on is not None):
        raise InvalidArgumentError(
            "merge: got on together with left_on or right_on; pass one or the other"
        )
    if on is not None:
        left_on = right_on = on
    if left_on is None or right_on is None:
        raise InvalidArgumentError("merge: left_on and right_on must be passed together")
    left_keys, right_keys = _keys(left, left_on, "left_on"), _keys(right, right_on, "right_on")
    if len(left_keys) != len(right_keys) or not left_keys:
        raise InvalidArgumentError(
            f"merge: the sides have different numbers of keys: left={len(left_keys)}, "
            f"right={len(right_keys)}"
        )
    return left_keys, right_keys


def merge(
    left: DataFrame,
    right: DataFrame | Series,
    how: str = "inner",
    on: str | list[str] | None = None,
    left_on: Any = None,
    right_on: Any = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
    indicator: bool | str = False,
    validate: str | None = None,
    left_index: bool = False,
    right_index: bool = False,
    sort: bool = False,
) -> DataFrame:
    """Join the rows of two frames on equal keys: ``left.merge(right, ...)``.

    Parameters
    ----------
    left : DataFrame
        The frame whose rows come first. All else is in `DataFrame.merge`.

    >>> loans = hr.DataFrame({"id": [1, 2, 2], "paid": [5.0, 6.0, 7.0]})
    >>> people = hr.DataFrame({"id": [2, 1], "name": ["Bo", "Al"]})
    >>> hr.merge(loans, people, on="id").to_dict()
    {'id': [1, 2, 2], 'paid': [5.0, 6.0, 7.0], 'name': ['Al', 'Bo', 'Bo']}
    """
    mark("merge")
    left, right = (each.to_frame() if is_series(each) else each for each in (left, right))
    if not is_frame(right):
        raise TypeMismatchError(f"merge: expected a frame: right={type(right).__name__!r}")
    if left._any_node() is None or right._any_node() is None:
        raise InvalidArgumentError("merge: a frame has no columns: columns=0")
    if how != "cross" and _are_labels(left, right, on or left_on, on or right_on):
        left_index = right_index = True
    if left_index or right_index:
        options = (how, suffixes, indicator, validate, sort)
        return _by_labels(left, right, left_on, right_on, left_index, right_index, options)
    names = [on] if isinstance(on, str) else list(on or [])
    if all(n in left._labels and n in right._nodes for n in names) and names:
        left = frame_of({n: left._labels[n] for n in names} | left._nodes)
    unique = _UNIQUE.get(validate or "m:m")
    if unique is None:
        raise InvalidArgumentError(
            f"merge: invalid value: validate={validate!r}; expected '1:1', '1:m', 'm:1' or 'm:m'"
        )
    keys: list[tuple[Key, Key]] = []
    if how == "cross":
        if on is not None or left_on is not None or right_on is not None:
            raise InvalidArgumentError("merge: a cross join takes no keys")
    else:
        keys = list(zip(*_both_keys(left, right, on, left_on, right_on), strict=True))
    shared = {a[0]: b[1] for a, b in keys if a[0] is not None and a[0] == b[0]}
    columns: list[tuple[Any, _core.Node | None, _core.Node | None]] = []
    for name, node in left._nodes.items():
        if name in shared:
            columns.append((name, *_core.shared_key(node, shared[name], how)))
        else:
            taken = name in right and how not in _LEFT_ONLY
            columns.append((f"{name}{suffixes[0] or ''}" if taken else name, node, None))
    if how not in _LEFT_ONLY:
        for name, node in right._nodes.items():
            if name not in shared:
                taken = name in left
                columns.append((f"{name}{suffixes[1] or ''}" if taken else name, None, node))
    rows = (left._every()[0], right._every()[0])
    pairs = [(a[1], b[1]) for a, b in keys]
    kind = {"cross": "inner", "right": "left"}.get(how, how)
    word = "_merge" if indicator is True else indicator or ""
    order: list[Any] = []
    if sort or how == "outer":  # by the keys of either side
        order = [f" key {i}" for i in range(len(keys))]
        for name, (a, b) in zip(order, keys, strict=True):
            columns.append((name, *_core.shared_key(a[1], b[1], how)))
    if how == "right":  # the left join with swapped sides
        rows, unique = rows[::-1], unique[::-1]
        pairs = [(b, a) for a, b in pairs]
        columns = [(name, b, a) for name, a, b in columns]
    names = [*(name for name, _, _ in columns), *([word] if word else [])]
    called = [(n if isinstance(n, str) else engine_names([n])[0], a, b) for n, a, b in columns]
    table = _core.join(rows, pairs, called, kind, unique, word, how)
    made = frame_of_parts(table, names)
    return made.sort_values(order, ignore_index=True).drop(columns=order) if order else made


def _carrying(frame: DataFrame, side: str, needed: bool) -> tuple[DataFrame, list[str]]:
    """The frame with its labels as its first columns, and what these are called."""
    if needed and not frame._labels:
        raise InvalidArgumentError(
            f"merge: the {side} frame has no labels: {side}_index=True; use set_index first"
        )
    words = [f" {side} label {i}" for i in range(len(frame._labels))]
    labels = dict(zip(words, frame._labels.values(), strict=True))
    return frame_of({**labels, **frame._nodes}), words


def _by_numbers(frame: DataFrame) -> DataFrame:
    """The rows labelled by their numbers if they have no other labels."""
    if frame._labels or not (numbers := frame._levels()):
        return frame
    return frame_of(
        frame._nodes, {unnamed(0, 1): _core.in_domain(numbers[0], frame._every()[0].domain)}
    )


def _are_labels(left: DataFrame, right: DataFrame, left_on: Any, right_on: Any) -> bool:
    """Whether the keys are all labels of both frames, by name."""
    sides = []
    for keys in (left_on, right_on):
        names = keys if isinstance(keys, list | tuple) else [keys]
        if not names or not all(isinstance(name, str) for name in names):
            return False
        sides.append(list(names))
    return (
        sides == [list(left._labels), list(right._labels)]
        and left._nodes.keys().isdisjoint(sides[0])
        and right._nodes.keys().isdisjoint(sides[1])
    )


def _by_labels(
    left: DataFrame,
    right: DataFrame,
    left_on: Any,
    right_on: Any,
    left_index: bool,
    right_index: bool,
    options: tuple[Any, ...],
) -> DataFrame:
    """Join on labels; the result has those of the keys, or of the side joined by columns."""
    how, suffixes, indicator, validate, sort = options
    left = _by_numbers(left) if left_index else left
    right = _by_numbers(right) if right_index else right
    (one, mine), (other, theirs) = (
        _carrying(left, "left", left_index),
        _carrying(right, "right", right_index),
    )
    both = left_index and right_index
    kept, labels = (theirs, right._labels) if left_index and not both else (mine, left._labels)
    if both:
        other, theirs = other.rename(dict(zip(theirs, mine, strict=True))), mine
    made = merge(
        *(one, other, how, None, mine if left_index else left_on),
        *(theirs if right_index else right_on, suffixes, indicator, validate),
        sort=sort,
    )
    nodes = made._nodes
    found = {name: nodes[word] for name, word in zip(labels, kept, strict=True) if word in nodes}
    if both and list(left._labels) != list(right._labels):
        found = {unnamed(i, len(found)): node for i, node in enumerate(found.values())}
    return frame_of({n: v for n, v in nodes.items() if n not in {*mine, *theirs}}, found)
