# SPDX-License-Identifier: Apache-2.0
"""Lists taken apart: UNNEST in FROM and in SELECT, and `range` as a table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.frame.columns import new_frame
from headrace.sql.elementwise import filled, run
from headrace.sql.expressions import evaluate
from headrace.sql.functions import nested
from headrace.sql.lists import items_of, places_of, rows_from_zero
from headrace.sql.relation import Field, Relation, distinct_nodes, joined
from headrace.sql.scope import Scope
from headrace.sql.syntax import exp, is_query, named
from headrace.sql.values import (
    NULL,
    Constant,
    Operand,
    Value,
    is_list,
    item_dtype,
    null_column,
    value_of,
)

Expression = Any
_ROW = " unnest"


def is_series(node: Expression) -> bool:
    """Whether this is `range` or `generate_series` as a table."""
    return isinstance(node, exp.Table) and isinstance(node.this, exp.GenerateSeries)


def series_table(node: Expression, scope: Scope) -> Relation:
    """The integers of `range` or `generate_series`."""
    import numpy as np

    call = node.this
    until = call.args.get("is_end_exclusive")
    default = "range" if until else "generate_series"
    alias = node.args.get("alias")
    columns = [each.name for each in alias.args.get("columns") or []] if alias else []
    step = call.args.get("step")
    parts = [evaluate(call.args[word], scope) for word in ("start", "end")]
    parts.append(Constant(1, "int32") if step is None else evaluate(step, scope))
    begin, end, by = (nested.whole(each, default.upper()) for each in parts)
    if begin is None or end is None or not by:
        raise UnsupportedError(f"sql: expected integers: word={default.upper()!r}")
    last = end if until else end + (1 if by > 0 else -1)
    numbers = new_frame({"n": np.arange(begin, last, by, dtype=np.int64)})._nodes["n"]
    column = _core.as_column(numbers) if numbers.form == "tensor" else numbers
    made = _core.in_domain(column, _core.new_domain())
    name = columns[0] if columns else default
    return Relation([Field(named(node.alias or default), name, value_of(made))], made)


def _list(operand: Operand, like: _core.Node) -> Value:
    """The list of UNNEST; null has no items."""
    if operand.dtype == NULL:
        return value_of(null_column(like, "list[int32]"))
    if isinstance(operand, Constant) and is_list(operand.dtype):
        return value_of(null_column(like, operand.dtype))
    return nested.as_list(operand, "UNNEST")


def _some(lists: Value) -> _core.Node:
    return run("greater", filled(_core.list_length(lists.node), 0), 0)


def unnested_table(node: Expression, scope: Scope, outer: bool, some: bool = True) -> Relation:
    """The rows of a scope with each item of a list; `outer` keeps rows without items.

    Unless `some`, no item is taken.
    """
    if len(node.expressions) != 1:
        raise UnsupportedError("sql: several lists: word='UNNEST'; use several UNNEST")
    alias = node.args.get("alias")
    names = [each.name for each in alias.args.get("columns") or []] if alias else []
    table = named(node.alias) if node.alias else "unnest"
    lists = _list(evaluate(node.expressions[0], scope), scope.relation.rows)
    relation = scope.relation
    if not some:
        lists = value_of(null_column(relation.rows, lists.dtype))
    held = relation.with_fields([Field(_ROW, "lists", lists, True)])
    if not outer:
        held = held.filtered(_some(lists))
    rows, items = items_of(held.fields[-1].value)
    made = Relation(held.fields[:-1], held.rows).taken(rows)
    domain = made.rows.domain
    fields = [Field(table, (names or ["unnest"])[0], value_of(_core.in_domain(items.node, domain)))]
    offset = node.args.get("offset")
    if offset:
        number = value_of(_core.in_domain(places_of(rows), domain))
        word = offset.name if isinstance(offset, exp.Identifier) else "ordinality"
        fields.append(Field(table, names[1] if len(names) > 1 else word, number))
    return made.with_fields(fields)


def unnests_of(node: Expression, known: Mapping[Any, Any] | None = None) -> list[Expression]:
    """The calls of UNNEST in an expression of SELECT, not in parts that are `known`."""
    found, waiting = [], [node]
    while waiting:
        each = waiting.pop()
        if known and each in known:
            continue
        if isinstance(each, exp.Explode | exp.Unnest):
            found.append(each)
        elif not is_query(each):
            waiting += list(each.iter_expressions())
    return found


def unnested(scope: Scope, calls: list[Expression]) -> Scope:
    """The rows of a scope, each as often as the longest of its lists is long."""
    lists = []
    for each in calls:
        inner = each.this if isinstance(each, exp.Explode) else each.expressions[0]
        operand = evaluate(inner, scope)
        if isinstance(each, exp.Explode):
            operand = _flat(operand, each)
        if operand.dtype.startswith("struct["):
            raise UnsupportedError("sql: unsupported: word='UNNEST' of a struct; name its fields")
        lists.append(_list(operand, scope.relation.rows))
    if len(calls) > 1 and any(each.expressions for each in calls if isinstance(each, exp.Explode)):
        raise UnsupportedError("sql: several lists: word='RECURSIVE'; use subqueries")
    if len(calls) > 1:
        return _side_by_side(scope, calls, lists)
    held = scope.relation.with_fields([Field(_ROW, "lists", lists[0], True)])
    held = held.filtered(_some(lists[0]))
    rows, items = items_of(held.fields[-1].value)
    relation = Relation(held.fields[:-1], held.rows).taken(rows)
    made = scope.over(relation)
    made.compute(calls[0], value_of(_core.in_domain(items.node, relation.rows.domain)))
    return made


_OPTION = re.compile(r"(max_depth|recursive|keep_parent_names)(?::=|=>|=)(\d+|true|false)")


def options_of(node: Expression) -> tuple[int, bool]:
    """How many levels UNNEST takes apart, and whether fields keep the names of their parents."""
    depth, keeps = 1, False
    for each in node.expressions:
        found = _OPTION.fullmatch(each.sql("duckdb").lower().replace(" ", ""))
        if found is None or found[2] == "0" or (found[1] == "max_depth") != found[2].isdigit():
            raise UnsupportedError(
                f"sql: unsupported: word='UNNEST', option={each.sql('duckdb')!r}"
            )
        if found[1] == "keep_parent_names":
            keeps = found[2] == "true"
        elif found[1] == "max_depth":
            depth = int(found[2])
        elif found[2] == "true":
            depth = _EVERY
    return depth, keeps


_EVERY = 1 << 30


def levels_of(dtype: str, most: int) -> tuple[int, str]:
    """How many levels of lists are there, `most` at most, and what is in the last one."""
    found = 0
    while is_list(dtype) and found < most:
        found, dtype = found + 1, item_dtype(dtype)
    return found, dtype


def of_levels(node: Expression, levels: int) -> Expression:
    """UNNEST of this list, `levels` levels of it."""
    made = exp.Explode(this=node.copy())
    if levels > 1:
        depth = exp.PropertyEQ(this=exp.to_identifier("max_depth"))
        depth.set("expression", exp.Literal.number(levels))
        made.set("expressions", [depth])
    return made


def _flat(operand: Operand, node: Expression) -> Operand:
    """The lists of which each level of UNNEST but the first was taken apart."""
    depth, _ = options_of(node)
    levels, inside = levels_of(operand.dtype, depth)
    for _ in range(1, levels):
        operand = nested.flattened(operand)
    if depth > levels and inside.startswith("struct["):
        raise UnsupportedError("sql: unsupported: word='RECURSIVE' of structs; name their fields")
    return operand


def _side_by_side(scope: Scope, calls: list[Expression], lists: list[Value]) -> Scope:
    """Several lists: shorter ones end in nulls."""
    parts = []
    for each in lists:
        row = rows_from_zero(each.node)
        held = Relation([Field(_ROW, "list", each), Field(_ROW, "row", value_of(row))], row)
        held = held.filtered(_some(each))
        own, items = items_of(held.fields[0].value)
        at = _core.in_domain(_core.take(held.fields[1].value.node, own), own.domain)
        item = _core.in_domain(items.node, own.domain)
        parts.append((at, places_of(own), item))
    every = [_core.concat([part[i] for part in parts]) for i in (0, 1)]
    every[1] = _core.in_domain(every[1], every[0].domain)
    row, place = distinct_nodes(every)
    order = Relation([Field(_ROW, "row", value_of(row)), Field(_ROW, "at", value_of(place))], row)
    order = order.sorted([(row, False), (place, False)])
    for number, (at, own_place, item) in enumerate(parts):
        right = Relation([Field(_ROW, f"item {number}", value_of(item))], at)
        keys = list(zip(order.nodes()[:2], (at, own_place), strict=True))
        order = joined(order, right, keys, "left", True)
    relation = scope.relation.taken(order.fields[0].value.node)
    made = scope.over(relation)
    for call, found in zip(calls, order.fields[2:], strict=True):
        node = _core.in_domain(found.value.node, relation.rows.domain)
        made.compute(call, value_of(node))
    return made
