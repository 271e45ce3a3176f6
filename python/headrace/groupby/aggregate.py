# SPDX-License-Identifier: Apache-2.0
"""Aggregates of groups: one row per group, or the group's value for each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.aggregates import NUMBERS, group_kinds
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.frame.columns import frame_of, framed, names_of
from headrace.groupby.empty_groups import OF_NO_ROWS, with_empty_groups
from headrace.groupby.keys import Words, aggregate_name
from headrace.lazy.handle import mark
from headrace.rows import engine_names, free_name, given, unnamed
from headrace.series.column import Column, is_series, series_of
from headrace.series.elementwise import row_positions
from headrace.series.window import ROW_FUNCTIONS

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series


def value_columns(groups: GroupBy) -> dict[str, _core.Node]:
    """The columns that are not keys; a single selected one whatever it is."""
    if groups._single:
        return groups._nodes
    keys = {id(node) for _, node in groups._keys}
    return {name: node for name, node in groups._nodes.items() if id(node) not in keys}


def aggregated(groups: GroupBy, columns: list[Words]) -> DataFrame:
    """The keys and these aggregates, one row per group."""
    mark("groupby")
    names = engine_names([*(name for name, _ in groups._keys), *(c.name for c in columns)])
    named = list(zip(names, (node for _, node in groups._keys), strict=False))
    words = [(n, *c[1:]) for c, n in zip(columns, names[len(named) :], strict=True)]
    nodes = _core.group_columns(named, words, groups._order, groups._dropna)
    keys = {name: nodes[i] for i, (name, _) in enumerate(groups._keys)}
    found = {column.name: node for column, node in zip(columns, nodes[len(keys) :], strict=True)}
    kinds = {} if groups._observed else {c.name: OF_NO_ROWS.get(c.aggregate) for c in columns}
    return with_keys(groups, keys, found, kinds)


def with_keys(
    groups: GroupBy,
    keys: dict[str, _core.Node],
    columns: dict[str, _core.Node],
    empty: Mapping[str, Any] | None = None,
) -> DataFrame:
    """A result labelled by its keys; with ``as_index=False`` they are its first columns.

    `empty` has the results of groups without rows, which ``observed=False`` adds.
    """
    if not groups._observed:
        keys, columns = with_empty_groups(keys, columns, empty or {})
    made = frame_of(columns, keys)
    return made if groups._labelled else frame_of(made._with_labels())


def group_series(groups: GroupBy, made: DataFrame, name: Any) -> Any:
    """An aggregate of one column; a frame if the keys are not labels."""
    return Column._group_series(made, name=given(name)) if groups._labelled else made


def refuse_others(op: str, columns: Mapping[str, _core.Node], kinds: str) -> None:
    """Raise if there are columns of other kinds."""
    if len(supported := names_of(columns, kinds)) < len(columns):
        others = [name for name in columns if name not in supported]
        raise TypeMismatchError(
            f"groupby: {op} does not support these columns: columns={others}; "
            "select other columns, or pass numeric_only=True"
        )


def aggregable_columns(
    groups: GroupBy, aggregate: str, numeric_only: bool
) -> dict[str, _core.Node]:
    """The columns that an aggregate supports, by the names of its results."""
    if groups._single:
        return groups._nodes
    kinds = group_kinds(aggregate) + ("UO" if aggregate in ("any", "all") else "")
    values = value_columns(groups)
    if numeric_only:
        kinds = "".join(each for each in kinds if each in NUMBERS)
    else:
        refuse_others(aggregate, values, kinds)
        return values
    return {name: values[name] for name in names_of(values, kinds)}


def frame_or_group_series(groups: GroupBy, made: DataFrame) -> Any:
    """The aggregates, one per column; for a single selected column a series."""
    if not groups._single:
        return made
    (name,) = groups._nodes
    return group_series(groups, made, name)


def each_column(
    groups: GroupBy,
    aggregate: str,
    numeric_only: bool = False,
    skipna: bool = True,
    *,
    least: int = 0,
    **options: Any,
) -> Any:
    """One aggregate of each column; missing for a group of fewer than `least` values.

    With ``skipna=False`` missing values count: as true, as a first or last value, and in all other
    aggregates they make the result missing.
    """
    columns = aggregable_columns(groups, aggregate, numeric_only)
    if aggregate in ("any", "all"):
        columns = {name: _truth(series_of(node), skipna) for name, node in columns.items()}
        skipna = True
    elif aggregate in ("first", "last") and not skipna:
        return _ends(groups, columns, "min" if aggregate == "first" else "max", least)
    words = [Words(name, aggregate, node, **options) for name, node in columns.items()]
    if skipna and least <= 0:
        return frame_or_group_series(groups, aggregated(groups, words))
    words += [Words(f"{name} there", "count", node) for name, node in columns.items()]
    made = aggregated(groups, [*words, Words(" rows", "size")])
    rows = made.pop(" rows")
    for name in columns:
        there = made.pop(f"{name} there")
        made[name] = made[name].where((there >= least) & ((there == rows) | skipna))
    return frame_or_group_series(groups, made)


def extreme_labels(groups: GroupBy, aggregate: str, numeric_only: bool, skipna: bool) -> Any:
    """The label of the first smallest or largest value of each group, or its number."""
    made = each_column(groups, aggregate, numeric_only, skipna)
    rows = frame_of(groups._nodes, groups._rows)._numbered()
    if not rows._labels:
        return made
    if len(rows._labels) > 1:
        raise InvalidArgumentError(
            f"{aggregate}: expected a single label level: labels={list(rows._labels)}; "
            "use reset_index first"
        )
    (label,) = rows._labels.values()
    frame = framed(made) if is_series(made) else made
    keys = [name for name, _ in groups._keys]

    def at(node: _core.Node) -> _core.Node:
        place = series_of(node)
        found = series_of(_core.take(label, place.fill_null(0)._node))
        return series_of(_core.in_domain(found._node, node.domain)).where(place.notna())._node

    found = {
        name: node if name in keys and not groups._labelled else at(node)
        for name, node in frame._nodes.items()
    }
    frame = frame_of(found, frame._labels)
    return group_series(groups, frame, made.name) if is_series(made) else frame


def _truth(column: Series, skipna: bool) -> _core.Node:
    """What `any` and `all` look at: strings are true unless they are empty."""
    texts = column._node.item_dtype == "string"
    if skipna and not texts:
        return column._node
    made: Series = column != ("" if texts else 0)
    return (made.where(column.notna()) if skipna else made | column.isna())._node


def _ends(groups: GroupBy, columns: dict[str, _core.Node], end: str, least: int) -> Any:
    """The value in the first or last row of each group, missing or not."""
    places = row_positions(series_of(next(iter(columns.values()))))._node
    words = [Words(f"{name} there", "count", node) for name, node in columns.items()]
    made = aggregated(groups, [Words(" place", end, places), *words])
    place = made.pop(" place")._node
    for name, node in columns.items():
        found = series_of(_core.in_domain(_core.take(node, place), place.domain))
        made[name] = found.where(made.pop(f"{name} there") >= least)
    return frame_or_group_series(groups, made)


def size(groups: GroupBy) -> Any:
    """See `GroupBy.size`."""
    word: Any = 0 if groups._labelled else "size"  # pandas' name of a series without one
    return group_series(groups, aggregated(groups, [Words(word, "size")]), None)


def nunique(groups: GroupBy, dropna: bool) -> Any:
    """See `GroupBy.nunique`."""
    if dropna:
        return each_column(groups, "nunique")
    values = value_columns(groups)
    words = []
    for name, node in values.items():
        gone = series_of(node).isna().astype("int64")._node
        words += [Words(name, "nunique", node), Words(f"{name} missing", "max", gone)]
    made = aggregated(groups, words)
    for name in values:
        made[name] = made[name] + made.pop(f"{name} missing")
    return frame_or_group_series(groups, made)


def transform(groups: GroupBy, aggregate: str) -> DataFrame | Series:
    """See `GroupBy.transform`."""
    if aggregate in ROW_FUNCTIONS:
        return getattr(groups, aggregate)()
    mark("transform")
    aggregate = aggregate_name(aggregate, "aggregate", "transform")
    keys = [node for _, node in groups._keys]
    if aggregate == "size":
        rows = _core.group_transform(keys, Words("size", "size", keys[0]), groups._dropna)
        return frame_of({"size": rows}, groups._rows)._series("size").rename(None)
    columns = value_columns(groups)
    if not groups._single:
        refuse_others(aggregate, columns, group_kinds(aggregate))
    frame = frame_of(
        {
            name: _core.group_transform(keys, Words(name, aggregate, node), groups._dropna)
            for name, node in columns.items()
        },
        groups._rows,
    )
    return groups._shown(frame)


def top(groups: GroupBy, n: int, largest: bool) -> Any:
    """See `SeriesGroupBy.nlargest`."""
    mark("nlargest" if largest else "nsmallest")
    if groups._order == "any":  # labels and values must meet in an order that is known
        groups = groups._in_first_order()
    ((name, node),) = groups._nodes.items()
    own = free_name(name, (key for key, _ in groups._keys))
    table = _core.group_top(groups._keys, own, node, n, largest, groups._order, groups._dropna)
    values = {name: _core.part(table, len(groups._keys))}
    keys = {key: _core.part(table, i) for i, (key, _) in enumerate(groups._keys)}
    if not groups._labelled:
        return frame_of({**keys, **values})
    labels = {} if not groups._group_keys else keys
    held = _top_labels(groups, node, n, largest)
    labels = {free_name(key, held): part for key, part in labels.items()}
    for level, label in held.items():
        called = unnamed(len(labels), len(labels) + len(held)) if given(level) is None else level
        labels[called] = _core.in_domain(label, values[name].domain)
    return group_series(groups, frame_of(values, labels), name)


def _top_labels(groups: GroupBy, node: _core.Node, n: int, largest: bool) -> dict[str, _core.Node]:
    """The labels of the rows of `top`: what the engine finds without a sort are values alone."""
    rows = frame_of({" group": groups.ngroup()._node, " value": node}, groups._rows)
    held = rows._numbered()
    rows = held if held._labels else rows.set_axis(rows.index)
    rows = rows.dropna().sort_values([" group", " value"], ascending=[True, not largest])
    return dict(rows.groupby(" group").head(n)._labels)
