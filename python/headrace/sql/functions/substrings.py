# SPDX-License-Identifier: Apache-2.0
"""Parts of strings: by places, from an end, as lists, and others in their place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql import operators
from headrace.sql.elementwise import run, where
from headrace.sql.functions import nested
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.functions.strings import characters, concatenated
from headrace.sql.lists import chosen_items, items_of, places_of
from headrace.sql.syntax import exp
from headrace.sql.values import (
    NOTHING,
    NULL,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    column_of,
    constant_of,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]


def _characters_between(
    operand: Operand, start: Operand | None, length: Operand | None, like: _core.Node
) -> Operand:
    """SUBSTRING from and of columns."""
    begin = Constant(1, "int32") if start is None else start
    given = [each for each in (begin, length) if each is not None]
    if any(each.dtype == NULL for each in (operand, *given)):
        return Constant(None, "string")
    text = text_of(operand, like)
    letters = characters(text)
    zero = Constant(0, "int32")
    size = value_of(_core.astype(_core.text_length(text), "int64"), 32)
    back = operators.arithmetic(
        "add", operators.arithmetic("add", size, begin), Constant(1, "int32")
    )
    first = operators.choose(operators.compare("less", begin, zero), back, begin)
    rows, _ = items_of(letters)
    place = value_of(places_of(rows), 32)

    def of_items(each: Operand) -> Operand:
        if isinstance(each, Constant):
            return each
        return value_of(_core.in_domain(_core.take(each.node, rows), rows.domain), each.bits)

    kept = operators.compare("greater_equal", place, of_items(first))
    if length is not None:
        short = operators.compare("less", length, zero)
        bad = column_of(operators.choose(short, Constant(math.inf, "float64"), zero), like)
        checked = value_of(_core.astype(_core.astype(bad, "float64"), "int64"), 1)
        count = operators.arithmetic("add", length, checked)
        limit = operators.arithmetic("add", first, count)
        kept = operators.logical(
            "logical_and", kept, operators.compare("less", place, of_items(limit))
        )
    made = chosen_items(letters, rows, column_of(kept, rows, "bool"))
    null = run("is_null", text)
    for each in given:
        if isinstance(each, Value):
            null = run("logical_or", null, run("is_null", each.node))
    return value_of(where(null, None, _core.list_join(made, "")))


def _substring(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    text = evaluate(node.this)
    given = (node.args.get(word) for word in ("start", "length"))
    start, length = (None if each is None else evaluate(each) for each in given)
    if isinstance(start, Value) or isinstance(length, Value):
        return _characters_between(text, start, length, like)
    first = 1 if start is None else constant(start, "SUBSTRING")
    count = None if length is None else constant(length, "SUBSTRING")
    if text.dtype == NULL or first is None or (length is not None and count is None):
        return Constant(None, "string")
    if count is not None and count < 0:
        raise UnsupportedError("sql: a length below 0: word='SUBSTRING'; pass a length from 0 on")
    if isinstance(text, Constant):
        return constant_of(_cut(str(text.value), first, count))
    begin = first - 1 if first > 0 else first
    if first == 0:
        begin, count = 0, None if count is None else max(0, count - 1)
    if first < 0 and count is not None:
        end = first + count
        made = _core.slice_text(text.node, begin, None if end >= 0 else end, 1)
        return value_of(made)
    return value_of(
        _core.slice_text(text_of(text, like), begin, None if count is None else begin + count, 1)
    )


def _cut(text: str, first: int, count: int | None) -> str:
    begin = first - 1 if first > 0 else max(0, len(text) + first) if first < 0 else 0
    if first == 0 and count is not None:
        count = max(0, count - 1)
    if first < 0 and count is not None and len(text) + first < 0:
        count = max(0, count + len(text) + first)
    return text[begin:] if count is None else text[begin : begin + count]


def _side(from_right: bool) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        count = constant(evaluate(node.expression), "LEFT")
        if count is None:
            return Constant(None, "string")
        text = text_of(evaluate(node.this), like)
        if from_right:
            begin = -count if count > 0 else abs(count)
            made = _core.slice_text(text, begin, None if count else 0, 1)
        else:
            made = _core.slice_text(text, 0, count, 1)
        return value_of(made)

    return handle


def text_part(
    operand: Operand, begin: Operand | None, end: Operand | None, like: _core.Node
) -> Operand:
    """The characters from one place to another, both counted."""
    first = 1 if begin is None else nested.whole(begin, "ARRAY_SLICE")
    last = -1 if end is None else nested.whole(end, "ARRAY_SLICE")
    if operand.dtype == NULL or first is None or last is None:
        return Constant(None, "string")
    low = first - 1 if first > 0 else first
    high = last if last >= 0 else None if last == -1 else last + 1
    return value_of(_core.slice_text(text_of(operand, like), low, high, 1))


def _overlay(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """OVERLAY: a string in place of some characters of another one."""
    operands = [evaluate(node.this), evaluate(node.expression)]
    begin = constant(evaluate(node.args["from_"]), "OVERLAY")
    length = node.args.get("for_")
    count = None if length is None else constant(evaluate(length), "OVERLAY")
    if begin is None or (length is not None and count is None):
        return Constant(None, "string")
    if NULL in [each.dtype for each in operands]:
        return Constant(None, "string")
    if count is None or count < 0:
        count = constant(_length_of(operands[1], like), "OVERLAY")
    if count is None:
        return Constant(None, "string")
    text = text_of(operands[0], like)
    before = value_of(_core.slice_text(text, 0, max(0, begin - 1), 1))
    after = value_of(_core.slice_text(text, max(0, begin + count - 1), None, 1))
    return concatenated([before, operands[1], after], like, False)


def _length_of(operand: Operand, like: _core.Node) -> Operand:
    """The number of characters; of a constant a constant."""
    if not isinstance(operand, Constant):
        raise ConstantExpectedError(operand, "OVERLAY")
    return constant_of(None if operand.value is None else len(operand.value))


def _items(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_EXTRACT of a list or of the characters of a string."""
    if operands[0].dtype == "string":
        return text_part(operands[0], operands[1], operands[1], like)
    return nested.item(operands[0], operands[1])


def _slice(operands: list[Operand], like: _core.Node) -> Operand:
    """LIST_SLICE of a list or of the characters of a string."""
    if len(operands) != 3:
        raise UnsupportedError("sql: unsupported: word='LIST_SLICE' with a step")
    if operands[0].dtype == NULL:
        return NOTHING
    if operands[0].dtype == "string":
        return text_part(operands[0], operands[1], operands[2], like)
    return nested.part(*operands)


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.Substring: _substring,
    exp.Left: _side(False),
    exp.Right: _side(True),
    exp.Overlay: _overlay,
    exp.ArraySlice: lambda node, evaluate, like: _slice(
        [
            evaluate(node.args[key])
            for key in ("this", "start", "end", "step")
            if node.args.get(key) is not None
        ],
        like,
    ),
}

BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    **{name: _items for name in ("list_extract", "list_element", "array_extract")},
    **{name: _slice for name in ("list_slice", "array_slice")},
}
