# SPDX-License-Identifier: Apache-2.0
"""Cells of a column, floats in the format of pandas."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable
from typing import Any

from headrace.display.options import option

#: pandas' limits of fixed notation: of values, and of characters beyond the digits.
_LARGE = 1e6
_ROOM = 6


class ClockText(str):
    """The display form of a zoned time; never truncated."""

    __slots__ = ()


def column_texts(values: list[Any]) -> list[str]:
    """The cells of a column, with common digits for floats."""
    floats = [value for value in values if isinstance(value, float)]
    shown = iter(float_texts(floats))
    return [next(shown) if isinstance(value, float) else cell(value) for value in values]


def float_texts(values: list[float]) -> list[str]:
    """Floats as pandas shows a column of them.

    Fixed notation without common zeros at the end, scientific if that hides digits.

    >>> float_texts([1.5, 1234567.891]), float_texts([0.00000012])
    (['1.500', '1234567.891'], ['1.200000e-07'])
    """
    if (own := option("float_format")) is not None:
        return [own(value) for value in values]
    digits: int = option("precision")
    made = _without_zeros([_text(value, f".{digits}f") for value in values])
    sizes = [abs(value) for value in values if math.isfinite(value) and value]
    small = any(size < 10.0**-digits for size in sizes)
    # pandas keeps a place for the sign.
    long = max((len(text) + (text[0] != "-") for text in made), default=0) > digits + _ROOM
    if small or (long and any(size > _LARGE for size in sizes)):
        return [_text(value, f".{digits}e") for value in values]
    return made


def _text(value: float, spec: str) -> str:
    if math.isnan(value):
        return "NaN"
    return format(value, spec) if math.isfinite(value) else str(value)


def _without_zeros(texts: list[str]) -> list[str]:
    numbers = [text for text in texts if "." in text]
    cut = min((len(text) - len(text.rstrip("0")) for text in numbers), default=0)
    shorter = (text[: len(text) - cut] if "." in text else text for text in texts)
    return [f"{text}0" if text.endswith(".") else text for text in shorter]


def cell(value: Any) -> str:
    """One value that is no float."""
    if value is None:
        return "null"
    if isinstance(value, decimal.Decimal):
        return f"{value:f}"
    kind = type(value).__name__
    if kind == "datetime64":
        return str(value).replace("T", " ")
    if kind == "timedelta64":
        return _duration(value)
    if isinstance(value, ClockText):
        return value
    if isinstance(value, dict):
        return _pairs(value.items())
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return _pairs(value[:100])  # a map
    if isinstance(value, list):
        return one_line(f"[{', '.join(map(cell, value[:100]))}]")
    return one_line(str(value))


def _pairs(pairs: Iterable[tuple[Any, Any]]) -> str:
    return one_line(f"{{{', '.join(f'{cell(name)}: {cell(value)}' for name, value in pairs)}}}")


def one_line(text: str) -> str:
    """A string cut to the width of a column, with control characters escaped."""
    if not text.isprintable():
        import unicodedata  # on first use: a library of its own

        text = "".join(repr(c)[1:-1] if unicodedata.category(c) == "Cc" else c for c in text)
    most = option("max_colwidth")
    if most is None or width(text) <= most:
        return text
    while width(text) >= most:
        text = text[: min(len(text), most) - 1]
    return text + "…"


def width(text: str) -> int:
    """Terminal columns of a string: two for wide characters, none for combining marks."""
    if text.isascii():
        return len(text)
    import unicodedata

    marks = sum(unicodedata.category(c) in ("Mn", "Me", "Cf") for c in text)
    return len(text) - marks + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def padded(text: str, size: int, right: bool) -> str:
    """A string padded with spaces, aligned left or right."""
    space = " " * (size - width(text))
    return f"{space}{text}" if right else f"{text}{space}"


def _duration(value: Any) -> str:
    """A NumPy timedelta in Python's notation, with all digits."""
    nanoseconds = int(value.astype("timedelta64[ns]").astype("int64"))
    whole, rest = divmod(nanoseconds, 10**9)
    text = str(datetime.timedelta(seconds=whole))
    return f"{text}.{rest:09}".rstrip("0") if rest else text
