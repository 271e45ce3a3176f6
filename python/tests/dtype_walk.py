# SPDX-License-Identifier: Apache-2.0
"""Every operation on every pair of dtypes and literals, beside pandas and DuckDB."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import operator
import zoneinfo
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

import headrace as hr

_BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
_UNITS = ("s", "ms", "us", "ns")

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float32", "float64")
COMPLEX = ("complex64", "complex128")
TIMES = (
    "date",
    *(f"datetime64[{unit}]" for unit in _UNITS),
    "datetime64[us, UTC]",
    "datetime64[ms, Europe/Berlin]",
)
DURATIONS = tuple(f"timedelta64[{unit}]" for unit in _UNITS)
DECIMALS = ("decimal128(15, 2)", "decimal128(6, 0)")
TEXTS = ("string", "category")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX, *TEXTS, *TIMES, *DURATIONS, *DECIMALS)

LITERALS: dict[str, Any] = {
    "True": True,
    "3": 3,
    "-2": -2,
    "0": 0,
    "300": 300,
    "2**70": 2**70,
    "2.5": 2.5,
    "nan": math.nan,
    "np.int8(3)": np.int8(3),
    "np.uint64(3)": np.uint64(3),
    "np.float32(2.5)": np.float32(2.5),
    "np.bool_(True)": np.bool_(True),
    "'b'": "b",
    "'2024-03-05'": "2024-03-05",
    "'2024-03-05 12:30'": "2024-03-05 12:30",
    "'2024-03-05 12:30+01:00'": "2024-03-05 12:30+01:00",
    "dt.date": dt.date(2024, 3, 5),
    "dt.datetime": dt.datetime(2024, 3, 5, 12, 30),
    "dt.datetime of a zone": dt.datetime(2024, 3, 5, 12, 30, tzinfo=_BERLIN),
    "np.datetime64": np.datetime64("2024-03-05T12:30:00.000000001"),
    "pd.Timestamp": pd.Timestamp("2024-03-05 12:30:00.000000001"),
    "dt.timedelta": dt.timedelta(hours=36),
    "np.timedelta64": np.timedelta64(36, "h"),
    "pd.Timedelta": pd.Timedelta("36h"),
    "pd.DateOffset(months=1)": pd.DateOffset(months=1),
    "Decimal('1.5')": decimal.Decimal("1.5"),
}


_LITERAL_KINDS = {
    "True": "bool",
    "np.bool_(True)": "bool",
    "2**70": "big",
    "2.5": "float",
    "nan": "nan",
    "np.float32(2.5)": "float",
    "'b'": "string",
    "dt.date": "python date",
    "dt.datetime": "time",
    "dt.datetime of a zone": "zoned",
    "np.datetime64": "time",
    "pd.Timestamp": "time",
    "dt.timedelta": "duration",
    "np.timedelta64": "duration",
    "pd.Timedelta": "duration",
    "pd.DateOffset(months=1)": "calendar",
    "Decimal('1.5')": "python decimal",
}
NUMBERS = {"bool", "int", "float", "nan"}


def kind_of(word: str) -> str:
    """The kind of a dtype or of the word of a literal, as exceptions name it."""
    if word in LITERALS:
        return _LITERAL_KINDS.get(word, "iso" if word[0] == "'" else "int")
    kinds = ((INTEGERS, "int"), (FLOATS, "float"), (COMPLEX, "complex"), (DURATIONS, "duration"))
    found = next((kind for group, kind in (*kinds, (DECIMALS, "decimal")) if word in group), word)
    return found if word not in TIMES or word == "date" else "zoned" if "," in word else "time"


def _where(mine: Any, theirs: Any) -> Any:
    column = mine if hasattr(mine, "where") else theirs
    mask = [True, False, True, False, True]
    if isinstance(column, pd.Series):
        return (
            mine.where(pd.Series(mask), theirs)
            if hasattr(mine, "where")
            else theirs.where(~pd.Series(mask), mine)
        )
    condition = hr.Series(mask)
    return mine.where(condition, theirs) if hasattr(mine, "where") else theirs.mask(condition, mine)


BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "where": _where,
}
UNARY: dict[str, Callable[[Any], Any]] = {"-": operator.neg, "~": operator.invert, "abs": abs}


class Case(NamedTuple):
    """One operation; a side is a dtype or the word of a literal. `right` is empty for one side."""

    op: str
    left: str
    right: str

    def run(self, column: Callable[[str, int], Any]) -> Any:
        """Its result, with columns made from a dtype and a side."""
        if not self.right:
            return UNARY[self.op](column(self.left, 0))
        sides = [
            LITERALS[word] if word in LITERALS else column(word, side)
            for side, word in enumerate((self.left, self.right))
        ]
        return BINARY[self.op](*sides)


def cases() -> Iterator[Case]:
    """All of them."""
    for dtype in DTYPES:
        for op in UNARY:
            yield Case(op, dtype, "")
    for op in BINARY:
        for left in DTYPES:
            for right in (*DTYPES, *LITERALS):
                yield Case(op, left, right)
            for word in LITERALS:
                yield Case(op, word, left)


def values_of(dtype: str, side: int) -> list[Any]:
    """Five Python values that fit the dtype, other ones for the right side."""
    if dtype == "bool":
        return [[True, False, True, True, False], [True, True, False, True, False]][side]
    if dtype in TEXTS:
        return [["b", "a", "", "c", "b"], ["b", "b", "a", "", "é"]][side]
    day = dt.datetime(2024, 3, 5)
    if dtype in TIMES:
        steps = [[0, -5, 3, 1, 40], [0, 2, 3, -1, 10]][side]
        days = [day + dt.timedelta(step) for step in steps]
        if dtype == "date":
            return [each.date() for each in days]
        hours = [each + dt.timedelta(hours=side * 12, minutes=30) for each in days]
        hours[0] = day
        zone = dt.UTC if "UTC" in dtype else _BERLIN if "Berlin" in dtype else None
        return [each.replace(tzinfo=zone) for each in hours]
    if dtype in DURATIONS:
        seconds = [[129_600, -7, 0, 24, 100], [129_600, 5, -3, 0, 1]][side]
        return [dt.timedelta(seconds=each) for each in seconds]
    numbers = [[3, 1, 7, 0, 5], [3, 2, 1, 0, 2]][side]
    if dtype.startswith("int"):
        numbers[2] = -7
    if dtype in DECIMALS:
        parts = numbers if dtype.endswith(" 0)") else [n + 0.25 for n in numbers]
        return [decimal.Decimal(str(part)) for part in parts]
    if dtype in FLOATS:
        return [[3.0, -1.5, 7.25, 0.0, 2.5], [3.0, 2.0, -0.5, 0.0, 2.5]][side]
    if dtype in COMPLEX:
        return [complex(n, 1) for n in numbers]
    return numbers


def ours(dtype: str, side: int) -> hr.Series:
    """A column of Headrace."""
    return hr.Series(values_of(dtype, side), dtype=dtype)


def theirs(dtype: str, side: int) -> pd.Series:
    """The same in pandas, whose frames have no dates."""
    values = values_of(dtype, side)
    if dtype == "date":
        return pd.Series(pd.to_datetime(values)).astype("datetime64[s]")
    if dtype in DECIMALS:
        precision, scale = (int(part) for part in dtype[11:-1].split(","))
        return pd.Series(values, dtype=pd.ArrowDtype(pa.decimal128(precision, scale)))
    if dtype == "string":
        return pd.Series(values, dtype="str")
    if "," in dtype:
        return pd.Series(pd.DatetimeIndex(values).as_unit(dtype[11:13].rstrip(",")))
    return pd.Series(values, dtype=dtype)


def plain(values: Any) -> list[Any]:
    """Comparable values: times as UTC nanoseconds, durations as nanoseconds, missing as None."""
    made = []
    for value in values:
        if value is None or value is pd.NaT or value is pd.NA:
            made.append(None)
        elif isinstance(value, np.datetime64 | dt.date) or (
            isinstance(value, dt.datetime) and not isinstance(value, pd.Timestamp)
        ):
            stamp = pd.Timestamp(value)
            made.append(stamp.as_unit("ns").value)
        elif isinstance(value, pd.Timestamp):
            made.append(value.as_unit("ns").value)
        elif isinstance(value, dt.timedelta | np.timedelta64):
            made.append(pd.Timedelta(value).as_unit("ns").value)
        elif isinstance(value, np.generic):
            made.append(value.item())
        else:
            made.append(value)
    return made


def outcome(run: Callable[[], Any]) -> list[Any] | Exception:
    """The values, or the error."""
    try:
        made = run()
        if isinstance(made, hr.Series):
            return plain(made.to_list())
        if isinstance(made, pd.Series):
            return plain(made.tolist())
        return TypeError(f"no series: {made!r}")
    except Exception as error:  # pandas raises many
        return error


def alike(mine: Any, other: Any, tolerance: float) -> bool:
    """Whether two plain values are equal, floats nearly, numbers of any kind."""
    if mine is None or other is None:
        missing = (None, "nan")
        return all(
            each is None or (isinstance(each, float) and math.isnan(each)) or each in missing
            for each in (mine, other)
        )
    if isinstance(mine, str) or isinstance(other, str):
        return type(mine) is type(other) and mine == other
    if isinstance(mine, complex) or isinstance(other, complex):
        return bool(np.isclose(complex(mine), complex(other), rtol=tolerance, equal_nan=True))
    if isinstance(mine, float) or isinstance(other, float):
        a, b = float(mine), float(other)
        return (math.isnan(a) and math.isnan(b)) or math.isclose(
            a, b, rel_tol=tolerance, abs_tol=tolerance
        )
    return bool(mine == other)


def beside_pandas(
    case: Case, mine: Callable[[str, int], Any], other: Callable[[str, int], Any]
) -> tuple[str, Any, Any]:
    """How a case differs from pandas ("" if it does not), and both outcomes."""
    a, b = outcome(lambda: case.run(mine)), outcome(lambda: case.run(other))
    if isinstance(a, Exception) or isinstance(b, Exception):
        if isinstance(a, Exception) and isinstance(b, Exception):
            return "", a, b
        return ("raises" if isinstance(a, Exception) else "pandas raises"), a, b
    if case.op in _COMPARISONS:  # which pandas' dtypes with nulls keep
        b = [case.op == "!=" if value is None else value for value in b]
    words = case.left + case.right
    tolerance = 1e-6 if "float32" in words or "complex64" in words else 1e-12
    equal = len(a) == len(b) and all(alike(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return "" if equal else "differs", a, b


class Exempt(NamedTuple):
    """A difference from pandas: what the page says, how cases differ, and which they are."""

    text: str
    how: str
    holds: Callable[[Case, str, str], bool]


_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_LOGIC = ("&", "|", "^")


def _has_decimal(left: str, right: str) -> bool:
    return bool({left, right} & {"decimal", "python decimal"})


def _either(*kinds: str) -> Callable[[Case, str, str], bool]:
    return lambda case, left, right: left in kinds or right in kinds


EXCEPTIONS: tuple[Exempt, ...] = (
    Exempt(
        "Complex numbers are stored and converted, but have no operations: they raise.",
        "raises",
        _either("complex"),
    ),
    Exempt(
        "`==` and `!=` of kinds that cannot be equal raise, where pandas finds all values unequal; "
        "`where` of such kinds raises, where pandas makes objects.",
        "raises",
        lambda case, left, right: (
            case.op in ("==", "!=", "where") and left != right and not {left, right} <= NUMBERS
        ),
    ),
    Exempt(
        "`where` raises for a number that the dtype cannot hold, where pandas takes a wider one.",
        "raises",
        lambda case, left, right: case.op == "where" and left == right == "int",
    ),
    Exempt(
        "Integers of more than 64 bits raise next to numbers; next to decimals they are exact, "
        "where pandas raises.",
        "raises, pandas raises",
        _either("big"),
    ),
    Exempt(
        "Integers and bools divided by zero with `//` and `%` give 0.",
        "differs",
        lambda case, left, right: (
            case.op in ("//", "%") and {left, right} <= {"int", "bool"} and right != ""
        ),
    ),
    Exempt(
        "Strings and dates are added as text, since pandas reads the dates of a file as strings.",
        "pandas raises",
        lambda case, left, right: (
            case.op == "+" and {left, right} in ({"string", "date"}, {"iso", "date"})
        ),
    ),
    Exempt(
        "Bools divide and have powers, as numbers, where pandas raises.",
        "pandas raises",
        lambda case, left, right: case.op in ("/", "//", "**") and left == right == "bool",
    ),
    Exempt(
        "`where` of times in two zones raises, where pandas makes objects.",
        "raises",
        lambda case, left, right: case.op == "where" and left == right == "zoned",
    ),
    Exempt(
        "`&`, `|` and `^` of integers take NumPy's integers, where pandas raises.",
        "pandas raises",
        lambda case, left, right: case.op in _LOGIC and left == right == "int",
    ),
    Exempt(
        "Numbers are not compared with durations, nor multiplied with calendar offsets: they "
        "raise, where pandas counts units and makes objects.",
        "raises",
        lambda case, left, right: (
            bool({left, right} & {"int", "bool"}) and bool({left, right} & {"duration", "calendar"})
        ),
    ),
    Exempt(
        "`-` of bools raises, and so do `&`, `|` and `^` of a bool with a float or a string, and "
        "of `uint64` with signed integers: use `~`, or `astype` first.",
        "raises",
        lambda case, left, right: (
            (case.op == "-" and left == "bool" and not right)
            or (case.op in _LOGIC and {left, right} <= {"bool", "float", "nan", "int", "string"})
        ),
    ),
    Exempt(
        "A string times an integer raises, where pandas repeats the string.",
        "raises",
        lambda case, left, right: case.op == "*" and "string" in (left, right),
    ),
    Exempt(
        "A string next to NaN raises, where pandas gives NaN and False.",
        "raises",
        lambda case, left, right: {left, right} == {"string", "nan"},
    ),
    Exempt(
        "Categories are strings: they are added and chosen like these, where pandas raises; "
        "ordered by `<` next to a string column they raise.",
        "raises, pandas raises",
        _either("category"),
    ),
    Exempt(
        "A `datetime.date` is the day, where pandas finds it unequal to times, or raises.",
        "differs, pandas raises",
        _either("python date"),
    ),
    Exempt(
        "ISO strings are times next to times and durations in all operations; pandas reads them in "
        "comparisons.",
        "pandas raises",
        _either("iso"),
    ),
    Exempt(
        "Durations are multiplied and divided by bools as by 0 and 1, and divided by decimals, "
        "where pandas raises.",
        "pandas raises",
        lambda case, left, right: (
            case.op in ("*", "/", "//", "%")
            and "duration" in (left, right)
            and bool({left, right} & {"bool", "decimal", "python decimal"})
        ),
    ),
    Exempt(
        "`//` of a duration by a number rounds down, as Python's; pandas truncates. `%` of a "
        "duration by a number raises. Of a single duration by a column both keep microseconds, "
        "where pandas takes the unit of NumPy's.",
        "differs, raises",
        lambda case, left, right: (
            case.op in ("/", "//", "%") and left == "duration" and right in NUMBERS
        ),
    ),
    Exempt(
        "Quotients of decimals are float64, where pandas rounds to the decimal's digits.",
        "differs",
        lambda case, left, right: case.op == "/" and _has_decimal(left, right),
    ),
    Exempt(
        "A decimal next to NaN is a float, where pandas has missing values.",
        "differs",
        lambda case, left, right: "nan" in (left, right) and _has_decimal(left, right),
    ),
    Exempt(
        "A decimal equals a bool as it equals 0 and 1; pandas finds all unequal.",
        "differs",
        lambda case, left, right: {left, right} == {"bool", "decimal"} and case.op in ("==", "!="),
    ),
    Exempt(
        "`//` of a `decimal.Decimal` and integers rounds down, with `%` to match; Python "
        "truncates.",
        "differs",
        lambda case, left, right: (
            case.op in ("//", "%") and {left, right} == {"int", "python decimal"}
        ),
    ),
    Exempt(
        "Decimals combine with floats and bools, have `%`, and take other decimals exactly, where "
        "pandas raises; powers that need more than 38 digits raise.",
        "raises, pandas raises",
        lambda case, left, right: _has_decimal(left, right),
    ),
)


def exception_of(case: Case, how: str) -> int:
    """The number of the exception that explains a difference; 0 for none."""
    left, right = kind_of(case.left), kind_of(case.right) if case.right else ""
    for number, exempt in enumerate(EXCEPTIONS, 1):
        if how in exempt.how.split(", ") and exempt.holds(case, left, right):
            return number
    return 0


# ---- nulls --------------------------------------------------------------------------------------
_GAPS = ((1, 4), (3, 4))
MASK = [True, False, None, True, None]


def with_nulls(dtype: str, side: int) -> list[Any]:
    """The values with nulls: on the left, on the right, and in one row on both sides."""
    return [None if row in _GAPS[side] else v for row, v in enumerate(values_of(dtype, side))]


_ARROW = {
    **{dtype: getattr(pa, dtype)() for dtype in (*INTEGERS, *FLOATS)},
    **{f"datetime64[{unit}]": pa.timestamp(unit) for unit in _UNITS},
    **{f"timedelta64[{unit}]": pa.duration(unit) for unit in _UNITS},
    "bool": pa.bool_(),
    "string": pa.string(),
    "category": pa.string(),
    "date": pa.date32(),
    "datetime64[us, UTC]": pa.timestamp("us", "UTC"),
    "datetime64[ms, Europe/Berlin]": pa.timestamp("ms", "Europe/Berlin"),
    "decimal128(15, 2)": pa.decimal128(15, 2),
    "decimal128(6, 0)": pa.decimal128(6, 0),
}
#: Operations that have a null rule, with their names here and in SQL.
RULED = {
    "==": ("equal", "="),
    "!=": ("not_equal", "<>"),
    "<": ("less", "<"),
    "<=": ("less_equal", "<="),
    ">": ("greater", ">"),
    ">=": ("greater_equal", ">="),
    "&": ("bitwise_and", "AND"),
    "|": ("bitwise_or", "OR"),
    "where": ("where", ""),
}


def sql_table() -> tuple[pa.Table, dict[tuple[str, int], str]]:
    """All columns with nulls for DuckDB, their names there, and a column `mask`."""
    sides = [(dtype, side) for dtype in _ARROW for side in (0, 1)]
    names = {each: f"c{place}" for place, each in enumerate(sides)}
    columns = {name: pa.array(with_nulls(*each), _ARROW[each[0]]) for each, name in names.items()}
    return pa.table({**columns, "mask": pa.array(MASK)}), names


def sql_of(op: str, left: str, right: str, missing_is_false: bool) -> str:
    """An operation by a null rule in SQL."""
    if op == "where":
        return f"CASE WHEN mask THEN {left} ELSE {right} END"
    word = RULED[op][1]
    if op not in _LOGIC:
        return f"coalesce({left} {word} {right}, {op == '!='})"
    if missing_is_false:
        return f"coalesce({left}, false) {word} coalesce({right}, false)"
    return f"{left} {word} {right}"


def ruled_cases() -> Iterator[tuple[Case, bool]]:
    """The operations with a null rule on all pairs of dtypes that SQL has, by both rules."""
    for op in RULED:
        for left in ("bool",) if op in _LOGIC else _ARROW:
            for right in ("bool",) if op in _LOGIC else _ARROW:
                for missing_is_false in (False, True)[op == "where" :]:
                    yield Case(op, left, right), missing_is_false


#: pandas' dtypes that have nulls, and the dtype here; see NULLABLE_EXCEPTIONS.
NULLABLE = {
    "boolean": "bool",
    "Int8": "int8",
    "Int64": "int64",
    "UInt8": "uint8",
    "Float32": "float32",
    "Float64": "float64",
    "string[pyarrow]": "string",
}


def nullable_cases() -> Iterator[Case]:
    """Every operation on every pair of them, and with numbers and strings."""
    kinds = NUMBERS | {"string"}
    words = [word for word in LITERALS if kind_of(word) in kinds]
    for op in UNARY:
        for dtype in NULLABLE:
            yield Case(op, dtype, "")
    for op in BINARY:
        for dtype in NULLABLE:
            for other in (*NULLABLE, *words):
                yield Case(op, dtype, other)
            for word in words:
                yield Case(op, word, dtype)


def nullable_kind(word: str) -> str:
    """The kind of a side of these cases."""
    return kind_of(NULLABLE.get(word, word)) if word else ""


NULLABLE_EXCEPTIONS: tuple[Exempt, ...] = (
    Exempt(
        "A null to the power 0, and 1 to the power null, are null; pandas gives 1.",
        "differs",
        lambda case, left, right: case.op == "**",
    ),
    Exempt(
        "NaN that arithmetic makes is NaN, which `isna`, `fillna` and `dropna` take as missing; "
        "pandas makes it null.",
        "NaN",
        lambda case, left, right: bool({left, right} <= NUMBERS),
    ),
)


def nullable_exception_of(case: Case, how: str) -> int:
    """As `exception_of`, with the exceptions of columns without nulls where these hold none."""
    left, right = nullable_kind(case.left), nullable_kind(case.right)
    for number, exempt in enumerate((*EXCEPTIONS, *NULLABLE_EXCEPTIONS), 1):
        if how in exempt.how.split(", ") and exempt.holds(case, left, right):
            return number
    return 0
