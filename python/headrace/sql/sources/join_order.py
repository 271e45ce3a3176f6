# SPDX-License-Identifier: Apache-2.0
"""Which tables of FROM are joined first, by how many rows each join is thought to give.

Greedy operator ordering (L. Fegaras, DEXA 1998): of all sides that a condition links, the two whose
join gives the fewest rows; so small tables are joined to their own small tables before the large
one reads both. Rows that conditions pass are counted in a sample of the table, keys that differ are
estimated from another (`estimate_ndv`); what is not there yet is guessed.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from headrace import _core
from headrace.errors import Error
from headrace.sql.relation import Relation
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import FLOATS, Constant, Operand, is_nested

Expression = Any
_SAMPLE = 512
#: The share of rows that a condition is thought to pass where there are none to try it on.
_PASSED = 0.3
#: Rows up to which values are counted, where by the estimate more than this share of them differ.
_MOST_ROWS, _LIKELY = 1 << 24, 0.5


class Keys(NamedTuple):
    """Of the keys of a table: how many differ, and how many could by their range."""

    distinct: float
    domain: float


class Table:
    """A table of FROM as it is before its own conditions, and how many rows these leave."""

    __slots__ = ("_keys", "all_rows", "rows", "scope")

    def __init__(self, scope: Scope, conditions: int) -> None:
        self.scope: Scope = scope
        rows = scope.relation.rows
        known = _core.planned_rows(rows) if rows.is_ready else _core.estimate_keys([rows])[0]
        self.all_rows: float = max(1, known)
        self.rows: float = max(1.0, self.all_rows * _PASSED ** min(conditions, 3))
        self._keys: dict[tuple[_core.Node, ...], Keys] = {}

    def keys(self, nodes: Sequence[_core.Node]) -> Keys:
        """Of these columns, in all rows."""
        columns = tuple(nodes)
        if columns not in self._keys:
            rows, distinct, domain = estimate(nodes) if nodes else (0, -1.0, -1.0)
            share = distinct / rows if distinct > 0 and rows > 0 else 1.0
            self._keys[columns] = Keys(max(1.0, self.all_rows * share), max(1.0, domain))
        return self._keys[columns]


#: What is known of columns that are there, as long as these are.
_known: weakref.WeakKeyDictionary[_core.Node, tuple[int, float, float]] = (
    weakref.WeakKeyDictionary()
)


def estimate(nodes: Sequence[_core.Node]) -> tuple[int, float, float]:
    """The rows of columns, how many differ and the size of their range, by a sample."""
    if len(nodes) > 1 or not nodes[0].is_ready:
        return _core.estimate_keys(list(nodes))
    (node,) = nodes
    found = _known.get(node)
    if found is None:
        found = _known[node] = _core.estimate_keys([node])
    return found


def joined_rows(left: float, right: float, keys: Sequence[tuple[Keys, Keys]]) -> float:
    """The rows of a join of two sides by keys of their tables.

    Keys of the side where fewer differ are thought to be among the other's (P. G. Selinger et al.,
    SIGMOD 1979), of which only those in the range of these count: sales are of some of the days
    that a calendar has.
    """
    made = left * right
    for one, other in keys:
        few, many = (one, other) if one.distinct <= other.distinct else (other, one)
        within = many.distinct * min(1.0, few.domain / many.domain)
        made /= max(few.distinct, within)
    return made


def count_passing(
    tables: Sequence[Table],
    conditions: Mapping[int, Sequence[Expression]],
    mask_of: Callable[[Scope, Sequence[Expression]], Operand],
) -> None:
    """Set the rows of tables by the share of a sample for which their conditions hold."""
    masks: dict[int, tuple[_core.Node, int]] = {}
    for place, mine in conditions.items():
        table = tables[place]
        sample = _sample(table.scope.relation, mine)
        if sample is None:
            continue
        try:
            mask = mask_of(table.scope.over(sample[0]), mine)
        except Error:
            continue  # the query itself raises it
        if isinstance(mask, Constant):
            table.rows = table.all_rows if mask.value else 1.0
        else:
            masks[place] = mask.node, sample[1]
    try:
        _core.force([mask for mask, _ in masks.values()])
    except Error:
        return  # of a row that the query may never read
    for place, (made, tried) in masks.items():
        passed = sum(each is True for each in made.value().to_list())
        table = tables[place]
        table.rows = max(1.0, table.all_rows * max(passed, 0.5) / tried)


def _sample(relation: Relation, conditions: Sequence[Expression]) -> tuple[Relation, int] | None:
    """Rows at equal distances with what conditions read, and how many; None if not there yet."""
    names = {named(c.name) for each in conditions for c in each.find_all(exp.Column)}
    fields = [f for f in relation.fields if f.name.lower() in names]
    rows = _core.planned_rows(relation.rows)
    if rows < 1 or not fields or not all(f.value.node.is_ready for f in fields):
        return None
    places = np.linspace(0, rows - 1, min(rows, _SAMPLE)).astype(np.int64).tolist()
    positions = _core.data(_core.column_from_list(places, "int64"), "sample")
    return Relation(fields, fields[0].value.node).taken(positions), len(places)


#: Whether the values of columns differ, as long as these are.
_unique: weakref.WeakKeyDictionary[_core.Node, bool] = weakref.WeakKeyDictionary()


def is_unique(node: _core.Node) -> bool:
    """Whether a column that is there has no value twice; False where that is not known."""
    if not node.is_ready or node.is_live or node.nullable:
        return False
    if node.dtype in FLOATS or is_nested(node.dtype):
        return False
    rows = _core.planned_rows(node)
    if not 0 < rows <= _MOST_ROWS:
        return False
    found = _unique.get(node)
    if found is None and estimate([node])[1] < _LIKELY * rows:
        found = _unique[node] = False
    if found is None:
        count = _core.stack([_core.count_distinct(node, False)])
        _core.force([count])
        found = _unique[node] = count.value().to_list() == [rows]
    return found
