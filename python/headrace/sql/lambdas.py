# SPDX-License-Identifier: Apache-2.0
"""Lists of expressions, and functions that take a lambda or fold the items of each list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql import functions, operators
from headrace.sql.casts import cast, common
from headrace.sql.elementwise import filled, run
from headrace.sql.functions import nested
from headrace.sql.lists import (
    chosen,
    chosen_items,
    items_of,
    null_where_null,
    places_of,
    relisted,
    rows_from_zero,
)
from headrace.sql.relation import Field, Relation
from headrace.sql.scope import ITEM, Scope
from headrace.sql.syntax import exp, is_aggregate, named, replaced
from headrace.sql.values import (
    NOTHING,
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    column_value,
    is_list,
    value_of,
)

Expression = Any
#: The value of an expression in a scope.
Evaluation = Callable[[Expression, Scope], Operand]


def items_made(node: Expression, scope: Scope, evaluate: Evaluation) -> Operand:
    """A list of expressions, or of what a lambda makes of items."""
    if isinstance(node, exp.Array):
        inside = node.expressions[0] if len(node.expressions) == 1 else None
        if not isinstance(inside, exp.Comprehension):
            operands = [evaluate(each, scope) for each in node.expressions]
            return nested.list_of(operands, scope.relation.rows)
        names = [named(inside.expression.name)]
        test = inside.args.get("condition")
        lists = evaluate(inside.args["iterator"], scope)
        if inside.args.get("position") is not None:
            names.append(named(inside.args["position"].name))
            made = _changed_items(lists, names, inside.this, scope, evaluate)
            if test is None or lists.dtype == NULL:
                return made
            kept = _changed_items(lists, names, test, scope, evaluate)
            return functions.items_where(made, kept)
        if test is not None:
            lists = _filtered_items(lists, names, test, scope, evaluate)
        return _changed_items(lists, names, inside.this, scope, evaluate)
    lists, function = functions.lambda_of(node)
    names = [named(each.name) for each in function.expressions]
    if functions.is_lambda(node) == "filter":
        return _filtered_items(evaluate(lists, scope), names, function.this, scope, evaluate)
    return _changed_items(evaluate(lists, scope), names, function.this, scope, evaluate)


#: LIST_REDUCE of a longer list is refused: each item is a step of the plan.
_MOST_ITEMS = 1000


def reduced(node: Expression, scope: Scope, evaluate: Evaluation) -> Operand:
    """LIST_REDUCE: a lambda of what was made so far and the next item.

    The longest list is looked for at the line of the query; the steps for its items are lazy.
    """
    arguments = functions.arguments_of(node)
    arguments[1:] = sorted(arguments[1:], key=lambda each: not isinstance(each, exp.Lambda))
    if len(arguments) not in (2, 3) or not isinstance(arguments[1], exp.Lambda):
        raise UnsupportedError(f"sql: unsupported: expression={node.sql('duckdb')[:80]!r}")
    operand = evaluate(arguments[0], scope)
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_REDUCE")
    names = [named(each.name) for each in arguments[1].expressions]
    if len(names) not in (2, 3):
        raise InvalidArgumentError("sql: LIST_REDUCE takes a lambda of two or three parameters")
    length = nested.length(lists)
    least, size = _lengths(lists)
    if size > _MOST_ITEMS:
        raise UnsupportedError(f"sql: a list is too long: word='LIST_REDUCE', items={size}")
    first = 0
    if len(arguments) == 3:
        made = evaluate(arguments[2], scope)
    else:
        made, first = nested.item(lists, Constant(1, "int32")), 1
        if least == 0 and lists.node.shape[0] != 0:
            raise InvalidArgumentError("sql: LIST_REDUCE of an empty list needs an initial value")
    dtype = NULL
    for place in range(first + 1, size + 1):
        item = nested.item(lists, Constant(place, "int32"))
        number = Constant(place, "int64")
        step = _step(names, arguments[1].this, [made, item, number], scope, evaluate)
        there = operators.compare("greater_equal", length, number)
        if dtype == NULL:
            dtype = common([made, step], "LIST_REDUCE")[0]
        made = operators.choose(there, cast(step, dtype), cast(made, dtype))
    none = operators.is_null(lists)
    return operators.choose(none, Constant(None, made.dtype), made)


def _lengths(lists: Value) -> tuple[int, int]:
    """The least and the largest number of items; runs."""
    length = _core.astype(_core.list_length(lists.node), "int64")
    ends = [
        _core.reduce_columns(word, [filled(length, other)], 0)[0]
        for word, other in (("min", 1 << 40), ("max", 0))
    ]
    _core.force(ends)
    found = [end.value().to_list() for end in ends]
    least, most = (each[0] if isinstance(each, list) else each for each in found)
    return int(least or 0), int(most or 0)


def _step(
    names: list[str],
    body: Expression,
    values: list[Operand],
    scope: Scope,
    evaluate: Evaluation,
) -> Operand:
    """The body of a lambda with these values for its parameters."""
    like = scope.relation.rows
    fields = [
        Field(ITEM, name, column_value(value, like), True)
        for name, value in zip(names, values, strict=False)
    ]
    hidden = [f for f in scope.relation.fields if f.table != ITEM or f.name not in names]
    inner = scope.over(Relation([*hidden, *fields], like))
    return evaluate(_with_parameters(body, names), inner)


def folded_items(node: Expression, scope: Scope, evaluate: Evaluation) -> Operand | None:
    """An aggregate or an order of the items of each list; None where the engine has it itself."""
    name, arguments = functions.list_aggregate_of(node)
    if not name or not arguments:
        return None
    operand = evaluate(arguments[0], scope)
    if operand.dtype == NULL and name not in ("asc", "desc"):
        return NOTHING
    if not isinstance(operand, Value) or not is_list(operand.dtype):
        return None
    item = exp.Column(this=exp.Identifier(this="item"), table=exp.Identifier(this=ITEM))
    if name in ("asc", "desc"):
        if nested.sorts(operand):
            return None
        order = exp.Ordered(this=item.copy(), desc=name == "desc", nulls_first=bool(arguments[1:]))
        call: Expression = exp.ArrayAgg(this=exp.Order(this=item, expressions=[order]))
    else:
        if nested.reduces(operand, name) and len(arguments) == 1:
            return None
        call = _aggregate_of(name, item, arguments[1:])
    if not is_aggregate(call):
        raise UnsupportedError(f"sql: unsupported: word='LIST_{name.upper()}'")
    rows, items = items_of(operand)
    empty = run("equal", filled(_core.list_length(operand.node), 0), 0)
    gone = _core.in_domain(_core.take(empty, rows), rows.domain)
    domain = rows.domain
    fields = [
        Field(ITEM, "item", value_of(_core.in_domain(items.node, domain), items.bits), True),
        Field(ITEM, "row", value_of(_core.astype(rows, "int64")), True),
    ]
    held = Relation(fields, rows).filtered(run("logical_not", gone))
    inner = Scope(held, None, scope.planner)
    found = scope.planner.folded(
        inner, held.fields[1].value.node, call, rows_from_zero(operand.node)
    )
    made = column_value(found, operand.node)
    if name in ("asc", "desc"):  # no items are an empty list
        none = _core.list_slice(operand.node, 0, 0)
        made = value_of(chosen(run("is_null", made.node), none, made.node))
    return value_of(null_where_null(made.node, operand), made.bits)


def _aggregate_of(name: str, item: Expression, more: list[Expression]) -> Expression:
    """The call of an aggregate by its name."""
    if name == "string_agg":
        return exp.GroupConcat(this=item, separator=more[0] if more else None)
    if name == "any_value":
        return exp.IgnoreNulls(this=exp.AnyValue(this=item))
    return exp.func(name, item, *more, dialect="duckdb")


def _with_items(
    lists: Value, names: list[str], body: Expression, scope: Scope
) -> tuple[Any, Scope, Expression]:
    """The rows of the items, their scope, and the body with the items as columns."""
    rows, items = items_of(lists)
    relation = scope.relation.taken(rows)
    own = [f for f in relation.fields if f.table != ITEM or f.name not in names]
    relation = Relation(own, relation.rows)
    place = value_of(places_of(rows))
    held = zip(names, (items, place), strict=False)
    if len(names) > 2:
        raise UnsupportedError("sql: unsupported: word='LAMBDA', parameters=3; use up to two")
    fields = [
        Field(ITEM, name, value_of(_core.in_domain(v.node, relation.rows.domain), v.bits), True)
        for name, v in held
    ]
    inner = scope.over(relation.with_fields(fields))

    return rows, inner, _with_parameters(body, names)


def _with_parameters(body: Expression, names: list[str]) -> Expression:
    """The body of a lambda with its parameters as columns of the items."""

    def change(each: Expression) -> Expression | None:
        if isinstance(each, exp.Lambda):  # whose own parameters hide these
            hidden = {named(own.name) for own in each.expressions}
            inner = each.copy()
            inner.set("this", _with_parameters(each.this, [n for n in names if n not in hidden]))
            return inner
        is_name = isinstance(each, exp.Column) and not each.table
        word = named(each.name) if is_name or isinstance(each, exp.Identifier) else ""
        if word in names:
            return exp.Column(this=exp.Identifier(this=word), table=exp.Identifier(this=ITEM))
        if isinstance(each, exp.Column) and named(each.table) in names:  # a field of the item
            own = exp.Column(
                this=exp.Identifier(this=named(each.table)), table=exp.Identifier(this=ITEM)
            )
            return exp.StructExtract(this=own, expression=exp.Literal.string(each.name))
        return each if isinstance(each, exp.Column) else None

    return replaced(body.copy(), change)


def _changed_items(
    operand: Operand,
    names: list[str],
    body: Expression,
    scope: Scope,
    evaluate: Evaluation,
) -> Operand:
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_TRANSFORM")
    rows, inner, body = _with_items(lists, names, body, scope)
    made = column_value(evaluate(body, inner), inner.relation.rows)
    return value_of(relisted(lists, rows, _core.in_domain(made.node, rows.domain)))


def _filtered_items(
    operand: Operand,
    names: list[str],
    test: Expression,
    scope: Scope,
    evaluate: Evaluation,
) -> Operand:
    if operand.dtype == NULL:
        return NOTHING
    lists = nested.as_list(operand, "LIST_FILTER")
    rows, inner, test = _with_items(lists, names, test, scope)
    kept = column_of(operators.as_bool(evaluate(test, inner)), inner.relation.rows, "bool")
    return value_of(chosen_items(lists, rows, _core.in_domain(kept, rows.domain)))
