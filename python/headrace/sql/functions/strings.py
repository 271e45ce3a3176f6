# SPDX-License-Identifier: Apache-2.0
"""Functions of strings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import UnsupportedError
from headrace.sql import operators
from headrace.sql.casts import cast
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.functions import nested
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.lists import chosen_items, items_of, places_of
from headrace.sql.syntax import exp
from headrace.sql.values import (
    NULL,
    Constant,
    Operand,
    Value,
    column_of,
    constant_of,
    is_list,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]


def _like(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    value, pattern = evaluate(node.this), evaluate(node.expression)
    if NULL in (value.dtype, pattern.dtype):
        return Constant(None, "bool")
    words = constant(pattern, "LIKE")
    if words is None:
        return Constant(None, "bool")
    text = text_of(value, like)
    words = words.replace("\\", "\\\\")
    if isinstance(node, exp.ILike):
        text, words = _core.change_case("lower", text), words.lower()
    made = bool_value(_core.test_text("like", text, [words]))
    return operators.negated(made) if node.args.get("negate") else made


def _escape(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    inner, mark = node.this, constant(evaluate(node.expression), "ESCAPE")
    negate = isinstance(inner, exp.Not)
    inner = inner.this if negate else inner
    if mark is None:
        return Constant(None, "bool")
    negate = negate != bool(inner.args.get("negate"))
    if not isinstance(inner, exp.Like) or len(mark) != 1:
        raise UnsupportedError("sql: unsupported: word='ESCAPE'")
    pattern = constant(evaluate(inner.expression), "LIKE")
    words, place = "", 0
    while place < len(pattern):
        each = pattern[place]
        if each == mark and place + 1 < len(pattern):
            place += 1
            words += "\\" + pattern[place]
        else:
            words += "\\\\" if each == "\\" else each
        place += 1
    made = bool_value(_core.test_text("like", text_of(evaluate(inner.this), like), [words]))
    return operators.negated(made) if negate else made


def concatenated(operands: list[Operand], like: _core.Node, skip_null: bool) -> Operand:
    """Strings one after the other; null is left out or makes null."""
    pieces: list[Any] = []
    for each in operands:
        if isinstance(each, Constant):
            if each.value is None:
                if skip_null:
                    continue
                return Constant(None, "string")
            pieces.append(cast(each, "string").value)  # type: ignore[union-attr]
            continue
        node = each.node if each.dtype == "string" else cast(each, "string").node  # type: ignore[union-attr]
        if skip_null and node.nullable:
            node = where(run("is_null", node), "", node)
        pieces.append(node)
    if all(isinstance(piece, str) for piece in pieces):
        return Constant("".join(pieces), "string")
    return value_of(_core.concatenate_text(pieces))


def _pad(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    """LPAD and RPAD: to a number of characters, longer strings cut."""
    fill = node.args.get("fill_pattern")
    size = constant(evaluate(node.expression), "LPAD")
    mark = " " if fill is None else constant(evaluate(fill), "LPAD")
    operand = evaluate(node.this)
    if size is None or mark is None or operand.dtype == NULL:
        return Constant(None, "string")
    size = max(0, size)
    left = bool(node.args.get("is_left"))
    if isinstance(operand, Constant) and isinstance(operand.value, str) and mark:
        cut = operand.value[:size]
        more = (mark * size)[: size - len(cut)]
        return constant_of(more + cut if left else cut + more)
    if len(mark) != 1:
        raise UnsupportedError("sql: a pattern that is not one character: word='LPAD'")
    text = text_of(operand, like)
    made = _core.change_text("rjust" if left else "ljust", text, size, mark)
    return value_of(_core.slice_text(made, 0, size, 1))


def _pipes(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operands = [evaluate(node.this), evaluate(node.expression)]
    if any(is_list(each.dtype) for each in operands):
        return nested.joined_lists(operands, False)
    return concatenated(operands, like, False)


def _concat(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operands = [evaluate(each) for each in node.expressions]
    if any(is_list(each.dtype) for each in operands):
        return nested.joined_lists(operands, True)
    return concatenated(operands, like, True)


def _substring(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    text = evaluate(node.this)
    start = node.args.get("start")
    asked = [None if each is None else evaluate(each) for each in (start, node.args.get("length"))]
    if any(isinstance(each, Value) for each in asked):
        return _characters_between(text, asked[0], asked[1], like)
    first = 1 if start is None else constant(evaluate(start), "SUBSTRING")
    length = node.args.get("length")
    count = None if length is None else constant(evaluate(length), "SUBSTRING")
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


def _characters(text: _core.Node) -> Value:
    """Each string as a list of its characters."""
    return value_of(_core.find_all(text, "(?s).", ""))


def _characters_between(
    operand: Operand, start: Operand | None, length: Operand | None, like: _core.Node
) -> Operand:
    """SUBSTRING from and of columns."""
    begin = Constant(1, "int32") if start is None else start
    given = [each for each in (begin, length) if each is not None]
    if any(each.dtype == NULL for each in (operand, *given)):
        return Constant(None, "string")
    text = text_of(operand, like)
    letters = _characters(text)
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


def _cut(text: str, first: int, count: int | None) -> str:
    begin = first - 1 if first > 0 else max(0, len(text) + first) if first < 0 else 0
    if first == 0 and count is not None:
        count = max(0, count - 1)
    if first < 0 and count is not None and len(text) + first < 0:
        count = max(0, count + len(text) + first)
    return text[begin:] if count is None else text[begin : begin + count]


def _of_text(make: Callable[[_core.Node], _core.Node]) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operand = evaluate(node.this)
        if operand.dtype == NULL:
            return Constant(None, "string")
        return value_of(make(text_of(operand, like)))

    return handle


#: Characters that stay with the one before them, which DuckDB does not part.
_JOINED = r"\p{M}|[\x{200D}\x{1F3FB}-\x{1F3FF}\x{1F1E6}-\x{1F1FF}\x{1100}-\x{11FF}\r]"


def _reversed(text: _core.Node) -> _core.Node:
    """Characters backwards; an error for those of several code points."""
    joined = filled(_core.test_regex("contains", text, _JOINED, ""), False)
    # A cast of infinity to an integer is the engine's error with the row.
    checked = _core.astype(where(joined, math.inf, 0.0), "int64")
    return where(run("equal", checked, 0), _core.slice_text(text, None, None, -1), None)


def _trim(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    side = str(node.args.get("position") or "BOTH").upper()
    gone = node.args.get("expression")
    words = " " if gone is None else constant(evaluate(gone), "TRIM")
    if words is None:
        return Constant(None, "string")
    text = text_of(evaluate(node.this), like)
    return value_of(_core.strip_text(text, side != "TRAILING", side != "LEADING", words))


def _length(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = evaluate(node.this)
    if is_list(operand.dtype):
        return nested.length(operand)
    return value_of(_core.astype(_core.text_length(text_of(operand, like)), "int64"), 32)


def _position(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    part = constant(evaluate(node.args["substr"]), "STRPOS")
    if part is None:
        return Constant(None, "int64")
    found = _core.text_position(text_of(evaluate(node.this), like), part, 0, None, False)
    return value_of(run("add", found, 1), 32)


def _replace(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    old = constant(evaluate(node.expression), "REPLACE")
    fresh = node.args.get("replacement")
    new = "" if fresh is None else constant(evaluate(fresh), "REPLACE")
    text = text_of(evaluate(node.this), like)
    if old is None or new is None:
        return Constant(None, "string")
    if not old:
        return value_of(text)
    return value_of(_core.replace_pattern(text, old, "", False, new, -1))


def _tested(test: str) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        part = constant(evaluate(node.expression), test.upper())
        if part is None:
            return Constant(None, "bool")
        return bool_value(_core.test_text(test, text_of(evaluate(node.this), like), [part]))

    return handle


def _contains(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand = evaluate(node.this)
    if is_list(operand.dtype) or isinstance(node, exp.ArrayContains):
        return nested.contains(operand, evaluate(node.expression))
    return _tested("contains")(node, evaluate, like)


def _array_sort(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    if node.args.get("expression") is not None:
        raise UnsupportedError("sql: a lambda as an order: word='LIST_SORT'")
    up, first = node.args.get("asc"), node.args.get("nulls_first")
    words = ["desc" if isinstance(up, exp.Boolean) and not up.this else "asc"]
    words.append("nulls first" if isinstance(first, exp.Boolean) and first.this else "nulls last")
    options = [Constant(each, "string") for each in words]
    return nested.sorted_lists(evaluate(node.this), options)


def _array_end(name: str, in_front: bool) -> Callable[..., Operand]:
    def handle(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
        operands = [evaluate(node.this), evaluate(node.expression)]
        return nested.BY_NAME[name](operands[::-1] if in_front else operands, like)

    return handle


def _array_to_string(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand, mark = evaluate(node.this), constant(evaluate(node.expression), "ARRAY_TO_STRING")
    if operand.dtype == NULL:
        return Constant(None, "string")
    mark = "," if mark is None else mark
    lists = nested.without_nulls(nested.as_list(operand, "ARRAY_TO_STRING"))
    text = cast(lists, "list[string]")
    assert isinstance(text, Value)
    return value_of(_core.list_join(text.node, mark))


def _split(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    operand, mark = evaluate(node.this), constant(evaluate(node.expression), "STRING_SPLIT")
    if operand.dtype == NULL:
        return Constant(None, "list[string]")
    if mark is None:
        return nested.list_of([operand], like)
    if not mark:
        return _characters(text_of(operand, like))
    return value_of(_core.split_text(text_of(operand, like), mark, -1, False))


def _series(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    step = node.args.get("step")
    start, end = evaluate(node.args["start"]), evaluate(node.args["end"])
    by = Constant(1, "int32") if step is None else evaluate(step)
    return nested.series(start, end, by, not node.args.get("is_end_exclusive"), like)


def text_part(
    operand: Operand, begin: Operand | None, end: Operand | None, like: _core.Node
) -> Operand:
    """The characters from one place to another, both counted."""
    first = 1 if begin is None else nested.whole(begin, "ARRAY_SLICE")
    last = -1 if end is None else nested.whole(end, "ARRAY_SLICE")
    if operand.dtype == NULL or first is None or last is None:
        return Constant(None, "string")
    if first == 0 or last == 0:
        raise UnsupportedError("sql: place 0 of a string: word='ARRAY_SLICE'")
    low = first - 1 if first > 0 else first
    high = last if last > 0 else None if last == -1 else last + 1
    return value_of(_core.slice_text(text_of(operand, like), low, high, 1))


def _split_part(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    mark = constant(evaluate(node.args["delimiter"]), "SPLIT_PART")
    place = constant(evaluate(node.args["part_index"]), "SPLIT_PART")
    operand = evaluate(node.this)
    if mark is None or place is None or operand.dtype == NULL:
        return Constant(None, "string")
    if not mark or type(place) is not int or place == 0:
        raise UnsupportedError(
            f"sql: unsupported: word='SPLIT_PART', part={place!r}, mark={mark!r}"
        )
    text = text_of(operand, like)
    parts = _core.split_text(text, mark, -1, False)
    made = _core.list_item(parts, place - 1 if place > 0 else place)
    return value_of(where(run("is_null", text), None, where(run("is_null", made), "", made)))


def _concat_ws(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    mark = constant(evaluate(node.expressions[0]), "CONCAT_WS")
    if mark is None:
        return Constant(None, "string")
    operands = [cast(evaluate(each), "string") for each in node.expressions[1:]]
    lists = nested.without_nulls(nested.as_list(nested.list_of(operands, like), "CONCAT_WS"))
    return value_of(_core.list_join(lists.node, mark))


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


def _repeat(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    times = constant(evaluate(node.args["times"]), "REPEAT")
    text = text_of(evaluate(node.this), like)
    return value_of(_core.change_text("repeat", text, max(0, times)))


def _named_test(test: str) -> Callable[[list[Operand], _core.Node], Operand]:
    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        part = constant(operands[1], test.upper())
        if part is None or operands[0].dtype == NULL:
            return Constant(None, "bool")
        return bool_value(_core.test_text(test, text_of(operands[0], like), [part]))

    return handle


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.DPipe: _pipes,
    exp.Concat: _concat,
    exp.Substring: _substring,
    exp.Upper: _of_text(lambda text: _core.change_case("upper", text)),
    exp.Lower: _of_text(lambda text: _core.change_case("lower", text)),
    exp.Reverse: _of_text(_reversed),
    exp.Trim: _trim,
    exp.Length: _length,
    exp.StrPosition: _position,
    exp.Replace: _replace,
    exp.StartsWith: _tested("startswith"),
    exp.EndsWith: _tested("endswith"),
    exp.Contains: _contains,
    exp.ArrayContains: _contains,
    exp.ArraySize: lambda node, evaluate, like: nested.length(evaluate(node.this)),
    exp.ArraySort: _array_sort,
    exp.ArrayAppend: _array_end("list_append", False),
    exp.ArrayPrepend: _array_end("list_prepend", True),
    exp.ArrayMin: lambda node, evaluate, like: nested.aggregated(evaluate(node.this), "min"),
    exp.ArrayMax: lambda node, evaluate, like: nested.aggregated(evaluate(node.this), "max"),
    exp.ArrayOverlaps: lambda node, evaluate, like: nested.has_any(
        evaluate(node.this), evaluate(node.expression)
    ),
    exp.ArrayContainsAll: lambda node, evaluate, like: nested.has_all(
        evaluate(node.this), evaluate(node.expression)
    ),
    exp.ArrayReverse: lambda node, evaluate, like: nested.BY_NAME["list_reverse"](
        [evaluate(node.this)], like
    ),
    exp.ArrayDistinct: lambda node, evaluate, like: nested.distinct(evaluate(node.this)),
    exp.Flatten: lambda node, evaluate, like: nested.flattened(evaluate(node.this)),
    exp.ArrayConcat: lambda node, evaluate, like: nested.joined_lists(
        [evaluate(each) for each in [node.this, *node.expressions]], True
    ),
    exp.ArrayToString: _array_to_string,
    exp.Split: _split,
    exp.GenerateSeries: _series,
    exp.Pad: _pad,
    exp.SplitPart: _split_part,
    exp.ConcatWs: _concat_ws,
    exp.Left: _side(False),
    exp.Right: _side(True),
    exp.Repeat: _repeat,
}

BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    "prefix": _named_test("startswith"),
    "suffix": _named_test("endswith"),
}
