# SPDX-License-Identifier: Apache-2.0
"""Joins of each row with the nearest rows of another table."""

from __future__ import annotations

from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import run
from headrace.sql.expressions import evaluate
from headrace.sql.relation import Field, Relation, joined
from headrace.sql.scope import Scope
from headrace.sql.sources.joins import ROW, completed, numbered, row_field
from headrace.sql.syntax import exp
from headrace.sql.values import column_value, value_of

Expression = Any


def nearest_join(
    left: Relation, right: Relation, nearest: Expression, how: str, scope: Scope
) -> Relation:
    """Each left row with the right rows of the least distance, or the greatest similarity.

    All pairs are ranked. Null ranks do not count; of equal ones the first rows are taken.
    """
    count = nearest.args.get("count")
    if not isinstance(count, exp.Literal) or not count.is_int or int(count.this) < 1:
        raise InvalidArgumentError(
            f"sql: NEAREST takes a whole number from 1 on: count={count.sql('duckdb')!r}"
        )
    first, last = numbered(left, "left"), numbered(right, "right")
    pairs = joined(first, last, [], "inner")
    rank = column_value(evaluate(nearest.this, scope.over(pairs)), pairs.rows)
    rows = [row_field(pairs, "left"), row_field(pairs, "right")]
    fields = [
        Field(ROW, name, value_of(n)) for name, n in zip(("left", "right"), rows, strict=True)
    ]
    held = Relation([*fields, Field(ROW, "rank", rank)], pairs.rows)
    held = held.filtered(run("logical_not", run("is_null", rank.node)))
    own, other, ranks = (f.value for f in held.fields)
    order = [
        (own, False, False),
        (ranks, bool(nearest.args.get("similarity")), False),
        (other, False, False),
    ]
    found = held.sorted(sort_keys(list(order), held.rows))
    place = _core.part(_core.group_places([found.fields[0].value.node], False), 0)
    place = _core.in_domain(place, found.rows.domain)
    kept = found.filtered(run("less", place, int(count.this)))
    return completed(first, last, row_field(kept, "left"), row_field(kept, "right"), how)
