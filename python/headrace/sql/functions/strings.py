# SPDX-License-Identifier: Apache-2.0
"""Functions of strings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.sql.casts import cast
from headrace.sql.elementwise import bool_value, filled, run, where
from headrace.sql.functions import nested
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.syntax import exp
from headrace.sql.values import (
    NOTHING,
    NULL,
    Constant,
    ConstantExpectedError,
    Operand,
    Value,
    constant_of,
    is_list,
    value_of,
)

Expression = Any
Evaluate = Callable[[Expression], Operand]


def characters(text: _core.Node) -> Value:
    """Each string as a list of its characters."""
    return value_of(_core.find_all(text, "(?s).", ""))


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
    if isinstance(operand, Constant) and operand.value is None:
        return Constant(None, "string")
    size = max(0, size)
    left = bool(node.args.get("is_left"))
    if isinstance(operand, Constant) and isinstance(operand.value, str):
        cut = operand.value[:size]
        more = (mark * size)[: size - len(cut)]
        if len(cut) + len(more) < size:
            raise InvalidArgumentError("sql: a pattern without characters: word='LPAD'")
        return constant_of(more + cut if left else cut + more)
    if len(mark) != 1:
        if isinstance(operand, Value):
            raise ConstantExpectedError(operand, "LPAD")
        raise TypeMismatchError("sql: expected strings: word='LPAD'; use CAST(... AS VARCHAR)")
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
        return characters(text_of(operand, like))
    return value_of(_core.split_text(text_of(operand, like), mark, -1, False))


def _series(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    step = node.args.get("step")
    start, end = evaluate(node.args["start"]), evaluate(node.args["end"])
    by = Constant(1, "int32") if step is None else evaluate(step)
    return nested.series(start, end, by, not node.args.get("is_end_exclusive"), like)


def _split_part(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    mark = constant(evaluate(node.args["delimiter"]), "SPLIT_PART")
    place = constant(evaluate(node.args["part_index"]), "SPLIT_PART")
    operand = evaluate(node.this)
    if mark is None or place is None or operand.dtype == NULL:
        return Constant(None, "string")
    if type(place) is not int:
        raise TypeMismatchError(f"sql: expected an integer: word='SPLIT_PART', part={place!r}")
    text = text_of(operand, like)
    parts = _core.split_text(text, mark, -1, False) if mark else characters(text).node
    made = _core.list_item(parts, place - 1 if place > 0 else place)
    if place == 0:
        made = where(run("is_null", text), None, "")
    return value_of(where(run("is_null", text), None, where(run("is_null", made), "", made)))


def _concat_ws(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    mark = constant(evaluate(node.expressions[0]), "CONCAT_WS")
    if mark is None:
        return Constant(None, "string")
    operands = [cast(evaluate(each), "string") for each in node.expressions[1:]]
    lists = nested.without_nulls(nested.as_list(nested.list_of(operands, like), "CONCAT_WS"))
    return value_of(_core.list_join(lists.node, mark))


def _repeat(node: Expression, evaluate: Evaluate, like: _core.Node) -> Operand:
    times = constant(evaluate(node.args["times"]), "REPEAT")
    operand = evaluate(node.this)
    if is_list(operand.dtype) and isinstance(operand, Value):
        return nested.repeated(operand, times) if times is not None else NOTHING
    if times is None or operand.dtype == NULL or is_list(operand.dtype):
        return Constant(None, operand.dtype if is_list(operand.dtype) else "string")
    text = text_of(operand, like)
    return value_of(_core.change_text("repeat", text, max(0, times)))


def _named_test(test: str) -> Callable[[list[Operand], _core.Node], Operand]:
    def handle(operands: list[Operand], like: _core.Node) -> Operand:
        part = constant(operands[1], test.upper())
        if part is None or operands[0].dtype == NULL:
            return Constant(None, "bool")
        return bool_value(_core.test_text(test, text_of(operands[0], like), [part]))

    return handle


BY_CLASS: dict[Any, Callable[[Expression, Evaluate, _core.Node], Operand]] = {
    exp.DPipe: _pipes,
    exp.Concat: _concat,
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
    exp.Repeat: _repeat,
}


BY_NAME: dict[str, Callable[[list[Operand], _core.Node], Operand]] = {
    "prefix": _named_test("startswith"),
    "suffix": _named_test("endswith"),
}
