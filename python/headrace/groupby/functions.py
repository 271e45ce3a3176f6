# SPDX-License-Identifier: Apache-2.0
"""`agg`, and Python functions in it and in `transform`: traced if safe, else group by group."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.frame.columns import frame_of
from headrace.groupby.aggregate import (
    aggregated,
    each_column,
    frame_or_group_series,
    size,
    value_columns,
)
from headrace.groupby.aggregate import transform as named_transform
from headrace.groupby.keys import Words, aggregate_name
from headrace.groupby.rows import each_group
from headrace.groupby.tracing import of_groups, of_rows
from headrace.lazy.handle import mark
from headrace.series.column import is_series, new_series, series_of, with_rows_of
from headrace.series.window import ROW_FUNCTIONS

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series

_FIX = "use aggregates by name: agg('sum'), transform('mean')"


def _is_custom(aggregate: Any) -> bool:
    """Whether this is a function that is no aggregate of the engine."""
    if isinstance(aggregate, str) or not callable(aggregate):
        return False
    try:
        aggregate_name(aggregate, "aggregate")
    except UnsupportedError:
        return True
    return False


def _item(value: Any, function: Any) -> Any:
    if is_series(value) or hasattr(value, "_nodes"):
        raise InvalidArgumentError(
            f"agg: expected one value for each group: function={_name_of(function)!r}, "
            f"got={type(value).__name__!r}; use transform or apply"
        )
    return value.item() if hasattr(value, "item") else value


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _called(op: str, groups: GroupBy, function: Callable[[Any], Any]) -> list[Any]:
    """The results of each group, in order."""
    start = time.perf_counter()
    made = [function(part) for _, part in each_group(groups, op, _FIX)]
    _core.record_fallback(
        op, f"Python function called per group: {_name_of(function)}", time.perf_counter() - start
    )
    return made


def _aggregate_by(groups: GroupBy, function: Callable[[Any], Any]) -> Series:
    """One value for each group of a single column, in the order of the groups."""
    if (traced := of_groups(function, groups)) is not None:
        return series_of(traced._node)
    return new_series([_item(value, function) for value in _called("agg", groups, function)])


#: Aggregates that give the values of a group as a list, all or each once.
_LISTS = ("list", "set")


class _Column(NamedTuple):
    """A column of the result of `agg`: an aggregate, or a function of your own, of a column."""

    name: Any
    aggregate: Any
    column: str


def agg(
    groups: GroupBy, spec: Any, args: tuple[Any, ...] = (), named: Mapping[str, Any] | None = None
) -> Any:
    """See `GroupBy.agg`."""
    if spec is not None and (args or named):
        spec = _with_options(groups, spec, args, named or {})
    if isinstance(spec, str) and spec in ROW_FUNCTIONS:
        return getattr(groups, spec)()
    if isinstance(spec, functools.partial):
        return spec()
    if not (isinstance(spec, str) or callable(spec)):
        return _made(groups, columns_of(groups, spec, named or {}))
    ((one, _),) = _words_of(spec, "spec")
    if isinstance(one, str) and one not in _LISTS:
        return size(groups) if one == "size" else each_column(groups, one)
    columns = [_Column(name, one, name) for name in value_columns(groups)]
    return frame_or_group_series(groups, _made(groups, columns))


def columns_of(groups: GroupBy, spec: Any, named: Mapping[str, Any]) -> list[_Column]:
    """The columns of a result, of a list or dict of aggregates, or of named ones."""
    if spec is None:
        if not named:
            raise TypeMismatchError("agg: expected an aggregate; pass 'sum' or out=('x', 'sum')")
        return [_named(groups, name, pair) for name, pair in named.items()]
    if isinstance(spec, Mapping):
        several = any(isinstance(each, list | tuple) for each in spec.values())
        columns = []
        for name, each in spec.items():
            for one, word in _words_of(each, name):
                found = groups._find(name)
                columns.append(_Column((name, word) if several else name, one, found))
        return columns
    if isinstance(spec, list) and all(
        isinstance(each, str | tuple) or callable(each) for each in spec
    ):
        return [
            _Column(word if groups._single else (name, word), one, name)
            for name in value_columns(groups)
            for one, word in _words_of(spec, "spec")
        ]
    raise TypeMismatchError(f"agg: expected a name, a list of names or a dict: spec={spec!r}")


def _words_of(spec: Any, place: str) -> list[tuple[Any, str]]:
    """Aggregates, by name or as functions of your own, and what to call them."""
    several = list(spec) if isinstance(spec, list) else [spec]
    made: list[tuple[Any, str]] = []
    for each in several:
        if isinstance(each, tuple):  # its name first
            ((one, _),) = _words_of(each[1], place)
            made.append((one, each[0]))
            continue
        if not _is_custom(each):
            made.append((aggregate_name(each, place), aggregate_name(each, place)))
            continue
        word = _name_of(each)
        if word == "<lambda>" and isinstance(spec, list | tuple):
            word = f"<lambda_{sum(callable(one) for one, _ in made)}>"
        made.append((each, word))
    return made


def _made(groups: GroupBy, columns: list[_Column]) -> DataFrame:
    """The keys and these columns, one row per group."""
    plain = [
        each for each in columns if isinstance(each.aggregate, str) and each.aggregate not in _LISTS
    ]
    words = [Words(name, how, groups._nodes[column]) for name, how, column in plain]
    if len(plain) == len(columns):
        return aggregated(groups, words)
    if not groups._observed:
        raise UnsupportedError(
            "agg: functions of your own are not called for groups without rows: observed=False; "
            "use aggregates by name, or observed=True"
        )
    if groups._order == "any":  # functions are called in an order that is known
        groups = groups._in_first_order()
    made = aggregated(groups, words or [Words(" size", "size")])
    for name, function, column in columns:
        if function in _LISTS:
            keys = made._key(groups._keys[0][0])
            rows = frame_of({"number": groups.ngroup()._node, "value": groups._nodes[column]})
            rows = rows.drop_duplicates() if function == "set" else rows
            made._put(name, _core.group_lists(rows._nodes["value"], rows._nodes["number"], keys))
        elif not isinstance(function, str):
            found = _aggregate_by(groups._column(column, groups._nodes[column]), function)
            made._put(name, _core.in_domain(found._node, made._key(groups._keys[0][0]).domain))
    names = [] if groups._labelled else [name for name, _ in groups._keys]
    return made[[*names, *(each.name for each in columns)]]


def _named(groups: GroupBy, name: str, pair: Any) -> _Column:
    if isinstance(pair, tuple) and len(pair) == 2:
        column, aggregate = pair
    elif groups._single:
        (column,), aggregate = groups._nodes, pair
    else:
        raise TypeMismatchError(
            f"agg: expected a (column, aggregate) pair: {name}={pair!r}; for example "
            f"{name}=('x', 'sum')"
        )
    ((one, _),) = _words_of(aggregate, name)
    return _Column(name, one, groups._find(column))


def _with_options(
    groups: GroupBy, spec: Any, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Any:
    """A function of a group alone, or an aggregate with its options."""
    if _is_custom(spec):
        return functools.wraps(spec)(lambda rows: spec(rows, *args, **options))
    if not (isinstance(spec, str) or callable(spec)):
        raise InvalidArgumentError(
            "agg: got both a specification and named aggregates; pass one of them"
        )
    return functools.partial(getattr(groups, aggregate_name(spec, "func")), *args, **options)


def transform(
    groups: GroupBy,
    function: Any,
    args: tuple[Any, ...] = (),
    options: Mapping[str, Any] | None = None,
) -> Any:
    """See `GroupBy.transform`."""
    if (args or options) and isinstance(function, str) and function in ROW_FUNCTIONS:
        return getattr(groups, function)(*args, **(options or {}))
    if args or options:
        made = _with_options(groups, function, args, options or {})
        if isinstance(made, functools.partial):
            return _of_each_row(groups, aggregate_name(function, "func"), made)
        function = made
    if not _is_custom(function):
        return named_transform(groups, function)
    mark("transform")
    columns = {}
    for name, node in groups._nodes.items():
        column = groups._column(name, node)
        if name in value_columns(groups):
            columns[name] = _transformed(column, series_of(node), function)
    frame = frame_of({name: made._node for name, made in columns.items()}, groups._rows)
    return groups._shown(frame)


def _of_each_row(groups: GroupBy, aggregate: str, call: functools.partial[Any]) -> Any:
    """An aggregate with options, for each row of its group."""
    number = groups.ngroup()
    at = number.fill_null(0)._node
    made = {}
    for name, node in value_columns(groups).items():
        column = groups._column(name, node)
        found = getattr(column, aggregate)(*call.args, **call.keywords)
        row = with_rows_of(series_of(_core.take(found._node, at)), node)
        made[name] = row.where(with_rows_of(new_series(number._node), node).notna())._node
    frame = frame_of(made, groups._rows)
    return groups._shown(frame)


def _transformed(groups: GroupBy, series: Series, function: Callable[[Any], Any]) -> Series:
    """The values of a function of each group, in the order of the rows."""
    import numpy as np

    if (traced := of_rows(function, groups, series)) is not None:
        return traced
    numbers = groups.ngroup()
    at = numbers.fill_null(-1).to_numpy()
    sizes = np.bincount(at[at >= 0]).tolist()
    values: list[Any] = []
    for result, rows in zip(_called("transform", groups, function), sizes, strict=True):
        if not is_series(result):
            values += [_item(result, function)] * rows
            continue
        if len(result) != rows:
            raise InvalidArgumentError(
                "transform: expected a value for each row of the group, or one: "
                f"function={_name_of(function)!r}, expected={rows}, got={len(result)}"
            )
        values += result.to_list()
    order = np.argsort(at, kind="stable")
    missing = len(at) - len(values)
    made: list[Any] = [None] * len(at)
    for place, value in zip(order[missing:].tolist(), values, strict=True):
        made[place] = value
    return with_rows_of(new_series(made), series._node)
