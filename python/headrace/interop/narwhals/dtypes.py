# SPDX-License-Identifier: Apache-2.0
"""narwhals' dtypes and ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from narwhals._utils import isinstance_or_issubclass

from headrace import _core
from headrace.errors import UnsupportedError

if TYPE_CHECKING:
    from headrace.series.series import Series

_SAME = {
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64)},
    **{"float32": "Float32", "float64": "Float64", "bool": "Boolean", "string": "String"},
    **{"date": "Date"},
}
_TIMES = re.compile(r"(datetime64|timedelta64)\[(s|ms|us|ns)(?:, (.+))?\]")
_DECIMAL = re.compile(r"decimal128\((\d+), (\d+)\)")
#: Digits of a decimal without a stated precision.
_MOST_DIGITS = 38


def narwhals_dtype(word: str, series: Series | None, version: Any) -> Any:
    """The dtype of narwhals for the word of a column; of `series` with categories it evaluates."""
    dtypes = version.dtypes
    if word in _SAME:
        return getattr(dtypes, _SAME[word])()
    if word == "category":
        if series is not None and series.cat.ordered:
            return dtypes.Enum(series.cat.categories.to_list())
        return dtypes.Categorical()
    if times := _TIMES.fullmatch(word):
        kind, unit, zone = times.groups()
        return dtypes.Datetime(unit, zone) if kind == "datetime64" else dtypes.Duration(unit)
    if digits := _DECIMAL.fullmatch(word):
        return dtypes.Decimal(int(digits[1]), int(digits[2]))
    if word.startswith("list["):
        return dtypes.List(narwhals_dtype(word[5:-1], None, version))
    if word.startswith("struct["):
        fields = _core.dtype_fields(word)
        return dtypes.Struct({n: narwhals_dtype(kind, None, version) for n, kind in fields})
    return dtypes.Unknown()


def own_dtype(dtype: Any, version: Any) -> str:
    """The word of a dtype of narwhals, a class or an instance; raises for those we lack."""
    dtypes = version.dtypes
    for word, name in _SAME.items():
        if isinstance_or_issubclass(dtype, getattr(dtypes, name)):
            return word
    if isinstance_or_issubclass(dtype, (dtypes.Categorical, dtypes.Enum)):
        return "category"
    if isinstance_or_issubclass(dtype, dtypes.Datetime):
        zone = getattr(dtype, "time_zone", None)
        unit = getattr(dtype, "time_unit", "us")
        return f"datetime64[{unit}, {zone}]" if isinstance(zone, str) else f"datetime64[{unit}]"
    if isinstance_or_issubclass(dtype, dtypes.Duration):
        return f"timedelta64[{getattr(dtype, 'time_unit', 'us')}]"
    if isinstance_or_issubclass(dtype, dtypes.Decimal):
        digits = getattr(dtype, "precision", _MOST_DIGITS), getattr(dtype, "scale", 0)
        if isinstance(digits[0], int):
            return f"decimal128({digits[0]}, {digits[1]})"
        return f"decimal128({_MOST_DIGITS}, 0)"
    if isinstance_or_issubclass(dtype, dtypes.List) and hasattr(dtype, "inner"):
        return f"list[{own_dtype(dtype.inner, version)}]"
    raise UnsupportedError(
        f"narwhals: no column of this dtype: dtype={dtype}; cast to a number, a string, a time or "
        "a category"
    )
