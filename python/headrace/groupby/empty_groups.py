# SPDX-License-Identifier: Apache-2.0
"""Groups of categories that do not occur, which ``observed=False`` adds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from headrace import _core
from headrace.reshape.alignment import taken_or_missing
from headrace.series.categorical import entries_of
from headrace.series.column import new_series, series_of

#: Aggregates of no rows that are no null.
OF_NO_ROWS = {"size": 0, "count": 0, "nunique": 0, "sum": 0, "prod": 1, "any": False, "all": True}

_Nodes = dict[str, _core.Node]


def with_empty_groups(
    keys: _Nodes, columns: _Nodes, empty: Mapping[str, Any]
) -> tuple[_Nodes, _Nodes]:
    """Keys and results of all combinations of keys, if one is a category; evaluates the keys.

    Categories come with all that they have, other keys with their values. Results of no rows are
    those of `empty`, by name, else null.
    """
    import numpy as np

    series = {name: series_of(node) for name, node in keys.items()}
    if all(each.dtype != "category" for each in series.values()):
        return keys, columns
    values = [each.to_list() for each in series.values()]
    levels = [
        each.cat.categories.to_list() + ([None] if None in known else [])
        if each.dtype == "category"
        else sorted(set(known) - {None}) + ([None] if None in known else [])
        for each, known in zip(series.values(), values, strict=True)
    ]
    places = {key: place for place, key in enumerate(zip(*values, strict=True))}
    every = list(itertools.product(*levels))
    at = np.array([places.get(key, -1) for key in every], np.int64)
    domain = _core.new_domain()
    made: _Nodes = {}
    for (name, each), level in zip(series.items(), zip(*every, strict=True), strict=True):
        if each.dtype == "category":
            names = each.cat.categories.to_list()
            codes = [names.index(one) if one is not None else len(names) for one in level]
            made[name] = _core.take(
                entries_of(each.cat.categories, each.cat.ordered), new_series(codes)._node
            )
        else:
            made[name] = new_series(list(level), dtype=str(each.dtype))._node
    found = {n: taken_or_missing(v, at, empty.get(n))._node for n, v in columns.items()}
    placed = [
        {name: _core.in_domain(node, domain) for name, node in part.items()}
        for part in (made, found)
    ]
    return placed[0], placed[1]
