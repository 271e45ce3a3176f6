# SPDX-License-Identifier: Apache-2.0
"""The method `groupby` of frames and series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.series.column import is_series, new_series

if TYPE_CHECKING:
    pass
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


#: Python and NumPy functions that name an aggregate.
_FUNCTIONS = {
    **{name: name for name in ("sum", "prod", "mean", "median", "any", "all")},
    **{"min": "min", "max": "max", "amin": "min", "amax": "max", "len": "size"},
    **{"list": "list", "set": "set"},
    **{"nanmin": "min", "nanmax": "max", "nansum": "sum", "nanmean": "mean"},
}


class Words(NamedTuple):
    """One aggregate in the engine's terms."""

    name: Any
    aggregate: str
    values: _core.Node | None = None
    other: _core.Node | None = None
    q: float = 0.5
    ddof: int = 1
    min_count: int = 0
    interpolation: str = "linear"
    #: NaN is a value, the greatest one: of columns without nulls.
    nan_is_value: bool = False


def group_order(sort: bool, order: bool) -> str:
    """Return the engine's name for the order of the groups."""
    return "sorted" if sort else "first" if order else "any"


def _check_rows(frame: DataFrame | None, name: str, key: Series) -> None:
    """Raise if a key and its frame have different row counts, where both are known."""
    node = None if frame is None else frame._any_node()
    rows, own = -1 if node is None else node.shape[0], key._node.shape[0]
    if rows >= 0 and own >= 0 and rows != own:
        raise InvalidArgumentError(
            f"groupby: key length does not match the frame: key={name!r}, "
            f"expected={rows}, got={own}"
        )


def _are_values(by: list[Any] | tuple[Any, ...], frame: DataFrame, rows: int) -> bool:
    """Whether a list has a value for each row, and is no list of keys."""
    if len(by) != rows or not all(isinstance(each, str | int | float) for each in by):
        return False
    return not all(each in frame._nodes or each in frame._labels for each in by)


def _of_labels(rows: DataFrame, by: Any) -> Series:
    """What a function or mapping gives for the label of each row."""
    made: Series = rows.index.map(by)
    return new_series(rows._aligned(made), name=made.name if rows._labels else None)


def _is_column(frame: DataFrame, name: Any) -> bool:
    """Whether this is the name of a column, of any type."""
    return isinstance(name, int | float | tuple) and name in frame._nodes


def keys_of(
    frame: DataFrame | None, by: Any, rows: DataFrame | None = None
) -> list[tuple[str, _core.Node]]:
    """Names and nodes of the keys: column names, series, expressions, or a list of them.

    A function or mapping is one of the labels of `rows`, by default those of the frame.
    """
    rows = frame if rows is None else rows
    keys: list[tuple[str, _core.Node]] = []
    if isinstance(by, list | tuple) and rows is not None and by and not isinstance(by[0], str):
        by = [list(by)] if _are_values(by, rows, rows._rows()) else by
    each: Any
    for each in by if isinstance(by, list | tuple) else [by]:
        each = getattr(each, "_meta", each)  # an expression of Dask  # noqa: PLW2901
        if rows is not None and (callable(each) or isinstance(each, Mapping)):
            key = _of_labels(rows, each)
            keys.append((key.name or ("key" if not keys else f"key_{len(keys)}"), key._node))
            continue
        if hasattr(each, "named_spans"):  # `hr.Grouper`
            if each.freq is None:
                keys += keys_of(frame, each.key) if each.key else level_keys(rows, each.level)
                continue
            name, spans = each.named_spans(frame)
            keys.append((name, spans._node))
            continue
        if frame is not None and (isinstance(each, str) or _is_column(frame, each)):
            keys.append((each, frame._key(each)))
            continue
        if isinstance(each, str) and rows is not None and each in rows._labels:
            keys.append((each, rows._labels[each]))
            continue
        if isinstance(each, str):
            raise TypeMismatchError(f"groupby: expected a series as key: key={each!r}")
        apart = is_series(each) and each._node.domain
        key = new_series(rows._over_rows(each) if apart and rows is not None else each)
        if frame is not None and is_series(each):
            frame._refuse_free("groupby", key._node)
        name = key.name or ("key" if len(keys) == 0 else f"key_{len(keys)}")
        _check_rows(frame, name, key)
        keys.append((name, key._node))
    if not keys:
        raise InvalidArgumentError("groupby: missing key; pass a column name")
    names = [name for name, _ in keys]
    if twice := next((name for at, name in enumerate(names) if name in names[:at]), None):
        raise InvalidArgumentError(
            f"groupby: duplicate key name: name={twice!r}; rename one: "
            "[df.t.dt.year.rename('year'), df.t.dt.month]"
        )
    return keys


def is_custom(aggregate: Any) -> bool:
    """Whether an aggregate is a function that the engine has no name for."""
    if not callable(aggregate):
        return False
    place = getattr(aggregate, "__module__", "") or "numpy"
    name = getattr(aggregate, "__name__", "")
    return place not in ("builtins", "numpy") or name not in _FUNCTIONS


def aggregate_name(aggregate: Any, place: str, op: str = "agg") -> str:
    """The engine's name of an aggregate, given by name or as a NumPy or Python function."""
    if isinstance(aggregate, str):
        return aggregate
    if callable(aggregate):
        name = getattr(aggregate, "__name__", "")
        if not is_custom(aggregate):
            return _FUNCTIONS[name]
        raise UnsupportedError(
            f"{op}: custom Python functions are not supported as aggregates: "
            f"{place}={name or aggregate!r}; compute a column first (df.assign) and "
            "aggregate it by name (sum, mean, max, ...), or use apply()"
        )
    raise TypeMismatchError(f"{op}: expected the name of an aggregate: {place}={aggregate!r}")


def aggregate_label(aggregate: Any, place: str) -> str:
    """The name of a result: that of the aggregate, or of a custom function."""
    if is_custom(aggregate):
        return getattr(aggregate, "__name__", "func")
    return aggregate_name(aggregate, place)


def level_keys(
    frame: DataFrame | None, level: Any, op: str = "groupby"
) -> list[tuple[str, _core.Node]]:
    """The labels selected by `level` (position or name), as keys."""
    labels = dict(frame._labels) if frame is not None else {}
    if frame is not None and not labels and level in (0, -1):
        labels = dict(frame.set_axis(frame.index)._labels)
    names = list(labels)
    keys: list[tuple[str, _core.Node]] = []
    for each in level if isinstance(level, list | tuple) else [level]:
        name = names[each] if isinstance(each, int) and -len(names) <= each < len(names) else each
        if name not in labels:
            raise InvalidArgumentError(
                f"{op}: no such label level: level={each!r}, labels={names}; use set_index first"
            )
        keys.append((name, labels[name]))
    return keys
