# SPDX-License-Identifier: Apache-2.0
"""Functions that DuckDB defines by other ones: calls become their definitions."""

from __future__ import annotations

from typing import Any

from headrace.errors import InvalidArgumentError
from headrace.sql.syntax import exp, named, parsed, replaced

Expression = Any
_MEAN = "sum(value * weight) / sum(case when value is not null then weight else 0 end)"
#: Parameters, of which those with a value may be left out, and the definition.
_MACROS: dict[str, tuple[dict[str, str], str]] = {
    "weighted_avg": ({"value": "", "weight": ""}, _MEAN),
    "wavg": ({"value": "", "weight": ""}, _MEAN),
    "geometric_mean": ({"x": ""}, "exp(avg(ln(x)))"),
    "generate_subscripts": (
        {"items": "", "dimension": ""},
        "unnest(generate_series(1, len(items) * dimension))",
    ),
    "regexp_split_to_table": (
        {"text": "", "pattern": ""},
        "unnest(string_split_regex(text, pattern))",
    ),
    "days_in_month": ({"moment": ""}, "day(last_day(moment))"),
    "array_pop_back": ({"items": ""}, "items[1:(len(items) - 1)]"),
    "array_pop_front": ({"items": ""}, "items[2:]"),
    "array_to_string_comma_default": (
        {"items": "", "sep": "','"},
        "array_to_string(items, sep)",
    ),
}


def _parsed(text: str) -> Expression:
    return parsed(f"select {text}", "duckdb").expressions[0]


def expand_macros(tree: Expression) -> None:
    """Put the definitions of macros in place of their calls, inner calls first."""
    calls = [each for each in tree.find_all(exp.Anonymous) if named(each.this) in _MACROS]
    for call in reversed(calls):
        name = named(call.this)
        given = _arguments(call, _MACROS[name][0])

        def change(each: Expression, given: dict[str, Expression] = given) -> Expression | None:
            is_parameter = isinstance(each, exp.Column) and not each.table
            found = given.get(named(each.name)) if is_parameter else None
            return None if found is None else exp.Paren(this=found.copy())

        made: Expression = replaced(_parsed(_MACROS[name][1]), change)
        if not isinstance(made, exp.Explode):
            made = exp.Paren(this=made)
        if isinstance(call.parent, exp.Select):
            made = exp.alias_(made, call.sql("duckdb"), quoted=True)
        call.replace(made)


def _arguments(call: Expression, parameters: dict[str, str]) -> dict[str, Expression]:
    """The value of each parameter, given by its place or its name."""
    found: dict[str, Expression] = {}
    for place, each in enumerate(call.expressions):
        is_named = isinstance(each, exp.PropertyEQ | exp.Kwarg)
        name = named(each.this.name) if is_named else [*parameters, ""][min(place, len(parameters))]
        if name not in parameters or name in found:
            raise InvalidArgumentError(
                f"sql: no such argument: function={named(call.this)!r}, argument={name!r}, "
                f"parameters={', '.join(parameters)}"
            )
        found[name] = each.expression if is_named else each
    for name, text in parameters.items():
        if name not in found and not text:
            raise InvalidArgumentError(
                f"sql: an argument is missing: function={named(call.this)!r}, argument={name!r}"
            )
        if name not in found:
            found[name] = _parsed(text)
    return found
