# SPDX-License-Identifier: Apache-2.0
"""Joins: FROM lists in a good order, by keys, with conditions that are no keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace import _core
from headrace.errors import ColumnNotFoundError, InvalidArgumentError, UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.elementwise import run, where
from headrace.sql.expressions import condition, evaluate
from headrace.sql.relation import Field, Key, Relation, joined, row_numbers
from headrace.sql.scope import OUTER, Correlation, Scope
from headrace.sql.sources.join_order import Keys, Table, count_passing, joined_rows
from headrace.sql.syntax import all_of, any_of, conjuncts, disjuncts, exp, named, queries_of, walk
from headrace.sql.values import (
    Constant,
    Operand,
    Value,
    common_dtype,
    value_of,
)

Expression = Any
#: The table of hidden fields that count the rows of a side.
ROW = " row"
_KEY = " key"
#: The share of rows that IN of a query is thought to keep.
_MEMBERS = 0.3
#: How many times fewer rows an equality of more than two tables is thought to leave.
_ROUGH = 10.0


def tables_of(node: Expression, scopes: list[Scope]) -> set[int] | None:
    """Which of the scopes the columns of an expression belong to; None if one is unknown."""
    found: set[int] = set()
    for each in walk(node):
        if isinstance(each, exp.Column):
            table, name = named(each.table), named(each.name)
            places = [i for i, scope in enumerate(scopes) if scope.field(table, name) is not None]
            if not places and table != OUTER and scopes[0].outer is not None:
                places = [
                    i
                    for i, scope in enumerate(scopes)
                    if scope.field(OUTER, f"{table}.{name}") is not None
                ]
                if not places:
                    if scopes[0].outer.bound or scopes[0].outer.lookup(table, name) is None:
                        return None
                    continue
                places = places[:1]
            if not places:
                return None
            if len(places) > 1:
                raise InvalidArgumentError(
                    f"sql: the column name is ambiguous: name={each.sql('duckdb')!r}; write "
                    "table.column"
                )
            found.add(places[0])
    return found


class Equality:
    """A condition `a = b` between two sets of tables."""

    __slots__ = ("left", "left_tables", "node", "right", "right_tables", "same_null", "used")

    def __init__(self, node: Expression, left: set[int], right: set[int]) -> None:
        self.node: Expression = node
        self.left: Expression = node.this
        self.right: Expression = node.expression
        self.left_tables: set[int] = left
        self.right_tables: set[int] = right
        self.same_null: bool = isinstance(node, exp.NullSafeEQ)
        #: Whether it was a key of a join.
        self.used: bool = False


def equality_of(node: Expression, scopes: list[Scope]) -> Equality | None:
    """The condition as an equality of different tables, if it is one."""
    if not isinstance(node, exp.EQ | exp.NullSafeEQ) or queries_of(node):
        return None
    if isinstance(node.this, exp.Tuple):
        return None
    left, right = tables_of(node.this, scopes), tables_of(node.expression, scopes)
    if not left or not right or left & right:
        return None
    return Equality(node, left, right)


def key_pair(a: Operand, b: Operand) -> Key | None:
    """Two sides of an equality as keys of a join; None for what the engine does not compare."""
    if not isinstance(a, Value) or not isinstance(b, Value):
        return None
    dtype = common_dtype([a, b], "=")
    left, right = a, b
    if a.dtype != b.dtype:
        one, other = cast(a, dtype), cast(b, dtype)
        assert isinstance(one, Value)
        assert isinstance(other, Value)
        left, right = one, other
    return left.node, right.node


def without_null_keys(relation: Relation, keys: list[_core.Node]) -> tuple[Relation, list[Any]]:
    """The rows in which no key is null, and their keys."""
    nullable = [key for key in keys if key.nullable]
    if not nullable:
        return relation, keys
    mask = run("logical_not", run("is_null", nullable[0]))
    for key in nullable[1:]:
        mask = run("logical_and", mask, run("logical_not", run("is_null", key)))
    held = relation.with_fields(
        [Field(_KEY, str(i), value_of(k), True) for i, k in enumerate(keys)]
    )
    kept = held.filtered(mask)
    found = [f.value.node for f in kept.fields if f.table == _KEY]
    return Relation([f for f in kept.fields if f.table != _KEY], kept.rows), found


def join_pairs(
    left: Relation,
    right: Relation,
    keys: list[tuple[_core.Node, _core.Node, bool]],
    how: str,
) -> Relation:
    """A join in which null is no key, unless a pair says that null equals null."""
    lefts, rights = [k[0] for k in keys], [k[1] for k in keys]
    strict = [i for i, key in enumerate(keys) if not key[2]]
    if keys and len(strict) == len(keys) and how != "outer":
        right, rights = without_null_keys(right, rights)  # then null finds none
    elif strict and any(keys[i][0].nullable and keys[i][1].nullable for i in strict):
        lefts, rights = _never_equal(lefts, rights, strict)
    return joined(left, right, list(zip(lefts, rights, strict=True)), how)


def _never_equal(lefts: list[Any], rights: list[Any], strict: list[int]) -> tuple[Any, Any]:
    """More keys, which differ where a key is null."""
    for i in strict:
        a = _core.astype(run("is_null", lefts[i]), "int8")
        b = run(
            "multiply",
            _core.astype(run("is_null", rights[i]), "int8"),
            _core.number_literal(2, "int8"),
        )
        lefts, rights = [*lefts, a], [*rights, b]
    return lefts, rights


def numbered(relation: Relation, word: str) -> Relation:
    """With a hidden field of this name that counts the rows."""
    return relation.with_fields([Field(ROW, word, value_of(row_numbers(relation.rows)), True)])


def row_field(relation: Relation, word: str) -> _core.Node:
    """The numbers of the rows."""
    return next(f.value.node for f in relation.fields if f.table == ROW and f.name == word)


def _without_rows(relation: Relation) -> Relation:
    kept = [f for f in relation.fields if f.table != ROW]
    return Relation(kept, relation.rows)


def residual_join(
    left: Relation, right: Relation, keys: list[Any], rest: list[Expression], how: str, scope: Scope
) -> Relation:
    """A join whose condition has more than keys: pairs by the keys, filtered, then completed."""
    if how == "inner":
        made = join_pairs(left, right, keys, "inner")
        return scope.planner.filtered(scope.over(made), rest).relation
    first, last = numbered(left, "left"), numbered(right, "right")
    pairs = join_pairs(first, last, keys, "inner")
    pairs = scope.planner.filtered(scope.over(pairs), rest).relation
    return completed(first, last, row_field(pairs, "left"), row_field(pairs, "right"), how)


def completed(
    first: Relation, last: Relation, own: _core.Node, others: _core.Node, how: str
) -> Relation:
    """The rows of numbered sides by pairs of numbers, with the rows that an outer join keeps."""
    if how in ("semi", "anti"):
        made = joined(first, Relation([], own), [(row_field(first, "left"), own)], how)
        return _without_rows(made)
    inner = Relation(
        [
            Field(ROW, "pair", value_of(own), True),
            Field(ROW, "other", value_of(others), True),
        ],
        own,
    )
    kind = "inner" if how == "inner" else "left"
    made = joined(first, inner, [(row_field(first, "left"), own)], kind)
    other = row_field(made, "other")
    if how != "outer":
        made = joined(made, last, [(other, row_field(last, "right"))], kind)
    else:
        zero = where(run("is_null", other), 0, other) if other.nullable else other
        made = joined(made, last, [(zero, row_field(last, "right"))], "outer")
    return _without_rows(made)


def filtered(scope: Scope, conditions: Sequence[Expression]) -> Scope:
    """The rows where all conditions are true."""
    return scope.over(masked(scope.relation, _mask(scope, conditions)))


def _mask(scope: Scope, conditions: Sequence[Expression]) -> Operand:
    mask: Operand = Constant(True, "bool")
    for each in conditions:
        mask = operators.logical("logical_and", mask, condition(each, scope))
    return mask


def masked(relation: Relation, mask: Operand) -> Relation:
    """The rows where a condition is true."""
    if isinstance(mask, Constant):
        if mask.value:
            return relation
        return relation.filtered(_core.repeat(relation.rows, False))
    return relation.filtered(mask.node)


def inner_joins(
    relations: list[Relation], conditions: list[Expression], scope: Scope
) -> tuple[Relation, list[Expression]]:
    """Relations joined in a good order; conditions that need more than these are given back."""
    scopes = [scope.over(relation) for relation in relations]
    left: list[Expression] = []
    equalities: list[Equality] = []
    others: list[tuple[Expression, set[int]]] = []
    own: dict[int, list[Expression]] = {}
    members: list[tuple[int, Expression]] = []
    for each in conditions:
        tables = None if queries_of(each) else tables_of(each, scopes)
        if tables is None:
            place = _member_of(each, scopes) if len(scopes) > 1 else None
            if place is None:
                left.append(each)
            else:
                members.append((place, each))
        elif len(tables) == 1:
            own.setdefault(next(iter(tables)), []).append(each)
        elif (equality := equality_of(each, scopes)) is not None:
            equalities.append(equality)
        elif tables:
            others.append((each, tables))
        else:
            left.append(each)
    for either, tables in others:
        for place in tables:
            own.setdefault(place, []).extend(_implied(either, place, scopes))
    tables_found = [Table(each, len(own.get(i, ()))) for i, each in enumerate(scopes)]
    if len(scopes) > 2:
        count_passing(tables_found, own, _mask)
    for place, mine in own.items():
        scopes[place] = filtered(scopes[place], mine)
    for place, each in members:
        scopes[place] = scope.planner.filtered(scopes[place], [each])
        tables_found[place].rows *= _MEMBERS
    made, left = _greedy(scopes, tables_found, equalities, others, scope, left)
    return in_order(made, relations), left


def _member_of(node: Expression, scopes: list[Scope]) -> int | None:
    """The table that IN tests alone, by a query of its own: it keeps few rows, so it goes first."""
    while isinstance(node, exp.Paren):
        node = node.this
    query = node.args.get("query") if isinstance(node, exp.In) else None
    tables = None if query is None or queries_of(node.this) else tables_of(node.this, scopes)
    if query is None or tables is None or len(tables) != 1:
        return None
    if any(each.args.get("query") for each in query.find_all(exp.In)):
        return None  # which would be planned twice at each depth
    fields = [f for each in scopes for f in each.relation.fields]
    around = Relation(fields, scopes[0].relation.rows)
    found = Correlation(Scope(around, scopes[0].outer, scopes[0].planner))
    scopes[0].planner.lower(query.this if isinstance(query, exp.Subquery) else query, found)
    return None if found.found else next(iter(tables))


def _implied(node: Expression, place: int, scopes: list[Scope]) -> list[Expression]:
    """What an OR says of one table: one of the conditions that its sides have for it."""
    sides = disjuncts(node)
    found = []
    for side in sides:
        mine = [each for each in conjuncts(side) if tables_of(each, scopes) == {place}]
        if not mine or len(sides) == 1:
            return []
        found.append(all_of(mine))
    return [any_of(found)]


def in_order(made: Relation, relations: list[Relation]) -> Relation:
    """The fields in the order of FROM, which is not that of the joins."""
    waiting: dict[tuple[str, str], list[Field]] = {}
    for field in made.fields:
        waiting.setdefault(field[:2], []).append(field)
    fields = [waiting[f[:2]].pop(0) for each in relations for f in each.fields]
    return Relation(fields, made.rows)


class _Side:
    """Tables that are joined: their numbers, rows and how many these may be."""

    __slots__ = ("count", "places", "scope")

    def __init__(self, places: set[int], scope: Scope, count: float) -> None:
        self.places: set[int] = places
        self.scope: Scope = scope
        self.count: float = count


def _greedy(
    scopes: list[Scope],
    tables: list[Table],
    equalities: list[Equality],
    others: list[tuple[Expression, set[int]]],
    scope: Scope,
    left: list[Expression],
) -> tuple[Relation, list[Expression]]:
    """The two sides whose join gives the fewest rows first; last the products of what is left."""
    sides = [_Side({i}, each, tables[i].rows) for i, each in enumerate(scopes)]
    while len(sides) > 1:
        found: tuple[tuple[bool, float, float], _Side, _Side, list[Equality]] | None = None
        for i, one in enumerate(sides):
            for other in sides[:i]:
                links = [e for e in equalities if _crosses(e, one.places, other.places)]
                count = _joined_count(one, other, links, tables) if len(sides) > 2 else 0.0
                rank = (not links, count, one.count + other.count)
                if found is None or rank < found[0]:
                    found = rank, one, other, links
        assert found is not None
        (_, count, _), one, other, links = found
        large, small = (one, other) if one.count >= other.count else (other, one)
        made = _joined_next(large.scope, small.scope, links, small.places, scope)
        places = one.places | other.places
        made, equalities, others = _narrowed(made, equalities, others, places)
        sides = [each for each in sides if each is not one and each is not other]
        sides.append(_Side(places, made, max(1.0, count)))
    return sides[0].scope.relation, left


def _joined_count(one: _Side, other: _Side, links: list[Equality], tables: list[Table]) -> float:
    """How many rows a join may give: by the keys that differ, those of two tables together."""
    keys: dict[tuple[int, int], list[tuple[Expression, Expression]]] = {}
    rough = 1.0
    for link in links:
        a, b, first, second = link.left, link.right, link.left_tables, link.right_tables
        if not first <= one.places:
            a, b, first, second = b, a, second, first
        if len(first) == len(second) == 1:
            keys.setdefault((min(first), min(second)), []).append((a, b))
        else:
            rough *= _ROUGH
    pairs = []
    for (i, j), equal in keys.items():
        pairs.append(
            (_keys(tables[i], [a for a, _ in equal]), _keys(tables[j], [b for _, b in equal]))
        )
    return joined_rows(one.count, other.count, pairs) / rough


def _keys(table: Table, keys: list[Expression]) -> Keys:
    operands = [evaluate(each, table.scope) for each in keys]
    return table.keys([each.node for each in operands if isinstance(each, Value)])


def _narrowed(
    current: Scope,
    equalities: list[Equality],
    others: list[tuple[Expression, set[int]]],
    together: set[int],
) -> tuple[Scope, list[Equality], list[tuple[Expression, set[int]]]]:
    """The joined rows where the conditions hold that need no more tables."""
    equalities, done = _ready(equalities, together)
    ready = [*done, *(node for node, tables in others if tables <= together)]
    others = [pair for pair in others if not pair[1] <= together]
    return (filtered(current, ready) if ready else current), equalities, others


def _crosses(equality: Equality, ours: set[int], theirs: set[int]) -> bool:
    """Whether each side of an equality is one of tables that are joined already."""
    a, b = equality.left_tables, equality.right_tables
    return (a <= ours and b <= theirs) or (b <= ours and a <= theirs)


def _ready(
    equalities: list[Equality], together: set[int]
) -> tuple[list[Equality], list[Expression]]:
    """Without those that were keys, and those that are conditions of the joined rows by now."""
    left, done = [], []
    for each in equalities:
        if each.left_tables | each.right_tables <= together:
            if not each.used:
                done.append(each.node)
            continue
        left.append(each)
    return left, done


def _joined_next(
    current: Scope, other: Scope, links: list[Equality], chosen: set[int], scope: Scope
) -> Scope:
    keys: list[tuple[_core.Node, _core.Node, bool]] = []
    for link in links:
        mine, theirs = link.right, link.left
        if link.left_tables <= chosen:
            mine, theirs = theirs, mine
        pair = key_pair(evaluate(theirs, current), evaluate(mine, other))
        if pair is not None:
            keys.append((*pair, link.same_null))
            link.used = True
    made = join_pairs(current.relation, other.relation, keys, "inner")
    return scope.over(made)


# ---- FROM ----------------------------------------------------------------------------------------


def outer_join(
    left: Relation,
    right: Relation,
    node: Expression,
    how: str,
    scope: Scope,
    conditions: list[Expression],
) -> Relation:
    """LEFT, RIGHT, FULL, SEMI and ANTI joins on conditions."""
    if how == "right":
        made = outer_join(right, left, node, "left", scope, conditions)
        count = len(right.fields)
        return Relation([*made.fields[count:], *made.fields[:count]], made.rows)
    scopes = [scope.over(left), scope.over(right)]
    keys: list[tuple[_core.Node, _core.Node, bool]] = []
    rest: list[Expression] = []
    before: list[Expression] = []
    for each in conditions:
        if queries_of(each):
            rest.append(each)
            continue
        equality = equality_of(each, scopes)
        pair = None
        if equality is not None:
            a, b = (equality.left, equality.right)
            if equality.left_tables == {1}:
                a, b = b, a
            pair = key_pair(evaluate(a, scopes[0]), evaluate(b, scopes[1]))
        if pair is not None and equality is not None:
            keys.append((*pair, equality.same_null))
        elif tables_of(each, scopes) == {1} and how != "full":
            before.append(each)
        else:
            if tables_of(each, scopes) is None:
                for column in each.find_all(exp.Column):
                    scope.over(Relation([*left.fields, *right.fields], left.rows)).column(
                        named(column.table), named(column.name)
                    )
            rest.append(each)
    if before:  # rows of the right side that no pair can have
        # Keys were made of all rows: join again over those that are left.
        narrowed = filtered(scopes[1], before).relation
        kept = [each for each in conditions if each not in before]
        return outer_join(left, narrowed, node, how, scope, kept)
    word = {"full": "outer"}.get(how, how)
    if rest:
        return residual_join(left, right, keys, rest, word, scope)
    return join_pairs(left, right, keys, word)


def using_join(
    left: Relation, right: Relation, names: list[str], how: str, scope: Scope
) -> Relation:
    """A join on columns of the same names, which become one each."""
    scopes = [scope.over(left), scope.over(right)]
    pairs: list[tuple[Field, Field, _core.Node, _core.Node]] = []
    for name in names:
        fields = [each.field("", name) for each in scopes]
        if fields[0] is None or fields[1] is None:
            raise ColumnNotFoundError(f"sql: no such column in both tables: name={name!r}")
        pair = key_pair(fields[0].value, fields[1].value)
        if pair is None:
            raise UnsupportedError(f"sql: unsupported key: name={name!r}")
        pairs.append((fields[0], fields[1], *pair))
    keys = [(a, b, False) for _, _, a, b in pairs]
    if how in ("semi", "anti"):
        return join_pairs(left, right, keys, how)
    if how == "right":
        made = join_pairs(right, left, [(b, a, s) for a, b, s in keys], "left")
        made = Relation(
            [*made.fields[len(right.fields) :], *made.fields[: len(right.fields)]], made.rows
        )
    else:
        made = join_pairs(left, right, keys, "outer" if how == "full" else how)
    return _merged(made, left, pairs, how)


def _merged(made: Relation, left: Relation, pairs: list[Any], how: str) -> Relation:
    fields = list(made.fields)
    count = len(left.fields)
    places = {id(f): i for i, f in enumerate(left.fields)}
    merged: dict[int, Field] = {}
    for mine, other, _, _ in pairs:
        i = places[id(mine)]
        j = next(
            k
            for k in range(count, len(fields))
            if (fields[k].table, fields[k].name) == (other.table, other.name)
        )
        value: Operand = fields[i].value
        if how == "right":
            value = fields[j].value
        elif how == "full":
            value = operators.coalesce([fields[i].value, fields[j].value])
        assert isinstance(value, Value)
        own = Field(fields[i].table, fields[i].name, value)
        # Each side's own column is still found by its table.
        fields[i] = fields[i]._replace(hidden=True)
        fields[j] = fields[j]._replace(hidden=True)
        if how in ("full", "right"):
            merged[i] = own._replace(table=" using")
        else:
            fields[i] = own
    every = [each for i, f in enumerate(fields) for each in (merged.get(i), f) if each is not None]
    return Relation(every, made.rows)
