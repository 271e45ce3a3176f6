# SPDX-License-Identifier: Apache-2.0
"""Aggregates: GROUP BY, grouping sets, DISTINCT and FILTER inside of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.groupby.keys import Words
from headrace.sql import operators
from headrace.sql.aggregates.calls import (
    CALLS,
    Call,
    as_column,
    counted,
    finished,
    name_and_arguments,
    name_of,
    with_nan,
    word,
)
from headrace.sql.aggregates.folder import Folder
from headrace.sql.elementwise import run, where
from headrace.sql.expressions import condition, evaluate
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation, groups_of, joined
from headrace.sql.scope import COMPUTED, OUTER, Scope
from headrace.sql.syntax import exp, named
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    column_of,
    null_column,
    value_of,
)

Expression = Any


# ---- groups --------------------------------------------------------------------------------------


def _fold(keys: Sequence[_core.Node], calls: Sequence[Call]) -> tuple[list[Any], list[list[Any]]]:
    """The keys of the groups, and of each call what the engine folds."""
    words: list[Words] = []
    places: list[list[int]] = []
    known: dict[Any, int] = {}
    for call in calls:
        mine = []
        for each in call.words:
            key = (each[1], id(each[2]), *each[4:])
            if key not in known:
                known[key] = len(words)
                words.append(each._replace(name=f"a{len(words)}"))
            mine.append(known[key])
        places.append(mine)
    found, values = groups_of(keys, words)
    return found, [[values[i] for i in mine] for mine in places]


def _fold_all(like: _core.Node, calls: Sequence[Call]) -> list[list[_core.Node]] | None:
    """What the engine folds of all rows, as columns of one row; None for more than sums and counts.

    Without groups the rows need not be made: they are folded where they are computed.
    """
    words = [each for call in calls for each in call.words]
    simple = all(
        each.aggregate == "size"
        or (each.values is not None and _folds_at_once(each.aggregate, each.values.dtype))
        for each in words
    )
    if not words or not simple:
        return None
    domain = _core.new_domain()
    made: dict[tuple[str, int], _core.Node] = {}

    def folded(kind: str, node: _core.Node) -> _core.Node:
        key = (kind, id(node))
        if key not in made:
            (value,) = _core.reduce_columns(kind, [node], 0)
            made[key] = _core.in_domain(_core.stack([value]), domain)
        return made[key]

    def size() -> _core.Node:
        full = [w.values for w in words if w.values is not None and not w.values.nullable]
        if not full:
            return folded("sum", ones)
        if full[0].dtype != "float64":
            return folded("count", full[0])
        return run("add", folded("count", full[0]), folded("sum", nans_of[id(full[0])]))

    ones = _core.astype(_core.repeat(like, 1), "int64")
    floats = [w.values for w in words if w.values is not None and w.values.dtype == "float64"]
    nans_of = {id(n): _core.astype(run("isnan", n), "int64") for n in floats}

    def value_of_word(each: Words) -> _core.Node:
        if each.values is None:
            return size()
        value = folded(each.aggregate, each.values)
        if each.aggregate != "sum":
            return value
        value = where(run("greater", folded("count", each.values), 0), value, None)
        if not each.nan_is_value:
            return value
        nans = folded("sum", nans_of[id(each.values)])
        return where(run("greater", nans, 0), float("nan"), value)

    return [[value_of_word(each) for each in call.words] for call in calls]


def _folds_at_once(kind: str, dtype: str) -> bool:
    return kind in ("sum", "count") and dtype in ("float64", "int64")


#: How parts of an aggregate are put together, where that gives the aggregate of the whole.
_MERGES = {"sum": "sum", "size": "sum", "count": "sum", "min": "min", "max": "max"}


class Folds:
    """What sets of keys were folded to, so that sets of fewer keys are folded from these groups."""

    def __init__(self) -> None:
        self._made: list[tuple[list[Expression], list[Any], list[Call], list[list[Any]]]] = []

    def keep(
        self, keys: list[Expression], nodes: list[Any], calls: list[Call], found: list[list[Any]]
    ) -> None:
        """Remember the groups of a set, if others can be folded from them."""
        if all(_merges(w, n) for w, n in _paired(calls, found)):
            self._made.append((keys, nodes, calls, found))

    def of(self, keys: list[Expression]) -> tuple[list[Any], list[Call], list[list[Any]]] | None:
        """The keys, calls and folded values of a set, from the last one that has all its keys."""
        for own, nodes, calls, found in reversed(self._made):
            if len(keys) >= len(own) or not all(key in own for key in keys):
                continue
            grouping = [nodes[own.index(key)] for key in keys] or [_core.repeat(nodes[0], 0)]
            kinds = [_MERGES[w.aggregate] for w, _ in _paired(calls, found)]
            parts = [
                with_nan(word(kind, n))
                for kind, (_, n) in zip(kinds, _paired(calls, found), strict=True)
            ]
            made, folded = _fold(grouping, [Call(words, counted) for words in parts])
            values = (finished(*each) for each in zip(kinds, folded, strict=True))
            return made, calls, [[next(values) for _ in call.words] for call in calls]
        return None


def _is_simple(node: Expression) -> bool:
    """Whether an aggregate is nothing but what the engine folds."""
    call = node.this if isinstance(node, exp.Filter) else node
    simple = exp.Sum | exp.Count | exp.Avg | exp.Min | exp.Max
    is_ordered = isinstance(call.this, exp.Order) or call.args.get("order") is not None
    return isinstance(call, simple) and not (call.expressions or is_ordered or is_distinct(node))


def _paired(calls: list[Call], found: list[list[Any]]) -> list[tuple[Words, _core.Node]]:
    return [
        pair
        for call, nodes in zip(calls, found, strict=True)
        for pair in zip(call.words, nodes, strict=True)
    ]


def _merges(each: Words, node: _core.Node) -> bool:
    return (
        each.aggregate in _MERGES
        and each.other is None
        and (node.dtype in ("float64", "int64") or _MERGES[each.aggregate] != "sum")
    )


def _padded(node: _core.Node, domain: int) -> _core.Node:
    """A column of one row or none as one row, null for none."""
    null = _core.slice(null_column(_one_row(), node.dtype), 0, 1)
    both = _core.concat([node, null])
    # Not a slice: the first part would be a plan of its own.
    return _core.in_domain(_core.take(both, _one_row()), domain)


def _one_row() -> _core.Node:
    """A column of one row, zero."""
    return _core.data(_core.column_from_list([0], "int32"), "one row", 0)


def is_distinct(node: Expression) -> bool:
    """Whether the call folds distinct values only, where that makes a difference."""
    call = node.this if isinstance(node, exp.Filter) else node
    if isinstance(call, exp.Anonymous):
        return len(call.expressions) == 1 and isinstance(call.expressions[0], exp.Distinct)
    if not isinstance(call.this, exp.Distinct):
        return False
    return not isinstance(call, exp.Min | exp.Max | exp.ArrayAgg | exp.GroupConcat)


def _is_joined(node: Expression) -> bool:
    """Whether distinct values are folded in groups of their own, which are joined."""
    if not is_distinct(node):
        return False
    call = node.this if isinstance(node, exp.Filter) else node
    return name_of(call) in CALLS


def _first_values(node: Expression, folder: Folder, keys: list[_core.Node]) -> _core.Node | None:
    """The rows with a value that no row of their group before them has; None for all."""
    if not is_distinct(node):
        return None
    call = node.this if isinstance(node, exp.Filter) else node
    given = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
    if len(given.expressions) != 1:
        raise UnsupportedError("sql: DISTINCT of several values: word='DISTINCT'; use a subquery")
    like = folder.like
    (value,) = given.expressions
    value = value.this if isinstance(value, exp.Order) else value
    columns = [*keys, as_column(folder.operand(value), like).node]
    if isinstance(node, exp.Filter):
        columns.append(column_of(condition(node.expression.this, folder.scope), like, "bool"))
    place = _core.part(_core.group_places(as_keys(columns), False), 0)
    return run("equal", _core.in_domain(place, like.domain), 0)


def _plain(node: Expression) -> Expression:
    """The call without DISTINCT, of the same arguments: their subqueries are known by identity."""
    if isinstance(node, exp.Filter):
        call = _plain(node.this)
        return node if call is node.this else exp.Filter(this=call, expression=node.expression)
    if isinstance(node, exp.Anonymous) and is_distinct(node):
        return exp.Anonymous(this=node.this, expressions=node.expressions[0].expressions)
    if isinstance(node.this, exp.Distinct) and not isinstance(node, exp.ArrayAgg | exp.GroupConcat):
        inner = node.this.expressions
        if len(inner) != 1:
            raise UnsupportedError(
                "sql: DISTINCT of several values: word='DISTINCT'; use a subquery"
            )
        return type(node)(**{**node.args, "this": inner[0]})
    return node


def group(
    scope: Scope,
    keys: list[Expression],
    aggregates: list[Expression],
    whole: bool,
    folds: Folds | None = None,
) -> Scope:
    """One row for each group of the keys; `whole`: one row for all, even of no rows.

    The scope that results knows the keys and the aggregates by their expressions. `folds`: of
    other sets of keys of the same rows.
    """
    relation = scope.relation
    hidden = [f for f in relation.fields if f.table == OUTER]
    like = relation.rows
    values = [evaluate(each, scope) for each in keys]
    columns = [as_column(each, like).node for each in values] + [f.value.node for f in hidden]
    plain = [each for each in aggregates if not _is_joined(each)]
    folds = folds if all(map(_is_simple, aggregates)) and not hidden else None
    coarser = folds.of(keys) if folds is not None else None
    distinct = [each for each in aggregates if _is_joined(each)]
    at_once = None
    if coarser is not None:
        found_keys, calls, found = coarser
    elif columns and not plain and distinct:  # whose groups are those of the keys
        call, found_keys, folded = _distinct_fold(scope, columns, distinct[0])
        plain, distinct, calls, found = distinct[:1], distinct[1:], [call], [folded]
    else:
        folder = Folder(scope, columns)
        calls = [folder.call(_plain(each), _first_values(each, folder, columns)) for each in plain]
        if not calls:
            calls = [Call([word("size")], counted, 0)]
        at_once = _fold_all(like, calls) if whole and not columns else None
        if at_once is not None:
            found_keys, found = [n for nodes in at_once for n in nodes], at_once
        else:
            found_keys, found = _fold(columns or [_core.repeat(like, 0)], calls)
        if folds is not None and keys:
            folds.keep(keys, found_keys, calls, found)
    fields = _key_fields(keys, values, found_keys, scope)
    fields += [
        f._replace(value=f.value._replace(node=n))
        for f, n in zip(hidden, found_keys[len(keys) :], strict=False)
    ]
    made = Scope(Relation(fields, found_keys[0]), scope.outer, scope.planner)
    made.aliases, made.domain = scope.aliases, scope.domain
    results = {id(each): nodes for each, nodes in zip(plain, found, strict=False)}
    raw = [
        Field(COMPUTED, f"raw {i} {j}", value_of(n), True)
        for i, each in enumerate(plain)
        for j, n in enumerate(results[id(each)])
    ]
    relation = Relation([*fields, *raw], found_keys[0])
    relation, more = _joined_distinct(scope, relation, columns, distinct, len(plain))
    if whole and not at_once:
        relation = _whole_rows(relation, scope, len(hidden))
    made.relation = relation
    _finish(made, [*plain, *distinct], [*calls[: len(plain)], *more])
    for i, (key, value) in enumerate(zip(keys, values, strict=True)):
        if isinstance(value, Constant):
            made.computed[key] = value
        elif made.field(COMPUTED, f"key {i}") is not None:
            made.computed[key] = f"key {i}"
    return made


def _key_fields(
    keys: list[Expression], values: list[Operand], nodes: list[_core.Node], scope: Scope
) -> list[Field]:
    fields = []
    for i, (key, value) in enumerate(zip(keys, values, strict=True)):
        bits = value.bits if isinstance(value, Value) else 64
        kept = Value(nodes[i], nodes[i].dtype, bits)
        own = (
            scope.field(named(key.table), named(key.name)) if isinstance(key, exp.Column) else None
        )
        if own is not None:
            fields.append(Field(own.table, own.name, kept))
        else:
            fields.append(Field(COMPUTED, f"key {i}", kept, True))
    return fields


def _finish(made: Scope, aggregates: list[Expression], calls: list[Call]) -> None:
    raw: dict[int, list[_core.Node]] = {}
    for field in made.relation.fields:
        if field.table == COMPUTED and field.name.startswith("raw "):
            raw.setdefault(int(field.name.split()[1]), []).append(field.value.node)
    kept = [f for f in made.relation.fields if f.table != COMPUTED or not f.name.startswith("raw ")]
    made.relation = Relation(kept, made.relation.rows)
    for i, (node, call) in enumerate(zip(aggregates, calls, strict=True)):
        made.compute(node, call.finish(raw[i]))


def _distinct_fold(
    scope: Scope, columns: list[_core.Node], node: Expression
) -> tuple[Call, list[_core.Node], list[_core.Node]]:
    """The call of distinct values, the keys of its groups and what the engine folds of them."""
    folder = Folder(scope)
    like = scope.relation.rows
    plain = _plain(node)
    call = plain.this if isinstance(plain, exp.Filter) else plain
    inner = call.expressions[0] if isinstance(call, exp.Anonymous) else call.this
    argument = as_column(folder.operand(inner), like)
    values: Operand = argument
    if isinstance(plain, exp.Filter):
        test = condition(plain.expression.this, scope)
        values = operators.choose(test, argument, Constant(None, argument.dtype))
    column = as_column(values, like).node
    every = [*columns, column] if columns else [_core.repeat(like, 0), column]
    distinct, _ = _fold(every, [Call([word("size")], counted)])
    name, _ = name_and_arguments(call, None)
    if name not in CALLS:
        raise UnsupportedError(f"sql: DISTINCT is not supported here: word={name.upper()!r}")
    made = CALLS[name]([value_of(distinct[-1], argument.bits)], distinct[0])
    mine, found = _fold(distinct[:-1], [made])
    return made, mine, found[0]


def _joined_distinct(
    scope: Scope,
    relation: Relation,
    columns: list[_core.Node],
    aggregates: list[Expression],
    first: int,
) -> tuple[Relation, list[Call]]:
    """With the results of calls of distinct values: each of its own groups, joined by the keys."""
    calls = []
    keys = [f.value.node for f in relation.fields if not f.name.startswith("raw ")]
    for place, node in enumerate(aggregates):
        call, mine, found = _distinct_fold(scope, columns, node)
        calls.append(call)
        fields = [
            Field(COMPUTED, f"raw {first + place} {j}", value_of(n), True)
            for j, n in enumerate(found)
        ]
        other = Relation(fields, mine[0])
        if columns:
            relation = joined(relation, other, list(zip(keys, mine, strict=True)), "left", True)
        else:
            own = _core.repeat(relation.rows, 0)
            relation = joined(relation, other, [(own, mine[0])], "left", True)
        keys = [f.value.node for f in relation.fields if not f.name.startswith("raw ")]
    return relation, calls


def _whole_rows(relation: Relation, scope: Scope, hidden: int) -> Relation:
    """One row, or one for each row of the query around, even where nothing was folded."""
    if not hidden:
        domain = _core.new_domain()
        nodes = [_padded(node, domain) for node in [relation.rows, *relation.nodes()]]
        return relation.of_nodes(nodes[1:], nodes[0])
    if scope.domain is None:
        return relation
    outer = [f.value.node for f in relation.fields if f.table == OUTER]
    rest = Relation([f for f in relation.fields if f.table != OUTER], relation.rows)
    mine = [f.value.node for f in scope.domain.fields if f.table == OUTER]
    keys = list(zip(mine, outer, strict=True))
    return joined(scope.domain, rest, keys, "left", True)
