# SPDX-License-Identifier: Apache-2.0
"""Aggregates by rank: quantiles of values of any type, the most frequent value, the first few."""

from __future__ import annotations

import math

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.sql.aggregates.calls import EXACT_DIGITS, Call, at_rows, refusing_nan, word
from headrace.sql.aggregates.ordered import first_in_order, listed, there
from headrace.sql.casts import cast
from headrace.sql.clauses.ordering import sort_keys
from headrace.sql.elementwise import filled, run, where
from headrace.sql.functions import nested
from headrace.sql.lists import null_where_null, rows_from_zero
from headrace.sql.nested.keys import as_keys
from headrace.sql.relation import Field, Relation
from headrace.sql.values import (
    TIMESTAMP,
    Operand,
    Value,
    is_decimal,
    precision_and_scale,
    value_of,
)

Order = list[tuple[Operand, bool, bool]]


def _ranks(
    value: Value, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node, down: bool
) -> tuple[_core.Node, _core.Node, _core.Node]:
    """The place of each row among the kept ones of its group, how many these are, and the mask."""
    own = there([value], kept)
    mask = _core.repeat(like, True) if own is None else filled(own, False)
    flag = _core.astype(mask, "int8")
    rows = rows_from_zero(like)
    held = Relation(
        [
            Field("", "row", value_of(rows)),
            *(Field("", f"key {i}", value_of(key)) for i, key in enumerate(keys)),
        ],
        rows,
    )
    held = held.sorted([(flag, True), *sort_keys([(value, down, False)], like)])
    groups = held.nodes()[1:] or [_core.repeat(held.rows, 0)]
    place = _core.in_domain(_core.part(_core.group_places(groups, False), 0), held.rows.domain)
    place = _core.astype(place, "int64")
    back = Relation([Field("", "place", value_of(place))], place).sorted([(held.rows, False)]).rows
    count = _core.group_transform(
        keys or [_core.repeat(like, 0)], word("sum", _core.astype(mask, "int64")), False
    )
    return (
        _core.in_domain(back, like.domain),
        _core.in_domain(_core.astype(count, "int64"), like.domain),
        mask,
    )


def quantile_disc(
    value: Value, q: float, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node
) -> Call:
    """The smallest value such that a share `q` is not above it; from the end if negative."""
    place, count, mask = _ranks(value, kept, keys, like, math.copysign(1, q) < 0)
    share = _core.number_literal(_share(q), "float64")
    n = _core.astype(count, "float64")
    above = run("floor", run("subtract", n, run("multiply", n, share)))
    wanted = run("subtract", run("maximum", run("subtract", n, above), 1.0), 1.0)
    hit = run("logical_and", mask, run("equal", _core.astype(place, "float64"), wanted))
    rows = where(hit, rows_from_zero(like), None)
    return Call([word("min", rows)], lambda n: at_rows(value, n[0]))


def _share(q: float) -> float:
    if not -1 <= q <= 1:
        raise InvalidArgumentError(f"sql: a quantile is out of range: q={q}; pass 0 to 1")
    return abs(q)


def quantile_of_times(
    value: Value, q: float, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node
) -> Call:
    """QUANTILE_CONT of dates and times: between two neighbours, as TIMESTAMP."""
    moment = value_of(_core.astype(value.node, TIMESTAMP))
    place, count, mask = _ranks(moment, kept, keys, like, math.copysign(1, q) < 0)
    at = run("multiply", _core.astype(run("subtract", count, 1), "float64"), _share(q))
    place = _core.astype(place, "float64")
    rows = rows_from_zero(like)
    ends = [
        where(run("logical_and", mask, run("equal", place, run(op, at))), rows, None)
        for op in ("floor", "ceil")
    ]
    rest = run("subtract", at, run("floor", at))

    def finish(nodes: list[_core.Node]) -> Operand:
        low, high = (_core.retype(_value(at_rows(moment, n)).node, "int64") for n in nodes[:2])
        step = _core.astype(run("subtract", high, low), "float64")
        moved = _core.astype(run("rint", run("multiply", step, nodes[2])), "int64")
        return value_of(_core.retype(run("add", low, moved), TIMESTAMP))

    return Call([*(word("min", end) for end in ends), word("max", rest)], finish)


def _value(operand: Operand) -> Value:
    assert isinstance(operand, Value)
    return operand


def mode(
    value: Value,
    among: Order,
    kept: _core.Node | None,
    keys: list[_core.Node],
    like: _core.Node,
) -> Call:
    """The most frequent value; of several the one that comes first, in an order if there is one."""
    own = there([value], kept)
    mask = _core.repeat(like, True) if own is None else filled(own, False)
    count = _core.group_transform(
        [*keys, *as_keys([value.node])], word("sum", _core.astype(mask, "int64")), False
    )
    order: Order = [(value_of(_core.in_domain(count, like.domain)), True, False), *among]
    return first_in_order(value, order, own, like)


def first_few(
    value: Value,
    order: Order,
    count: int,
    kept: _core.Node | None,
    keys: list[_core.Node],
    like: _core.Node,
) -> Call:
    """The first values in an order as a list."""
    if count < 1:
        raise InvalidArgumentError(f"sql: a number of values is out of range: n={count}; from 1 on")
    every = listed(value, kept, order, keys, like, None, False)
    return every._replace(
        finish=lambda nodes: value_of(_core.list_slice(_value(every.finish(nodes)).node, 0, count))
    )


def for_each(calls: list[Call]) -> Call:
    """Several aggregates as one list; null of no values."""
    counts = [len(call.words) for call in calls]

    def finish(nodes: list[_core.Node]) -> Operand:
        operands, at = [], 0
        for call, count in zip(calls, counts, strict=True):
            operands.append(call.finish(nodes[at : at + count]))
            at += count
        made = nested.list_of(operands, nodes[0])
        assert isinstance(made, Value)
        return value_of(null_where_null(made.node, operands[0]))

    return Call([each for call in calls for each in call.words], finish)


def deviation(
    value: Value, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node
) -> Call:
    """MAD: the median of how far the values are from their median."""
    own = refusing_nan(value)
    if kept is not None:
        own = where(filled(kept, False), own, None)
    groups = keys or [_core.repeat(like, 0)]
    middle = _core.group_transform(groups, word("quantile", own, 0.5), False)
    away = run("absolute", run("subtract", own, _core.in_domain(middle, like.domain)))
    is_exact = is_decimal(value.dtype) and precision_and_scale(value.dtype)[0] <= EXACT_DIGITS

    def finish(nodes: list[_core.Node]) -> Operand:
        made = value_of(nodes[0])
        return cast(made, value.dtype) if is_exact else made

    return Call([word("quantile", away, 0.5)], finish)


def entropy(
    value: Value, kept: _core.Node | None, keys: list[_core.Node], like: _core.Node
) -> Call:
    """The entropy of the frequencies of the values in bits; 0 of no values."""
    own = there([value], kept)
    mask = _core.repeat(like, True) if own is None else filled(own, False)
    one = word("sum", _core.astype(mask, "int64"))
    groups = keys or [_core.repeat(like, 0)]
    every, same = (
        _core.in_domain(_core.astype(_core.group_transform(by, one, False), "float64"), like.domain)
        for by in (groups, [*keys, *as_keys([value.node])])
    )
    part = run("divide", run("log2", run("divide", every, same)), every)
    return Call(
        [word("sum", where(mask, part, None))],
        lambda nodes: value_of(where(run("is_null", nodes[0]), 0.0, nodes[0])),
    )
