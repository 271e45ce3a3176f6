# SPDX-License-Identifier: Apache-2.0
"""Tests of dtypes and values, as in ``pandas.api.types``.

>>> from headrace.api.types import is_numeric_dtype, is_list_like
>>> is_numeric_dtype(hr.Series([1.5])), is_numeric_dtype("string"), is_list_like([1])
(True, False, True)
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from headrace.dtypes import DType, dtype_word, is_object
from headrace.facade import missing_of_module
from headrace.interop.pandas_types import CategoricalDtype, DatetimeTZDtype
from headrace.lazy.handle import is_array
from headrace.series.column import new_series

__all__ = [
    "CategoricalDtype",
    "DatetimeTZDtype",
    "infer_dtype",
    "is_any_real_numeric_dtype",
    "is_array_like",
    "is_bool",
    "is_bool_dtype",
    "is_categorical_dtype",
    "is_complex",
    "is_complex_dtype",
    "is_datetime64_any_dtype",
    "is_datetime64_dtype",
    "is_datetime64_ns_dtype",
    "is_datetime64tz_dtype",
    "is_dict_like",
    "is_extension_array_dtype",
    "is_file_like",
    "is_float",
    "is_float_dtype",
    "is_hashable",
    "is_int64_dtype",
    "is_integer",
    "is_integer_dtype",
    "is_iterator",
    "is_list_like",
    "is_named_tuple",
    "is_number",
    "is_numeric_dtype",
    "is_object_dtype",
    "is_re",
    "is_re_compilable",
    "is_scalar",
    "is_signed_integer_dtype",
    "is_string_dtype",
    "is_timedelta64_dtype",
    "is_timedelta64_ns_dtype",
    "is_unsigned_integer_dtype",
    "pandas_dtype",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


def _dtype(value: Any) -> DType | None:
    """The dtype of a column or array, or the one that a name, a type or a dtype means."""
    if value is None:  # which NumPy takes for float64
        return None
    try:
        own = value if isinstance(value, type) else getattr(value, "dtype", value)
        return DType(dtype_word(own))
    except TypeError:
        return None


_Test = Callable[[Any], bool]


def _test(what: str, holds: Callable[[DType], bool]) -> _Test:
    """Whether a column, an array or a dtype is of a kind."""

    def test(arr_or_dtype: Any) -> bool:
        dtype = _dtype(arr_or_dtype)
        return dtype is not None and holds(dtype)

    test.__doc__ = f"Whether a column or a dtype is {what}."
    return test


is_numeric_dtype: _Test = _test("numeric or bool", lambda d: d == "bool" or d.is_of("iufc"))
is_any_real_numeric_dtype: _Test = _test(
    "numeric, but no bool or complex", lambda d: d.is_of("iuf")
)
is_integer_dtype: _Test = _test("an integer", lambda d: d.kind in "iu")
is_signed_integer_dtype: _Test = _test("a signed integer", lambda d: d.kind == "i")
is_unsigned_integer_dtype: _Test = _test("an unsigned integer", lambda d: d.kind == "u")
is_int64_dtype: _Test = _test("int64", lambda d: d == "int64")
is_float_dtype: _Test = _test("a float", lambda d: d.kind == "f")
is_complex_dtype: _Test = _test("complex", lambda d: d.kind == "c")
is_bool_dtype: _Test = _test("bool", lambda d: d == "bool")
is_categorical_dtype: _Test = _test("a category", lambda d: d == "category")
is_datetime64_any_dtype: _Test = _test("a date or time", lambda d: d.kind == "M")
is_datetime64_dtype: _Test = _test(
    "a time without a zone", lambda d: d.kind == "M" and "," not in d
)
is_datetime64tz_dtype: _Test = _test("a time with a zone", lambda d: d.kind == "M" and "," in d)
is_datetime64_ns_dtype: _Test = _test(
    "a time in nanoseconds", lambda d: d.startswith(("datetime64[ns]", "datetime64[ns,"))
)
is_timedelta64_dtype: _Test = _test("a duration", lambda d: d.kind == "m")
is_timedelta64_ns_dtype: _Test = _test(
    "a duration in nanoseconds", lambda d: d == "timedelta64[ns]"
)
is_extension_array_dtype: _Test = _test(
    "no dtype of NumPy", lambda d: d in ("string", "category") or "," in d
)


def is_string_dtype(arr_or_dtype: Any) -> bool:
    """Whether values are strings; of a column of categories they are, its dtype is none."""
    dtype = _dtype(arr_or_dtype)
    return dtype == "string" or (dtype == "category" and is_list_like(arr_or_dtype))


def is_object_dtype(arr_or_dtype: Any) -> bool:
    """Whether values are Python objects: never of a column here."""
    return is_object(getattr(arr_or_dtype, "dtype", arr_or_dtype))


def pandas_dtype(dtype: Any) -> DType:
    """The dtype that a name, a type or a dtype means; TypeMismatchError for others.

    >>> pandas_dtype("Int64"), pandas_dtype(float)
    (dtype('int64'), dtype('float64'))
    """
    return DType(dtype_word(dtype))


def infer_dtype(value: Any, skipna: bool = True) -> str:
    """The kind of values in a word of pandas: "string", "integer", "floating", ...

    >>> infer_dtype(["a", None]), infer_dtype([1, 2]), infer_dtype([1.5])
    ('string', 'integer', 'floating')
    """
    values = new_series(value)
    if not len(values) or bool(values.isna().all().item()):
        return "empty"
    words = {"b": "boolean", "i": "integer", "u": "integer", "f": "floating", "c": "complex"}
    words |= {"M": "datetime64", "m": "timedelta64", "U": "string"}
    return {"category": "categorical", "date": "date"}.get(
        values.dtype, words.get(values.dtype.kind, "decimal")
    )


def is_list_like(obj: Any, allow_sets: bool = True) -> bool:
    """Whether this is a collection, and no string or single value."""
    if isinstance(obj, str | bytes | type) or getattr(obj, "ndim", 1) == 0:
        return False
    return hasattr(obj, "__iter__") and (allow_sets or not isinstance(obj, set | frozenset))


def is_dict_like(obj: Any) -> bool:
    """Whether this has keys and items."""
    return not isinstance(obj, type) and all(
        hasattr(obj, name) for name in ("__getitem__", "keys", "__contains__")
    )


def is_array_like(obj: Any) -> bool:
    """Whether this is a collection with a dtype."""
    return is_list_like(obj) and hasattr(obj, "dtype")


def _plain(value: Any) -> Any:
    """The value of an array of one."""
    return value.item() if is_array(value) and not value.ndim else value


def is_number(obj: Any) -> bool:
    """Whether this is a number or a bool."""
    return isinstance(_plain(obj), numbers.Number)


def is_integer(obj: Any) -> bool:
    """Whether this is an integer, and no bool."""
    return isinstance(_plain(obj), numbers.Integral) and not is_bool(obj)


def is_float(obj: Any) -> bool:
    """Whether this is a float."""
    return isinstance(_plain(obj), numbers.Real) and not isinstance(_plain(obj), numbers.Rational)


def is_complex(obj: Any) -> bool:
    """Whether this is complex."""
    return isinstance(obj, numbers.Complex) and not isinstance(obj, numbers.Real)


def is_bool(obj: Any) -> bool:
    """Whether this is True or False."""
    return type(_plain(obj)).__name__ in ("bool", "bool_")


def is_scalar(val: Any) -> bool:
    """Whether this is a single value: a number, a string, a time, None, ..."""
    import datetime
    import decimal
    import fractions

    known = (str, bytes, datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)
    others = (numbers.Number, fractions.Fraction)
    name = type(val).__name__
    return (
        val is None
        or isinstance(_plain(val), (*known, *others))
        or (type(val).__module__ == "numpy" and name != "ndarray")
        or name in ("NAType", "NaTType", "Period", "Interval", "DateOffset")
    )


def is_hashable(obj: Any) -> bool:
    """Whether this can be a key."""
    return isinstance(obj, Hashable)


def is_iterator(obj: Any) -> bool:
    """Whether this is an iterator."""
    return isinstance(obj, Iterator)


def is_file_like(obj: Any) -> bool:
    """Whether this can be read or written, and iterated."""
    return (hasattr(obj, "read") or hasattr(obj, "write")) and hasattr(obj, "__iter__")


def is_re(obj: Any) -> bool:
    """Whether this is a compiled pattern."""
    return isinstance(obj, re.Pattern)


def is_re_compilable(obj: Any) -> bool:
    """Whether this is, or makes, a pattern."""
    try:
        re.compile(obj)
    except (TypeError, re.error):
        return False
    return True


def is_named_tuple(obj: Any) -> bool:
    """Whether this is a named tuple."""
    return isinstance(obj, tuple) and hasattr(obj, "_fields")
