# SPDX-License-Identifier: Apache-2.0
"""DESCRIBE: the columns of a table or query as rows."""

from __future__ import annotations

from headrace import _core
from headrace.sql.relation import Field, Relation
from headrace.sql.values import NULL, type_name, value_of


def description(relation: Relation) -> Relation:
    """A row for each visible column: its name, type, and what DuckDB has of constraints."""
    fields = [f for f in relation.fields if not f.hidden]
    kinds = ["INTEGER" if f.value.dtype == NULL else type_name(f.value.dtype) for f in fields]
    columns: dict[str, list[str | None]] = {
        "column_name": [f.name for f in fields],
        "column_type": [*kinds],
        "null": ["YES"] * len(fields),
    }
    columns |= dict.fromkeys(("key", "default", "extra"), [None] * len(fields))
    domain = _core.new_domain()
    made = [
        Field("", name, value_of(_core.data(_core.column_from_list(v, "string"), name, domain)))
        for name, v in columns.items()
    ]
    return Relation(made, made[0].value.node)
