# SPDX-License-Identifier: Apache-2.0
"""Rows of groups: head, tail, group numbers, one group, iteration in Python."""

from __future__ import annotations

import functools
import operator
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from headrace import _core
from headrace.dtypes import DType
from headrace.errors import ColumnNotFoundError, InvalidArgumentError
from headrace.frame.columns import Columns, frame_of, new_frame, picked_numbers
from headrace.frame.concat import concat
from headrace.frame.indexing import positions
from headrace.frame.reshape import sampled_rows, weights_of
from headrace.groupby.aggregate import aggregated, group_series, value_columns, with_keys
from headrace.groupby.keys import Words
from headrace.groupby.tracing import of_groups
from headrace.groupby.window import frame_or_series, key_nodes, supported_columns
from headrace.lazy.advice import group_by_group
from headrace.lazy.handle import mark
from headrace.rows import is_missing, picked_domain, whole_number
from headrace.series.column import Column, is_labelled, new_series, series_of, with_rows_of
from headrace.series.elementwise import row_positions
from headrace.series.window import rows_of_groups

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.groupby.groupby import GroupBy
    from headrace.series.series import Series


class NamedAgg(NamedTuple):
    """A column and its aggregate, for ``agg(out=hr.NamedAgg("x", "max"))``.

    >>> df = hr.DataFrame({"id": [1, 1], "x": [2, 3]})
    >>> df.groupby("id").agg(top=hr.NamedAgg(column="x", aggfunc="max")).to_dict()
    {'top': [3]}
    """

    column: str
    aggfunc: Any


def filter_rows(groups: GroupBy, mask: Series) -> Any:
    """The rows of the frame, or of the selected column, where a mask is true."""
    frame = frame_of(groups._nodes, groups._rows)
    return groups._shown(frame)[mask]


def distinct_keys(groups: GroupBy) -> DataFrame:
    """The keys of the groups, in order."""
    nodes = _core.group_columns(groups._keys, [], groups._order, groups._dropna)
    return frame_of(dict(zip((name for name, _ in groups._keys), nodes, strict=True)))


def ngroup(groups: GroupBy) -> Series:
    """See `GroupBy.ngroup`."""
    mark("ngroup")
    numbered = distinct_keys(groups)
    names = numbered.columns
    numbered["group number"] = new_series(numbered._aligned(positions(len(numbered))))
    keys = dict(zip(names, key_nodes(groups), strict=True))
    found = frame_of(keys).merge(numbered, on=names, how="left")["group number"]
    return with_rows_of(new_series(found), key_nodes(groups)[0])


def get_group(groups: GroupBy, name: Any) -> Any:
    """See `GroupBy.get_group`."""
    mark("get_group")
    wanted = name if isinstance(name, tuple) else (name,)
    if len(wanted) != len(groups._keys):
        raise InvalidArgumentError(
            f"get_group: expected one value for each key: name={name!r}, keys={len(groups._keys)}"
        )
    tests = [
        series_of(node).isna() if is_missing(each) else series_of(node) == each
        for node, each in zip(key_nodes(groups), wanted, strict=True)
    ]
    found = filter_rows(groups, functools.reduce(operator.and_, tests))
    if len(found) == 0:
        raise ColumnNotFoundError(f"get_group: no such group: name={name!r}")
    return found


def each_group(groups: GroupBy, op: str, fix: str) -> Iterator[tuple[Any, Any]]:
    """Pairs of key and rows, one group at a time."""
    group_by_group(op, fix)
    labels_by_name = distinct_keys(groups).to_dict()
    labels = list(zip(*labels_by_name.values(), strict=True))
    number = groups.ngroup()
    sizes = new_frame({"n": number}).groupby("n").size().to_list()
    rows = frame_of({**groups._nodes, "group number": number._node}, groups._rows)
    ordered = rows.sort_values("group number")
    columns, held = {n: ordered._nodes[n] for n in groups._nodes}, ordered._labels
    _core.force([*columns.values(), *held.values()])
    begin = 0
    for label, size in zip(labels, sizes, strict=True):
        picked = functools.partial(_rows_between, begin, size, picked_domain())
        begin += size
        part = {n: picked(v) for n, v in columns.items()}
        own = {n: picked(v) for n, v in held.items()}
        numbers = None if own else picked_numbers(held, next(iter(columns.values()), None), picked)
        frame = frame_of(part, own if numbers is None else numbers)
        key = label if len(label) > 1 else label[0]
        yield key, groups._shown(frame)


def _rows_between(begin: int, size: int, domain: int, node: _core.Node) -> _core.Node:
    return _core.in_domain(_core.slice(node, begin, size), domain)


def apply_function(groups: GroupBy, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """See `GroupBy.apply`."""
    if function in (list, set) and groups._single and not args and not kwargs:
        return groups.agg(function)
    mark("apply")
    kwargs.pop("include_groups", None)  # pandas takes False alone, which is what happens
    if not groups._single:
        own = [node for _, node in groups._keys]
        nodes = groups._nodes.items()
        groups = groups._of({n: v for n, v in nodes if not any(v is key for key in own)})
    (value,) = groups._nodes if len(groups._nodes) == 1 else ("value",)
    if groups._order == "any":  # the function is called in an order that is known
        groups = groups._in_first_order()
    traced = None if args or kwargs else of_groups(function, groups)
    if traced is not None:
        table = distinct_keys(groups)
        keys = table._nodes
        found = _core.in_domain(traced._node, next(iter(keys.values())).domain)
        return group_series(groups, with_keys(groups, keys, {value: found}), value)
    start = time.perf_counter()
    fix = "use aggregates by name: agg(...), transform(...)"
    made = [
        (key, function(part, *args, **kwargs)) for key, part in each_group(groups, "apply", fix)
    ]
    name = getattr(function, "__name__", type(function).__name__)
    _core.record_fallback(
        "apply", f"Python function called per group: {name}", time.perf_counter() - start
    )
    results = [result for _, result in made]
    if results and all(isinstance(each, Column | Columns) for each in results):
        return _joined(groups, [key for key, _ in made], results)
    names = [name for name, _ in groups._keys]
    levels = [key if isinstance(key, tuple) else (key,) for key, _ in made]
    called = new_frame({n: [key[i] for key in levels] for i, n in enumerate(names)})._nodes
    found = new_series(results)._node
    found = _core.in_domain(found, called[names[0]].domain)
    return group_series(groups, with_keys(groups, called, {value: found}), value)


def _joined(groups: GroupBy, keys: list[Any], results: list[Any]) -> Any:
    """Series of each group as rows of a frame, if they have the same labels; else all rows."""
    names = [name for name, _ in groups._keys]
    levels = [key if isinstance(key, tuple) else (key,) for key in keys]
    if all(is_labelled(each) for each in results) and not groups._single:
        rows = [each.to_dict() for each in results]
        if all(list(row) == list(rows[0]) for row in rows):
            heads = dict(zip(names, map(list, zip(*levels, strict=True)), strict=True))
            table = new_frame({n: [row[n] for row in rows] for n in rows[0]})
            domain = table._every()[0].domain
            labels = {n: _core.in_domain(new_series(v)._node, domain) for n, v in heads.items()}
            return with_keys(groups, labels, table._nodes)
    return concat(results, keys=levels, names=names) if groups._group_keys else concat(results)


def filter_groups(groups: GroupBy, function: Callable[[Any], Any]) -> Any:
    """See `GroupBy.filter`."""
    fix = "filter by transform(...) of the aggregate: df[df.groupby('id').x.transform('sum') > 3]"
    parts = each_group(groups, "filter", fix)
    kept = [at for at, (_, part) in enumerate(parts) if bool(function(part))]
    return filter_rows(groups, groups.ngroup().isin(kept or [-1]))


def fill_missing(groups: GroupBy, op: str, turned: bool) -> Any:
    """Missing values replaced by the last valid one of the group, or the next."""
    mark(op)
    made = {}
    for name, node in value_columns(groups).items():
        column, keys = series_of(node), [new_series(key) for key in key_nodes(groups)]
        if turned:  # the last row first
            column, keys = column[::-1], [key[::-1] for key in keys]
            domain = _core.new_domain()
            column, *keys = (
                series_of(_core.in_domain(each._node, domain)) for each in (column, *keys)
            )
        last = row_positions(column).where(column.notna(), -1)
        nodes = [key._node for key in keys]
        found = new_series(
            rows_of_groups(
                _core.group_cumulative, nodes, {name: last._node}, groups._dropna, "cummax"
            )[name]
        )
        values = series_of(_core.take(column._node, found.clip(lower=0).fill_null(0)._node))
        filled = with_rows_of(values, column._node).where(found >= 0)
        made[name] = with_rows_of(filled[::-1] if turned else filled, node)._node
    return frame_or_series(groups, made)


def pct_change(groups: GroupBy, periods: int = 1) -> Any:
    """See `GroupBy.pct_change`."""
    mark("pct_change")
    columns = supported_columns(groups, "pct_change", "iuf")
    before = rows_of_groups(
        _core.group_shift,
        key_nodes(groups),
        columns,
        groups._dropna,
        whole_number("pct_change", "periods", periods),
    )
    made = {n: (series_of(node) / new_series(before[n]) - 1)._node for n, node in columns.items()}
    return frame_or_series(groups, made)


def value_counts(
    groups: GroupBy, normalize: bool, sort: bool, ascending: bool, bins: Any, dropna: bool
) -> Any:
    """See `GroupBy.value_counts`."""
    if bins is not None:
        if not groups._single:
            raise InvalidArgumentError(
                f"value_counts: bins are of one column: bins={bins!r}; select it with brackets"
            )
        words = {"normalize": normalize, "sort": sort, "ascending": ascending, "dropna": dropna}
        made = groups.apply(Column._series.value_counts, bins=bins, **words)
        return made.rename("proportion" if normalize else "count")
    columns = value_columns(groups)
    every = groups._by([*groups._keys, *columns.items()])
    every._dropna = False
    word = "proportion" if normalize else "count"
    counted = every.size().rename(word).reset_index()
    names = [name for name, _ in groups._keys]
    there = [*(names if groups._dropna else []), *(columns if dropna else [])]
    if there:
        counted = counted.dropna(subset=there).reset_index(drop=True)
    if sort:
        by = names if groups._order == "sorted" else []
        counted = counted.sort_values([*by, word], ascending=[*(True for _ in by), ascending])
    if normalize:
        of_group = counted.groupby(names, dropna=False)[word].transform("sum")
        counted = counted.assign(**{word: counted[word] / of_group})
    return counted.set_index([*names, *columns])[word]


def row_labels_by_group(groups: GroupBy) -> dict[Any, Any]:
    """See `GroupBy.groups`."""
    rows = groups._rows
    found: dict[Any, Any] = {}
    for key, places in positions_by_group(groups).items():
        at = new_series(places)
        labels = {n: _core.take(node, at._node) for n, node in rows.items()}
        several = frame_of(labels) if len(labels) > 1 else None
        one = series_of(next(iter(labels.values()))) if labels else at
        found[key] = one if several is None else several
    return found


def positions_by_group(groups: GroupBy) -> dict[Any, Any]:
    """See `GroupBy.indices`."""
    import numpy as np

    keys = list(zip(*distinct_keys(groups).to_dict().values(), strict=True))
    numbers = groups.ngroup().fill_null(-1).to_numpy()
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers[numbers >= 0], minlength=len(keys)))
    parts = np.split(order[np.count_nonzero(numbers < 0) :], ends[:-1])
    single = len(groups._keys) == 1
    return {key[0] if single else key: part for key, part in zip(keys, parts, strict=False)}


def sample(groups: GroupBy, *words: Any) -> Any:
    """See `GroupBy.sample`."""
    import numpy as np

    mark("sample")
    n, frac, replace, random_state, weights = words
    chance = random_state
    if not isinstance(random_state, np.random.RandomState | np.random.Generator):
        chance = np.random.RandomState(random_state)
    frame = frame_or_series(groups, groups._nodes)
    every = weights_of(frame, weights)
    number = groups.ngroup().fill_null(-1).to_numpy()
    order = np.argsort(number, kind="stable")
    ends = np.flatnonzero(np.diff(number[order], append=-2)) + 1
    parts = [rows for rows in np.split(order, ends) if len(rows) and number[rows[0]] >= 0]
    picked = [
        rows[
            sampled_rows(
                *(len(rows), n, frac, replace, chance), None if every is None else every[rows]
            )
        ]
        for rows in parts
    ]
    return frame.iloc[np.concatenate(picked) if picked else order[:0]]


def describe(
    groups: GroupBy, percentiles: Any = None, include: Any = None, exclude: Any = None
) -> DataFrame:
    """See `GroupBy.describe`."""
    mark("describe")
    single = groups._single
    columns = {n: v for n, v in value_columns(groups).items() if DType(v.dtype).is_of("iufmM")}
    if include not in (None, "all") or exclude is not None:
        wanted = frame_of(columns).select_dtypes(include, exclude)._nodes
        columns = {n: v for n, v in columns.items() if n in wanted}
    levels = [0.25, 0.5, 0.75] if percentiles is None else sorted(set(percentiles))
    words = []
    for name, node in columns.items():
        found = [Words(one, one, node) for one in ("count", "mean", "std", "min")]
        found += [Words(f"{100 * q:.6g}%", "quantile", node, q=q) for q in levels]
        found.append(Words("max", "max", node))
        words += [w if single else w._replace(name=(name, w.name)) for w in found]
    return aggregated(groups, words)
