# SPDX-License-Identifier: Apache-2.0
"""Functions that take constants, of columns: once for each different value."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import common
from headrace.sql.elementwise import bool_value, run
from headrace.sql.lists import rows_from_zero
from headrace.sql.relation import Field, Relation, distinct_nodes, joined
from headrace.sql.values import (
    NULL,
    TIMESTAMP,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    is_nested,
    is_number,
    null_column,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]
Call = Callable[[Expression, Evaluate, _core.Node], Operand]
#: Different values where each makes a column, which is a step of the plan.
_MOST_STEPS = 1000
#: Different values where each makes a constant.
_MOST_VALUES = 100_000


def called(call: Call, node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """The value of a function, whose arguments may be columns where it asks for constants.

    Such columns are read at the line of the query; the function is called for each of their
    different values.
    """
    known: dict[int, tuple[Expression, Operand]] = {}
    columns: list[int] = []

    def once(each: Expression) -> Operand:
        if id(each) not in known:
            known[id(each)] = (each, evaluate(each))
        return known[id(each)][1]

    def made(keys: list[int], constants: list[Constant]) -> Operand:
        fixed = dict(zip(keys, constants, strict=True))
        return call(node, lambda each: fixed.get(id(each)) or once(each), like)

    while True:
        try:
            if not columns:
                return call(node, once, like)
            operands = [known[key][1] for key in columns]
            return _of_each_value(partial(made, columns), operands, like)
        except ConstantExpectedError as error:
            asked = error.operand
            more = [k for k, (_, o) in known.items() if o is asked and k not in columns]
            if not more:
                raise
            columns = [*columns, *more]


def _of_each_value(
    make: Callable[[list[Constant]], Operand], operands: list[Operand], like: _core.Node
) -> Operand:
    """What is made of each different row of values, for the rows that have them."""
    columns = [each.node for each in operands if isinstance(each, Value)]
    found = distinct_nodes(columns)
    _core.force(found)
    count = found[0].shape[0]
    if count > _MOST_VALUES:
        raise UnsupportedError(
            f"sql: too many different values of an argument: values={count}, most={_MOST_VALUES}; "
            "pass a constant"
        )
    dtypes = [each.dtype for each in operands]
    rows = list(zip(*(node.value().to_list() for node in found), strict=True))
    results: list[Operand] = []
    for row in rows or [(None,) * len(columns)]:
        constants = [constant_from(value, dtype) for value, dtype in zip(row, dtypes, strict=True)]
        results.append(make(constants))
        if isinstance(results[-1], Value) and count > _MOST_STEPS:
            raise UnsupportedError(
                f"sql: too many different values of an argument: values={count}, "
                f"most={_MOST_STEPS}; pass a constant"
            )
    dtype, results = common(results, "a function")
    if dtype == NULL:
        return Constant(None, NULL)
    if not rows:
        return value_of(null_column(like, dtype))
    return _by_code(_codes(columns, found, like), results, dtype)


def constant_from(value: Any, dtype: str) -> Constant:
    """A value of a column as a constant."""
    if value is None:
        return Constant(None, dtype)
    if is_number(dtype) or dtype in ("bool", "string", "date"):
        return Constant(value, dtype)
    if dtype == TIMESTAMP:
        moment = value.astype("datetime64[us]").item()
        if isinstance(moment, datetime.datetime):
            return Constant(moment, dtype)
    raise UnsupportedError(
        f"sql: a column of this type is not supported here: type={dtype.upper()}; pass a constant"
    )


def _codes(columns: list[_core.Node], found: list[_core.Node], like: _core.Node) -> _core.Node:
    """For each row of the columns its place among the different ones."""
    domain = _core.new_domain()
    keys = [_core.data(node.value(), "values", domain) for node in found]
    right = Relation([Field("", "code", value_of(rows_from_zero(keys[0])), True)], keys[0])
    made = joined(Relation([], like), right, list(zip(columns, keys, strict=True)), "left", True)
    # A join of unknown length; the places of its rows have the known one.
    codes = _core.take(made.fields[-1].value.node, rows_from_zero(like))
    return _core.in_domain(codes, like.domain)


def _by_code(codes: _core.Node, results: list[Operand], dtype: str) -> Operand:
    """The result at each place."""
    if all(isinstance(each, Constant) for each in results) and not is_nested(dtype):
        values = [each.value for each in results if isinstance(each, Constant)]
        held = _core.data(_core.column_from_list(values, dtype), "values", _core.new_domain())
        return value_of(_core.in_domain(_core.take(held, codes), codes.domain))
    made = results[0]
    for place, each in enumerate(results[1:], 1):
        made = operators.choose(bool_value(run("equal", codes, place)), each, made)
    return made
