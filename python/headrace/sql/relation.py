# SPDX-License-Identifier: Apache-2.0
"""Relations: named columns over one set of rows, and the operators that make new rows of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from headrace import _core
from headrace.groupby.keys import Words
from headrace.rows import picked_domain
from headrace.sql.elementwise import filled
from headrace.sql.lists import rows_from_zero
from headrace.sql.nested.keys import as_keys
from headrace.sql.values import NULL, Value, is_nested

Key = tuple[_core.Node, _core.Node]


class Field(NamedTuple):
    """A column of a relation; hidden ones are found by their table only."""

    table: str
    name: str
    value: Value
    hidden: bool = False


def groups_of(
    nodes: Sequence[_core.Node], words: Sequence[Words]
) -> tuple[list[_core.Node], list[_core.Node]]:
    """One row for each group of rows with equal keys: the keys, and aggregates of the groups."""
    keys = [(f"k{i}", node) for i, node in enumerate(as_keys(nodes))]
    nested = any(is_nested(node.dtype) for node in nodes)
    if not nested:
        made = _core.group_columns(keys, list(words), "any", False)
        return made[: len(keys)], made[len(keys) :]
    first = Words("first row", "min", rows_from_zero(nodes[0]))
    made = _core.group_columns(keys, [*words, first], "any", False)
    found = [
        _core.in_domain(_core.asof_values(node, filled(made[-1], 0)), made[-1].domain)
        if is_nested(node.dtype)
        else key
        for node, key in zip(nodes, made, strict=False)
    ]
    return found, made[len(keys) : -1]


def distinct_nodes(nodes: list[_core.Node]) -> list[_core.Node]:
    """The columns of the rows, each different one once."""
    return groups_of(nodes, [Words("n", "size")])[0]


class Relation:
    """Fields of the same rows. `rows` is a node of them, for a relation without fields."""

    __slots__ = ("fields", "rows")

    def __init__(self, fields: list[Field], rows: _core.Node) -> None:
        self.fields: list[Field] = fields
        self.rows: _core.Node = rows

    def nodes(self) -> list[_core.Node]:
        """The nodes of the fields."""
        return [field.value.node for field in self.fields]

    def column(self, name: str) -> _core.Node:
        """The visible column of a name in lower case, which there is."""
        fields = (f for f in self.fields if not f.hidden and f.name.lower() == name)
        return next(fields).value.node

    def of_nodes(self, nodes: Sequence[_core.Node], rows: _core.Node | None = None) -> Relation:
        """The same fields with other nodes."""
        made = [
            Field(table, name, Value(node, value.dtype, value.bits), hidden)
            for (table, name, value, hidden), node in zip(self.fields, nodes, strict=True)
        ]
        return Relation(made, made[0].value.node if rows is None else rows)

    def with_fields(self, fields: Iterable[Field]) -> Relation:
        """With more fields of the same rows."""
        return Relation([*self.fields, *fields], self.rows)

    def renamed(self, table: str, names: Sequence[str] = ()) -> Relation:
        """The visible fields as those of a table; `names` for the first ones.

        A name that is there twice gets a number, as in DuckDB.
        """
        fields: list[Field] = []
        place = 0
        seen: set[str] = set()
        for field in self.fields:
            if field.hidden:
                fields.append(field)
                continue
            word = name = names[place] if place < len(names) else field.name
            count = 0
            while name.lower() in seen:
                count += 1
                name = f"{word}_{count}"
            seen.add(name.lower())
            fields.append(Field(table, name, field.value))
            place += 1
        return Relation(fields, self.rows)

    def _picked(self, pick: Callable[[list[_core.Node]], list[_core.Node]]) -> Relation:
        nodes = pick([self.rows, *self.nodes()])
        return self.of_nodes(nodes[1:], nodes[0])

    def filtered(self, mask: _core.Node) -> Relation:
        """The rows where the mask is true."""
        return self._picked(lambda nodes: _core.filter_columns(nodes, mask))

    def taken(self, positions: _core.Node) -> Relation:
        """The rows at these positions."""
        domain = picked_domain()
        return self._picked(
            lambda nodes: [_core.in_domain(_core.take(n, positions), domain) for n in nodes]
        )

    def sliced(self, begin: int, count: int) -> Relation:
        """Some rows in their order."""
        domain = picked_domain()
        return self._picked(lambda nodes: _core.slice_columns(nodes, begin, count, domain))

    def sorted(self, keys: Sequence[tuple[_core.Node, bool]]) -> Relation:
        """The rows in the order of keys, each descending or not; null last."""
        nodes = list({id(n): n for n in [self.rows, *self.nodes()]}.values())
        names = [f"c{i}" for i in range(len(nodes))]
        descending = [each for _, each in keys]
        table = _core.sort([node for node, _ in keys], descending, False, names, nodes)
        found = dict(zip(map(id, nodes), _core.parts(table, len(nodes)), strict=True))
        return self.of_nodes([found[id(n)] for n in self.nodes()], found[id(self.rows)])


def joined(
    left: Relation,
    right: Relation,
    keys: Sequence[Key],
    how: str,
    unique_right: bool = False,
) -> Relation:
    """A join by pairs of keys, where null equals null: "inner", "left", "outer", "semi", "anti"."""
    left_only = how in ("semi", "anti")
    columns: list[tuple[str, _core.Node | None, _core.Node | None]] = []
    fields: list[Field] = []
    for field in left.fields:
        columns.append((_name(columns, field), field.value.node, None))
        fields.append(field)
    if not left_only:
        for field in right.fields:
            columns.append((_name(columns, field), None, field.value.node))
            fields.append(field)
    if not columns:
        columns.append(("c0", left.rows, None))
    rows = (left.rows, right.rows)
    pairs = list(zip(as_keys([a for a, _ in keys]), as_keys([b for _, b in keys]), strict=True))
    table = _core.join(rows, pairs, columns, how, (False, unique_right), "", how)
    nodes = _core.parts(table, len(columns))
    made = [
        Field(table, name, Value(n, NULL if value.dtype == NULL else n.dtype, value.bits), hidden)
        for (table, name, value, hidden), n in zip(fields, nodes, strict=False)
    ]
    return Relation(made, nodes[0])


def _name(columns: Sequence[Any], field: Field) -> str:
    return f"{len(columns)} {field.name}"


def row_numbers(like: _core.Node) -> _core.Node:
    """1, 2, 3, ... for the rows of a node."""
    ones = _core.repeat(like, 1)
    return _core.cumulative("cumsum", ones)


def one_row() -> Relation:
    """A relation of one row without fields."""
    node = _core.data(_core.column_from_list([0], "int32"), "one row", _core.new_domain())
    return Relation([], node)


def broadcast(single: _core.Node, like: _core.Node) -> _core.Node:
    """A column of one row for each row of `like`."""
    made = _core.take(single, _core.repeat(like, 0))
    return _core.in_domain(made, like.domain)
