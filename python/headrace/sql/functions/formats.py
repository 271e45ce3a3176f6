# SPDX-License-Identifier: Apache-2.0
"""Strings made by a format."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.sql.casts import cast
from headrace.sql.functions.arguments import constant, text_of
from headrace.sql.functions.strings import concatenated
from headrace.sql.values import (
    INTEGERS,
    NULL,
    Constant,
    ConstantExpectedError,
    Operand,
    constant_of,
    is_decimal,
    precision_and_scale,
    value_of,
)

ByName = Callable[[list[Operand], _core.Node], Operand]

_PRINTF = re.compile(r"%(?:%|([-+ 0#]*)(\d*)([,_']|\.(?=[dieEfFgG]))?((?:\.\d+)?)[lhq]*([a-zA-Z]))")
#: A separator of thousands: one of three, or any by a t in front of it.
_GROUPED = re.compile(r"(?:([,_'])|t(.))((?:\.\d+)?)([deEfFs]?)")
_FORMAT = re.compile(r"\{\{|\}\}|\{(\d*)(?::([^}]*))?\}")
_SPEC = re.compile(r"[<>^]?[+ ]?0?\d*,?(\.\d+)?[dxXboeEfFs]?")


def _refused(word: str, spec: str, operand: Operand) -> UnsupportedError:
    return UnsupportedError(
        f"sql: unsupported: word={word!r}, format={spec!r}, type={operand.dtype.upper()}"
    )


def _printf(operands: list[Operand], like: _core.Node) -> Operand:
    """PRINTF: as C formats numbers and strings."""
    pattern, rest = constant(operands[0], "PRINTF"), list(operands[1:])
    if pattern is None or any(each.dtype == NULL for each in rest):
        return Constant(None, "string")
    pieces: list[Operand] = []
    at = 0
    for found in _PRINTF.finditer(pattern):
        pieces.append(constant_of(pattern[at : found.start()]))
        at = found.end()
        if found[0] == "%%":
            pieces.append(constant_of("%"))
            continue
        if not rest:
            raise InvalidArgumentError(f"sql: PRINTF has too few values: format={pattern!r}")
        flags, width, mark, digits, letter = found.groups()
        if mark:
            pieces.append(_grouped(flags + width, mark, digits, letter, rest.pop(0), "PRINTF"))
            continue
        pieces.append(_of_c(f"{flags}{width}{digits}", letter, rest.pop(0)))
    if "%" in pattern[at:]:
        raise InvalidArgumentError(f"sql: the format ends in a %: format={pattern!r}")
    pieces.append(constant_of(pattern[at:]))
    return concatenated(pieces, like, False)


def _grouped(
    flags: str, mark: str, digits: str, letter: str, operand: Operand, word: str
) -> Operand:
    """A number with a separator of thousands."""
    spec = f"{flags}{mark}{digits}{letter}"
    if not isinstance(operand, Constant):
        raise ConstantExpectedError(operand, word)
    value = _whole_value(operand)
    if value is None:
        return Constant(None, "string")
    if flags not in ("", "+", " ") or not isinstance(value, int | float | decimal.Decimal):
        raise _refused(word, spec, operand)
    if isinstance(value, int) and letter in ("", "d", "i", "s") and not digits:
        made = f"{value:{flags},d}"
    elif letter in ("f", "F"):
        made = f"{decimal.Decimal(value):{flags},{digits}f}"
    elif letter in ("e", "E") or (not letter and not digits and not isinstance(value, int)):
        made = f"{float(value):{flags},{digits}{letter}}"
    else:
        raise _refused(word, spec, operand)
    return constant_of(made.replace(",", mark))


def _whole_value(operand: Constant) -> Any:
    """The value; decimals without a fraction as integers."""
    if is_decimal(operand.dtype) and precision_and_scale(operand.dtype)[1] == 0:
        return None if operand.value is None else int(operand.value)
    return operand.value


def _of_c(spec: str, letter: str, operand: Operand) -> Operand:
    if operand.dtype == "bool" and letter in "di":
        operand = cast(operand, "int32")
    if isinstance(operand, Constant) and operand.value is not None and letter in "di":
        value = _whole_value(operand)
        if isinstance(value, int) and not isinstance(value, bool):
            return constant_of(f"%{spec}d" % value)
    whole = operand.dtype in INTEGERS and letter in "dixXo"
    is_text = operand.dtype == "string" and letter == "s"
    if not spec and (is_text or (whole and letter in "di")):
        return cast(operand, "string")
    if not isinstance(operand, Constant):
        raise ConstantExpectedError(operand, "PRINTF")
    if operand.value is None:
        return Constant(None, "string")
    if whole and letter == "o" and "#" in spec:
        if spec != "#":
            raise _refused("PRINTF", f"%{spec}{letter}", operand)
        return constant_of(f"{'-' * (operand.value < 0)}0{abs(operand.value):o}")
    if whole or is_text:
        return constant_of(f"%{spec}{letter}" % operand.value)
    if letter in "feEgG" and isinstance(operand.value, float | decimal.Decimal):
        return constant_of(f"%{spec}{letter}" % float(operand.value))
    if letter == "c" and operand.dtype in INTEGERS:
        return constant_of(f"%{spec}c" % operand.value)
    raise _refused("PRINTF", f"%{spec}{letter}", operand)


def _format(operands: list[Operand], like: _core.Node) -> Operand:
    """FORMAT: values in place of {}."""
    pattern, rest = constant(operands[0], "FORMAT"), list(operands[1:])
    if pattern is None or any(each.dtype == NULL for each in rest):
        return Constant(None, "string")
    pieces: list[Operand] = []
    at = place = 0
    for found in _FORMAT.finditer(pattern):
        before = pattern[at : found.start()]
        if "{" in before or "}" in before:
            raise InvalidArgumentError(f"sql: a brace stands alone: format={pattern!r}")
        pieces.append(constant_of(before))
        at = found.end()
        if found[0] in ("{{", "}}"):
            pieces.append(constant_of(found[0][0]))
            continue
        number = int(found[1]) if found[1] else place
        place += 1
        if number >= len(rest):
            raise InvalidArgumentError(f"sql: FORMAT has too few values: format={pattern!r}")
        pieces.append(_of_braces(found[2] or "", rest[number]))
    if "{" in pattern[at:] or "}" in pattern[at:]:
        raise InvalidArgumentError(f"sql: a brace stands alone: format={pattern!r}")
    pieces.append(constant_of(pattern[at:]))
    return concatenated(pieces, like, False)


def _of_braces(spec: str, operand: Operand) -> Operand:
    known = operand.dtype in INTEGERS or operand.dtype == "string"
    if (known or operand.dtype in ("bool", "date")) and not spec:
        return cast(operand, "string")
    if not isinstance(operand, Constant):
        raise ConstantExpectedError(operand, "FORMAT")
    if operand.value is None:
        return Constant(None, "string")
    grouped = _GROUPED.fullmatch(spec)
    if grouped:
        mark = grouped[1] or grouped[2]
        return _grouped("", mark, grouped[3], grouped[4], operand, "FORMAT")
    if not _SPEC.fullmatch(spec):
        raise _refused("FORMAT", spec, operand)
    value = _whole_value(operand)
    if isinstance(value, int) and not spec:
        return constant_of(str(value))
    if isinstance(value, decimal.Decimal):
        value = float(value)
    general = spec[-1:].isdigit() and "." in spec and value
    if known or (isinstance(value, float) and (general or spec[-1:] in ("e", "E", "f", "F"))):
        try:
            return constant_of(format(value, spec))
        except ValueError:
            raise InvalidArgumentError(
                f"sql: the format does not take the value: format={spec!r}, value={value!r}"
            ) from None
    raise _refused("FORMAT", spec, operand)


def _translate(operands: list[Operand], like: _core.Node) -> Operand:
    """TRANSLATE: characters of one list in place of those of another."""
    old, new = constant(operands[1], "TRANSLATE"), constant(operands[2], "TRANSLATE")
    if old is None or new is None or operands[0].dtype == NULL:
        return Constant(None, "string")
    pairs = dict(reversed([(c, new[i : i + 1]) for i, c in enumerate(old)]))
    if isinstance(operands[0], Constant):
        text = operands[0].value
        if not isinstance(text, str):
            return Constant(None, "string")
        return constant_of("".join(pairs.get(c, c) for c in text))
    if any(fresh in pairs for fresh in pairs.values() if fresh):
        raise UnsupportedError("sql: characters that are replaced and put in: word='TRANSLATE'")
    node = text_of(operands[0], like)
    for gone, fresh in pairs.items():
        node = _core.replace_pattern(node, gone, "", False, fresh, -1)
    return value_of(node)


BY_NAME: dict[str, ByName] = {
    "printf": _printf,
    "format": _format,
    "translate": _translate,
}
