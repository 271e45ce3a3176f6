# SPDX-License-Identifier: Apache-2.0
"""What GROUP BY groups by: lists of keys, one for each grouping set."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from headrace.errors import InvalidArgumentError
from headrace.sql.scope import Scope
from headrace.sql.syntax import aggregates_of, exp, named

Expression = Any


def grouping_sets(
    clause: Expression | None,
    outputs: list[tuple[str, Expression]],
    scope: Scope,
    resolve: Callable[[Expression], Expression],
) -> list[list[Expression]]:
    """The keys of each grouping set; one without keys where there is no GROUP BY."""
    if clause is None:
        return [[]]
    if clause.args.get("all"):
        return [[node for _, node in outputs if not aggregates_of(node)]]

    def key(node: Expression) -> Expression:
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.this)
            if not 1 <= place <= len(outputs):
                raise InvalidArgumentError(
                    f"sql: GROUP BY names no column: position={place}, columns={len(outputs)}"
                )
            return outputs[place - 1][1]
        if isinstance(node, exp.Column) and not node.table:
            name = named(node.name)
            if scope.field("", name) is None:
                for word, output in outputs:
                    if word.lower() == name:
                        return output
        return resolve(node)

    def keys(node: Expression) -> list[Expression]:
        if isinstance(node, exp.Tuple):
            return [key(each) for each in node.expressions]
        if isinstance(node, exp.Paren):
            return keys(node.this)
        return [key(node)]

    def sets(node: Expression) -> list[list[Expression]]:
        if isinstance(node, exp.Rollup):
            parts = [keys(each) for each in node.expressions]
            return [list(itertools.chain(*parts[:n])) for n in range(len(parts), -1, -1)]
        if isinstance(node, exp.Cube):
            parts = [keys(each) for each in node.expressions]
            return [
                list(itertools.chain(*chosen))
                for n in range(len(parts), -1, -1)
                for chosen in itertools.combinations(parts, n)
            ]
        if isinstance(node, exp.GroupingSets):
            return [one for each in node.expressions for one in sets(each)]
        return [keys(node)]

    made: list[list[Expression]] = [[]]
    items = list(clause.expressions)
    for name in ("grouping_sets", "rollup", "cube"):
        items += [each for each in clause.args.get(name) or [] if not isinstance(each, bool)]
    for item in items:
        made = [[*before, *each] for before in made for each in sets(item)]
    return [list(dict.fromkeys(each)) for each in made]
