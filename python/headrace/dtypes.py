# SPDX-License-Identifier: Apache-2.0
"""Element types with names that NumPy understands."""

from __future__ import annotations

import datetime
import re
from typing import Any

from headrace import _core
from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.zone_names import zoned_word

FLOATS = ("float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TIMESTAMPS = ("datetime64[s]", "datetime64[ms]", "datetime64[us]", "datetime64[ns]")
DURATIONS = ("timedelta64[s]", "timedelta64[ms]", "timedelta64[us]", "timedelta64[ns]")
WORDS = (
    *("bool", *INTEGERS, *FLOATS, "complex64", "complex128", "string"),
    *("date", *TIMESTAMPS, *DURATIONS, "category"),
)
#: What the names of nested dtypes begin with.
NESTED = ("list[", "struct[", "map[")
PYTHON: dict[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    complex: "complex128",
    str: "string",
    datetime.date: "date",
    datetime.datetime: "datetime64[us]",
    datetime.timedelta: "timedelta64[us]",
}


_KINDS = {"b": "b", "i": "i", "u": "u", "f": "f", "c": "c", "d": "M", "t": "m"}


class DType(str):
    """A dtype: a name that compares equal to NumPy's dtype and can be passed to NumPy.

    The names are NumPy's and pandas': ``bool``, ``int8`` to ``uint64``, ``float32``, ``float64``,
    ``complex64``, ``complex128``, ``string``; ``date`` (days, 32 bits, NumPy's ``datetime64[D]``),
    ``datetime64[s]``, ``[ms]``, ``[us]`` and ``[ns]``, and with a zone ``datetime64[us, UTC]``;
    ``timedelta64[s]`` to ``[ns]``; ``decimal128(15, 2)`` (15 digits, 2 of them after the decimal
    point; at most 38); ``category`` (strings from a dictionary); ``list[int64]``,
    ``struct[x: int64, y: string]`` and ``map[string, int64]`` (of any dtypes). ``datetime64``
    without a unit raises, as in pandas 3.

    >>> import numpy as np
    >>> DType("float64") == np.float64, np.dtype(DType("int32"))
    (True, dtype('int32'))
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """The name."""
        return str(self)

    @property
    def kind(self) -> str:
        """NumPy's letter: b, i, u, f, c, M for times, m for durations, O for objects, else U.

        Categories, decimals, lists, structs and maps are objects in NumPy.
        """
        if self.startswith(("category", "decimal", *NESTED)):
            return "O"
        return _KINDS.get(self[0], "U")

    @property
    def type(self) -> Any:
        """NumPy's class of one element."""
        import numpy as np

        return np.dtype(self).type

    def is_of(self, kinds: str) -> bool:
        """Whether the dtype is of one of these kinds; decimals count as floats."""
        return self.kind in kinds or ("f" in kinds and self.startswith("decimal"))

    @property
    def itemsize(self) -> int:
        """Bytes of one element (16 for a string view, 4 for a date or the code of a category)."""
        if self.startswith("struct["):
            return 8
        if self.startswith(("decimal", *NESTED)):
            return 16
        fixed = {"bool": 1, "string": 16, "date": 4, "category": 4}
        digits = filter(str.isdigit, self.partition("[")[0])
        return fixed.get(str(self)) or int("".join(digits)) // 8

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        if other is None:  # NumPy's word for float64
            return False
        try:
            return str.__eq__(self, dtype_word(other))
        except (TypeError, ValueError):  # NumPy reads tuples and dictionaries as fields
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __repr__(self) -> str:
        return f"dtype('{self!s}')"


class CategoryDType(DType):
    """The dtype of a column of categories, which it knows; ``astype`` gives other values the same.

    >>> kind = hr.Series(["b", "a"], dtype="category").dtype
    >>> kind.categories.to_list(), kind.ordered, kind == "category"
    (['a', 'b'], False, True)
    """

    __slots__ = ("_column",)
    _column: Any

    @classmethod
    def of(cls, column: Any) -> DType:
        """The dtype of a series of categories."""
        made = cls("category")
        made._column = column
        return made

    def __reduce__(self) -> Any:
        return DType, (str(self),)

    @property
    def categories(self) -> Any:
        """The categories, in the order of their codes; runs the plan."""
        return self._column.cat.categories

    @property
    def ordered(self) -> bool:
        """Whether the categories are ordered; runs the plan."""
        return bool(self._column.cat.ordered)

    @staticmethod
    def _from_categorical_dtype(dtype: Any, categories: Any = None, ordered: Any = None) -> Any:
        """What `pandas.Categorical` asks of the dtype of values that it is given."""
        import pandas as pd

        names = dtype.categories.to_list() if categories is None else categories
        return pd.CategoricalDtype(names, dtype.ordered if ordered is None else ordered)


def has_no_nan(dtype: Any) -> bool:
    """Whether it is one of pandas' floats with nulls, in which NaN becomes null."""
    return str(dtype) in ("Float32", "Float64")


def is_object(dtype: Any) -> bool:
    """Whether it is NumPy's object dtype: any values, which here keep their own dtype."""
    return dtype is object or str(dtype) in ("object", "O")


def refuse_months(spans: Any, op: str) -> None:
    """Raise for months and years of NumPy's timedelta64, single or in an array."""
    if spans.dtype.name.endswith(("M]", "Y]")):
        given = f"dtype={spans.dtype.name!r}" if spans.ndim else f"value={spans!r}"
        raise InvalidArgumentError(
            f"{op}: months and years have no fixed length: {given}; use days or a finer unit"
        )


#: Decimal digits that hold all values of an integer dtype.
_DIGITS = {"int8": 3, "uint8": 3, "int16": 5, "uint16": 5, "int32": 10, "uint32": 10}
_DECIMAL = re.compile(r"decimal128\((\d+), (\d+)\)")


def digits_of(dtype: str) -> tuple[int, int] | None:
    """Digits before and after the decimal point of decimals and integers; None for others."""
    if decimal := _DECIMAL.fullmatch(dtype):
        return int(decimal[1]) - int(decimal[2]), int(decimal[2])
    return (_DIGITS.get(dtype, 20), 0) if dtype in INTEGERS else None


def dtype_word(dtype: Any) -> str:
    """The engine's name for `dtype`: a name, a NumPy dtype or type, or a Python type.

    Raises
    ------
    TypeError
        For dtypes without a counterpart (object, other units, structured types).
    """
    if isinstance(dtype, str):
        aliases = {"float": "float64", "int": "int64", "str": "string", "boolean": "bool"}
        aliases |= {"string[pyarrow]": "string", "string[python]": "string"}
        word = {**aliases, "datetime64[D]": "date"}.get(dtype, str(dtype))
        if _CODE.fullmatch(word):  # NumPy's codes: "i8", "M8[ns]", "float"
            return dtype_word(_numpy_dtype(word))
    elif isinstance(dtype, type) and dtype in PYTHON:
        word = PYTHON[dtype]
    else:
        import numpy as np

        try:
            word = np.dtype(dtype).name
        except TypeError:
            word = str(getattr(dtype, "name", None) or repr(dtype))  # pandas' own dtypes
        if word.startswith("str"):
            word = "string"
        elif word == "boolean":
            word = "bool"
        elif word == "datetime64[D]":
            word = "date"
    if word.startswith(("Int", "UInt", "Float")):  # pandas' names for nullable numbers
        word = word.lower()
    if word.endswith("[pyarrow]"):
        word = _ARROW.get(word[:-9], word[:-9])
        word = word.replace("timestamp[", "datetime64[").replace("duration[", "timedelta64[")
    if word in ("datetime64", "timedelta64"):
        raise TypeMismatchError(
            f"dtype: {word} needs a unit: dtype={word!r}; use '{word}[us]', or s, ms or ns as unit"
        )
    if decimal := decimal_word(word):
        return decimal
    if word.startswith("list[") and word.endswith("]"):
        return f"list[{dtype_word(word[5:-1])}]"
    if word.startswith(NESTED):
        return _core.dtype_name(word)
    if word not in WORDS and word.startswith("datetime64["):
        word = zoned_word(word) or word
        if "," in word:
            return word
    if word == "float16":
        raise TypeMismatchError("dtype: no 16-bit floats: dtype='float16'; use 'float32'")
    if word not in WORDS:
        raise TypeMismatchError(
            f"dtype: unknown dtype: dtype={word!r}; use one of {', '.join(WORDS)}"
        )
    return word


#: Arrow's names of dtypes, where they differ.
_ARROW = {"double": "float64", "float": "float32", "large_string": "string", "date32[day]": "date"}
_CODE = re.compile(r"[<>=|]?(?:[iufbc]\d{0,2}|\?|[Mm]8\[\w+\])|intp|uintp|int_|float_|bool_")


def _numpy_dtype(word: str) -> Any:
    import numpy as np

    return np.dtype(word)


_WORD = re.compile(r"decimal128\((\d+), *(\d+)\)(\[pyarrow\])?")


def decimal_word(word: str) -> str | None:
    """The engine's name of a decimal dtype; None for others."""
    match = _WORD.fullmatch(word)
    return f"decimal128({match[1]}, {match[2]})" if match else None
