# SPDX-License-Identifier: Apache-2.0
"""Strings as numbers and back: code points, digests, bases, sizes, escapes, bars and paths."""

from __future__ import annotations

import decimal
import hashlib
import math
import re
import unicodedata
import urllib.parse
from collections.abc import Callable
from typing import Any

from headrace import _core
from headrace.sql.functions.arguments import of_constants
from headrace.sql.values import Operand

ByName = Callable[[list[Operand], _core.Node], Operand]


def _hex(value: Any) -> str:
    if isinstance(value, str):
        return value.encode().hex().upper()
    return f"{value if value >= 0 else value + (1 << 64):X}"


def _binary(value: Any) -> str:
    if isinstance(value, str):
        return "".join(f"{byte:08b}" for byte in value.encode())
    return f"{value if value >= 0 else value + (1 << 64):b}"


def _code(text: str) -> int:
    return ord(text[0]) if text else -1


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _based(number: int, radix: int, least: int = 0) -> str:
    if number < 0 or not 2 <= radix <= 36 or not 0 <= least <= 64:
        raise ValueError
    digits = ""
    while number or not digits:
        number, rest = divmod(number, radix)
        digits = _DIGITS[rest] + digits
    return digits.rjust(least, "0")


def _size(value: int, unit: int, letters: str, end: str) -> str:
    """A number of bytes in its largest unit, truncated to one decimal place."""
    number, sign = abs(value), "-" if value < 0 else ""
    if number < unit:
        return f"{sign}{number} byte{'' if number == 1 else 's'}"
    place, whole, rest = -1, number, 0
    while whole >= unit and place + 1 < len(letters):
        whole, rest = divmod(whole, unit)
        place += 1
    return f"{sign}{whole}.{rest * 10 // unit} {letters[place]}{end}"


def _binary_size(value: int) -> str:
    return _size(value, 1024, "KMGTP", "iB")


def _decimal_size(value: int) -> str:
    return _size(value, 1000, "kMGTP", "B")


_SIZE = re.compile(r"\s*([0-9]+(?:[.][0-9]*)?(?:e[+-]?[0-9]+)?)\s*([a-z]+)\s*")
_UNITS = ("kilobyte", "megabyte", "gigabyte", "terabyte")


def _bytes(text: str) -> int:
    """The number of bytes of a size such as 1.5 KiB."""
    found = _SIZE.fullmatch(text.lower())
    if found is None:
        raise ValueError
    number, unit = decimal.Decimal(found[1]), found[2]
    letters = "kmgt"
    if unit in ("b", "byte", "bytes"):
        factor = 1
    elif len(unit) == 3 and unit[0] in letters and unit[1:] == "ib":
        factor = 1024 ** (letters.index(unit[0]) + 1)
    elif (len(unit) == 1 or unit[1:] == "b") and unit[0] in letters:
        factor = 1000 ** (letters.index(unit[0]) + 1)
    elif unit.removesuffix("s") in _UNITS:
        factor = 1000 ** (_UNITS.index(unit.removesuffix("s")) + 1)
    else:
        raise ValueError
    made = int(float(number) * factor)
    if made >= 1 << 64:
        raise OverflowError
    return made


def _escaped_pattern(text: str) -> str:
    """A pattern that matches the string itself."""
    made = ""
    for each in text:
        plain = (each.isalnum() and each.isascii()) or each == "_" or not each.isascii()
        made += each if plain else "\\x00" if each == "\0" else f"\\{each}"
    return made


def _decoded(text: str) -> str:
    return urllib.parse.unquote(text, errors="strict")


def _encoded(text: str) -> str:
    return urllib.parse.quote(text, safe="~-_.")


def _without_accents(text: str) -> str:
    parts = unicodedata.normalize("NFD", text)
    kept = "".join(c for c in parts if not unicodedata.category(c).startswith("M"))
    return unicodedata.normalize("NFC", kept)


_PARTS_OF_BAR = " ▏▎▍▌▋▊▉█"


def _bar(value: float, low: float, high: float, width: float = 80.0) -> str:
    """A bar of blocks for the share of a value between two others."""
    x, least, most, size = (float(each) for each in (value, low, high, width))
    if not math.isfinite(size) or not 1 <= size <= 1000:
        raise ValueError
    if math.isnan(x) or math.isnan(least) or math.isnan(most) or x < least:
        share = 0.0
    else:
        share = 1.0 if x > most else (x - least) / (most - least) if most > least else 0.0
    eighths = int(size * share * 8)
    full, rest = divmod(eighths, 8)
    made = _PARTS_OF_BAR[8] * full + (_PARTS_OF_BAR[rest] if rest else "")
    return made.ljust(int(size))


def _anchor(path: str) -> tuple[str, bool, str]:
    """What a path stands on, whether it begins at a root, and the rest of it."""
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*|file:", path)
    start = found[0] if found else ""
    rest = path[len(start) :]
    return start, rest.startswith("/") or "://" in start, rest


def _joined_path(*parts: str) -> str:
    start, rooted, rest = _anchor(parts[0])
    names = rest.split("/")
    for each in parts[1:]:
        other, absolute, more = _anchor(each)
        if other or absolute:
            raise ValueError
        names += more.split("/")
    kept: list[str] = []
    for name in names:
        if name in ("", "."):
            continue
        if name != "..":
            kept.append(name)
        elif kept and kept[-1] != "..":
            kept.pop()
        elif not rooted:
            kept.append(name)
    made = "/".join(kept)
    return f"{start}/{made}" if rooted else f"{start}{made}" or "."


def _digest(name: str) -> Callable[[str], str]:
    return lambda text: hashlib.new(name, text.encode()).hexdigest()


BY_NAME: dict[str, ByName] = {
    "chr": of_constants("CHR", "string", lambda n: chr(int(n))),
    "unicode": of_constants("UNICODE", "int32", _code),
    "ord": of_constants("ORD", "int32", _code),
    "ascii": of_constants("ASCII", "int32", lambda s: ord(s[0]) if s else 0),
    "md5": of_constants("MD5", "string", _digest("md5")),
    "sha1": of_constants("SHA1", "string", _digest("sha1")),
    "sha2": of_constants("SHA256", "string", lambda s, bits: _digest(f"sha{bits}")(s)),
    **{name: of_constants(name.upper(), "string", _hex) for name in ("hex", "to_hex")},
    **{name: of_constants(name.upper(), "string", _binary) for name in ("bin", "to_binary")},
    "to_base": of_constants("TO_BASE", "string", _based),
    "bit_count": of_constants("BIT_COUNT", "int8", lambda n: (n & ((1 << 64) - 1)).bit_count()),
    "strlen": of_constants("STRLEN", "int64", lambda s: len(s.encode())),
    "bit_length": of_constants("BIT_LENGTH", "int64", lambda s: 8 * len(s.encode())),
    **{
        name: of_constants(name.upper(), "string", _binary_size)
        for name in ("format_bytes", "formatreadablesize", "pg_size_pretty")
    },
    "formatreadabledecimalsize": of_constants("FORMATREADABLEDECIMALSIZE", "string", _decimal_size),
    "parse_formatted_bytes": of_constants("PARSE_FORMATTED_BYTES", "uint64", _bytes),
    "regexp_escape": of_constants("REGEXP_ESCAPE", "string", _escaped_pattern),
    "url_encode": of_constants("URL_ENCODE", "string", _encoded),
    "url_decode": of_constants("URL_DECODE", "string", _decoded),
    "strip_accents": of_constants("STRIP_ACCENTS", "string", _without_accents),
    "bar": of_constants("BAR", "string", _bar),
    "path_join": of_constants("PATH_JOIN", "string", _joined_path),
}
