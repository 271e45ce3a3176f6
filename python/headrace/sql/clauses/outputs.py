# SPDX-License-Identifier: Apache-2.0
"""What SELECT gives: columns by full names, stars, COLUMNS and structs that UNNEST takes apart."""

from __future__ import annotations

import re
from typing import Any

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql.expressions import evaluate
from headrace.sql.scope import Scope
from headrace.sql.sources.unnest import levels_of, of_levels, options_of
from headrace.sql.syntax import aggregates_of, exp, is_query, named, queries_of, replaced
from headrace.sql.values import is_row, is_struct, struct_fields

Expression = Any


def resolved(
    node: Expression, scope: Scope, aliases: dict[str, Expression], own: str = ""
) -> Expression:
    """With full names of columns, and the expressions of aliases where no column has the name.

    So equal expressions are equal trees.
    """
    node = node.copy() if not is_query(node) else node

    def change(each: Expression) -> Expression | None:
        if isinstance(each, exp.PositionalColumn):
            return _positional(each, scope)
        if not isinstance(each, exp.Column) or isinstance(each.this, exp.Star) or each.db:
            return None
        table, name = named(each.table), named(each.name)
        field = scope.field(table, name)
        if field is not None:
            made = exp.Column(this=exp.Identifier(this=name))
            if field.table:
                made.set("table", exp.Identifier(this=field.table))
            return made
        if not table and name in aliases and name != own.lower():
            rest = {k: v for k, v in aliases.items() if k != name}
            return exp.Paren(this=resolved(aliases[name], scope, rest))
        return None

    return replaced(node, change)


def _positional(node: Expression, scope: Scope) -> Expression:
    """#1: a column of FROM by its place."""
    fields = [f for f in scope.relation.fields if not f.hidden]
    place = int(node.name)
    if not 1 <= place <= len(fields):
        raise InvalidArgumentError(f"sql: no such column: place={place}, columns={len(fields)}")
    made = exp.Column(this=exp.Identifier(this=fields[place - 1].name.lower()))
    if fields[place - 1].table:
        made.set("table", exp.Identifier(this=fields[place - 1].table))
    return made


def outputs_of(select: Expression, scope: Scope) -> list[tuple[str, Expression]]:
    """Names and expressions of SELECT, with what its stars stand for."""
    outputs: list[tuple[str, Expression]] = []
    for each in select.expressions:
        node = each
        while isinstance(node, exp.Paren):
            node = node.this
        star = node.this if isinstance(node, exp.Column) else node
        if isinstance(star, exp.Star):
            table = named(node.table) if isinstance(node, exp.Column) else ""
            outputs += _starred(star, table, scope)
        elif isinstance(node, exp.Alias):
            if named(node.alias) == "export_state" and not node.args["alias"].args.get("quoted"):
                raise UnsupportedError("sql: unsupported: word='EXPORT_STATE'")
            outputs.append((node.alias, node.this))
        elif node.find(exp.Columns) is not None:
            outputs += of_columns(node, scope)
        elif isinstance(node, exp.Explode):
            outputs += _unnested_outputs(node, scope)
        elif isinstance(node, exp.Aliases):
            raise UnsupportedError(f"sql: unsupported: word={type(node).__name__.upper()!r}")
        else:
            outputs.append((name_of(node), node))
    return outputs


def of_columns(node: Expression, scope: Scope) -> list[tuple[str, Expression]]:
    """An expression for each of the columns that COLUMNS stands for."""
    found = {each.sql("duckdb"): each for each in node.find_all(exp.Columns)}
    if len(found) != 1:
        raise UnsupportedError("sql: several patterns in one expression: word='COLUMNS'")
    (words,) = found.values()
    inside = words.this
    every = _starred(inside if isinstance(inside, exp.Star) else exp.Star(), "", scope)
    if isinstance(inside, exp.Literal) and inside.is_string:
        every = [pair for pair in every if re.search(inside.this, pair[0])]
    elif not isinstance(inside, exp.Star):
        raise UnsupportedError("sql: unsupported: word='COLUMNS'; use * or a pattern")
    if not every:
        raise InvalidArgumentError(f"sql: COLUMNS finds no column: pattern={inside.name!r}")
    made = []
    for name, column in every:

        def change(each: Expression, column: Expression = column) -> Expression | None:
            return column.copy() if isinstance(each, exp.Columns) else None

        made.append((name, replaced(node.copy(), change)))
    return made


def _field(node: Expression, name: str) -> Expression:
    return exp.StructExtract(this=node.copy(), expression=exp.Literal.string(name))


def _unnested_outputs(node: Expression, scope: Scope) -> list[tuple[str, Expression]]:
    """UNNEST of a list, or with structs in it of their fields."""
    depth, keeps = options_of(node)
    if aggregates_of(node) or queries_of(node):
        return [(name_of(node), node)]
    dtype = evaluate(resolved(node.this, scope, scope.aliases), scope).dtype
    levels, inside = levels_of(dtype, depth)
    base = of_levels(node.this, levels) if levels else node.this
    if depth > levels and is_struct(inside):
        return _parted(base, inside, depth - levels, "", keeps)
    return [(name_of(node), base if levels else node)]


def _parted(
    node: Expression, dtype: str, depth: int, parent: str, keeps: bool
) -> list[tuple[str, Expression]]:
    """The fields of a struct, and of structs in it down to a depth."""
    made = []
    for name, inner in struct_fields(dtype):
        whole = f"{parent}.{name}" if keeps and parent and not is_row(dtype) else name
        inside = _field(node, name)
        if depth > 1 and is_struct(inner):
            made += _parted(inside, inner, depth - 1, "" if is_row(dtype) else whole, keeps)
        else:
            made.append((whole, inside))
    return made


def _fields_of(node: Expression, scope: Scope) -> list[str]:
    """The fields of a struct; none of other values."""
    if aggregates_of(node) or queries_of(node):
        return []
    dtype = evaluate(resolved(node, scope, {}), scope).dtype
    return [name for name, _ in struct_fields(dtype)] if is_struct(dtype) else []


def name_of(node: Expression) -> str:
    """The name of an expression of SELECT without AS."""
    if isinstance(node, exp.Column):
        return str(node.name)
    return (
        str(node.sql("duckdb")).lower()
        if not isinstance(node, exp.Literal)
        else str(node.sql("duckdb"))
    )


def _starred(star: Expression, table: str, scope: Scope) -> list[tuple[str, Expression]]:
    without = {named(each.name) for each in star.args.get("except_") or []}
    instead = {named(each.alias): each.this for each in star.args.get("replace") or []}
    if star.args.get("rename"):
        raise UnsupportedError("sql: unsupported: word='RENAME'; use AS")
    found: list[tuple[str, Expression]] = []
    if table and not any(f.table == table for f in scope.relation.fields) and scope.has("", table):
        own = exp.Column(this=exp.Identifier(this=table))
        return [
            (name, _field(own, name))
            for name in _fields_of(own, scope)
            if name.lower() not in without
        ]
    for field in scope.relation.fields:
        if field.hidden or (table and field.table != table) or field.name.lower() in without:
            continue
        if field.name.lower() in instead:
            found.append((field.name, instead[field.name.lower()]))
            continue
        column = exp.Column(this=exp.Identifier(this=field.name.lower()))
        if field.table:
            column.set("table", exp.Identifier(this=field.table))
        found.append((field.name, column))
    if not found:
        raise InvalidArgumentError(f"sql: * stands for no column: table={table!r}; check the name")
    return found
