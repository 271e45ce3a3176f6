# SPDX-License-Identifier: Apache-2.0
"""Lists and structs as DuckDB writes and reads them in strings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.sql.elementwise import filled, run, where
from headrace.sql.lists import mapped
from headrace.sql.values import (
    Operand,
    Value,
    is_list,
    is_row,
    is_struct,
    item_dtype,
    struct_fields,
    value_of,
)

# ---- to strings ----------------------------------------------------------------------------------

#: What stands in quotes: an empty string, one that reads as null, spaces at the ends, marks.
_QUOTED = r"""["'(),:=\[\\\]{}]|^\s|\s$|^$|^(?i:null)$"""


def nested_text(value: Value, cast: Callable[[Operand, str], Operand]) -> _core.Node:
    """Lists and structs as strings."""
    null = run("is_null", value.node)
    if is_list(value.dtype):
        texts = mapped(value, lambda items: value_of(_part_text(items, cast)))
        made = _core.concatenate_text(["[", _core.list_join(texts.node, ", "), "]"])
        return where(null, None, made)
    fields = struct_fields(value.dtype)
    has_names = not is_row(value.dtype)
    pieces: list[Any] = ["{" if has_names else "("]
    for place, (name, _) in enumerate(fields):
        if place:
            pieces.append(", ")
        if has_names:
            pieces.append(f"'{_escaped(name)}': ")
        pieces.append(_part_text(value_of(_core.struct_field(value.node, name)), cast))
    pieces.append("}" if has_names else ",)" if len(fields) == 1 else ")")
    return where(null, None, _core.concatenate_text(pieces))


def _part_text(value: Value, cast: Callable[[Operand, str], Operand]) -> _core.Node:
    """An item or a field, NULL for null."""
    made = cast(value, "string")
    assert isinstance(made, Value)
    node = made.node
    if value.dtype == "string" or value.dtype.startswith("datetime64"):
        quoted = filled(_core.test_regex("contains", node, _QUOTED, ""), False)
        inside = _core.replace_pattern(node, "\\", "", False, "\\\\", -1)
        inside = _core.replace_pattern(inside, "'", "", False, "\\'", -1)
        node = where(quoted, _core.concatenate_text(["'", inside, "'"]), node)
    return where(run("is_null", node), "NULL", node)


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


# ---- from strings --------------------------------------------------------------------------------

Leaf = Callable[[str, str], Any]
_MARKS = ("'", '"')
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_SPACE = " \t\n\r\f\v"


def nested_of_text(text: str, dtype: str, leaf: Leaf, or_null: bool) -> Any:
    """A list or struct read from a string, as Python's; `leaf` reads the strings of values.

    ValueError for a string of another form; with `or_null` parts of another form are null.
    """
    word = text.strip(_SPACE)
    if is_list(dtype):
        inner = item_dtype(dtype)
        return [_value(each, inner, leaf, or_null) for each in _parts(word, "[", "]")]
    assert is_struct(dtype)
    fields = struct_fields(dtype)
    if word.startswith("("):
        parts = _parts(word, "(", ")")
        if len(parts) > len(fields):
            raise ValueError
        pairs = zip(fields, parts, strict=False)
        found = {name: _value(each, inner, leaf, or_null) for (name, inner), each in pairs}
        return {**dict.fromkeys([name for name, _ in fields]), **found}
    made: dict[str, Any] = dict.fromkeys([name for name, _ in fields])
    known = dict(fields)
    for each in _parts(word, "{", "}"):
        key, mark, value = _key_and_value(each)
        if not mark or key not in known:
            raise ValueError
        made[key] = _value(value, known[key], leaf, or_null)
    return made


def _parts(word: str, opening: str, closing: str) -> list[str]:
    """The parts between brackets, parted by commas outside of quotes and brackets."""
    if not word.startswith(opening):
        raise ValueError
    found: list[str] = []
    place = 1
    while True:
        begin = place
        place = _end_of_part(word, place, closing)
        part = word[begin:place].strip(_SPACE)
        is_last = word[place] == closing
        if part or not is_last or found:
            found.append(part)
        place += 1
        if is_last:
            break
    if place != len(word):
        raise ValueError
    if opening == "(" and len(found) > 1 and not found[-1]:  # (1,)
        found.pop()
    return found


def _end_of_part(word: str, place: int, closing: str, is_part: bool = True) -> int:
    """The place of the comma or bracket behind a part; not of commas if it is a whole."""
    waiting: list[str] = []
    while place < len(word):
        each = word[place]
        if each == "\\" and word[place + 1 : place + 2] in ("'", '"', "\\"):
            place += 2
            continue
        if each in "\"'":
            place = _end_of_quotes(word, place)
            continue
        if waiting and each == waiting[-1]:
            waiting.pop()
        elif each in _CLOSING:
            waiting.append(_CLOSING[each])
        elif not waiting and (each == closing or (is_part and each == ",")):
            return place
        place += 1
    raise ValueError


def _end_of_quotes(word: str, place: int) -> int:
    mark = word[place]
    place += 1
    while place < len(word):
        if word[place] == "\\":
            place += 2
            continue
        if word[place] == mark:
            return place + 1
        place += 1
    raise ValueError


def _key_and_value(part: str) -> tuple[str, str, str]:
    place = 0
    if part[:1] in ("'", '"'):
        place = _end_of_quotes(part, 0)
    while place < len(part) and part[place] != ":":
        place += 2 if part[place] == "\\" else 1
    key = _unquoted(part[:place].strip(_SPACE))
    return key, part[place : place + 1], part[place + 1 :].strip(_SPACE)


def _unquoted(part: str) -> str:
    """A string without its quotes and backslashes."""
    made, mark, place = "", "", 0
    while place < len(part):
        each = part[place]
        place += 1
        after = part[place : place + 1]
        if each == "\\" and after and (mark or after in _MARKS):
            made += after
            place += 1
        elif not mark and each in _CLOSING:
            end = _end_of_part(part, place, _CLOSING[each], False) + 1
            made += part[place - 1 : end]
            place = end
        elif each == mark:
            mark = ""
        elif not mark and each in "\"'":
            mark = each
        else:
            made += each
    return made


def _value(part: str, dtype: str, leaf: Leaf, or_null: bool) -> Any:
    if part.lower() == "null":
        return None
    try:
        if is_list(dtype) or is_struct(dtype):
            return nested_of_text(part, dtype, leaf, or_null)
        return leaf(_unquoted(part), dtype)
    except (ValueError, ArithmeticError):
        if or_null:
            return None
        raise
