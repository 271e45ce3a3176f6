# SPDX-License-Identifier: Apache-2.0
"""`hr.to_numeric`: numbers from strings, in the smallest dtype that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import Deferred, looked_at, mark
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.series.series import Series

#: The dtypes of `to_numeric(downcast=)`, the smallest one first.
_SMALLER = {
    "integer": ("int8", "int16", "int32", "int64"),
    "signed": ("int8", "int16", "int32", "int64"),
    "unsigned": ("uint8", "uint16", "uint32", "uint64"),
    "float": ("float32",),
}
#: The error of a float32 that pandas accepts.
_CLOSE = 5e-4


def to_numeric(series: Any, errors: str = "raise", downcast: str | None = None) -> Any:
    """Parse strings to numbers: int64 if all are integers, else float64.

    Parameters
    ----------
    series : Series, or what `hr.Series` takes, or one text
        Strings; numbers are unchanged.
    errors : {"raise", "coerce"}
        Whether an invalid string raises, or becomes null.
    downcast : {"integer", "signed", "unsigned", "float"}, optional
        The smallest dtype of this kind that holds all values, if there is one.

    Notes
    -----
    The dtype depends on the values, so this evaluates them; `Series.astype` does not.

    >>> hr.to_numeric(hr.Series(["1", "x", None, "3"]), errors="coerce").to_list()
    [1, None, None, 3]
    """
    mark("to_numeric")
    if errors not in ("raise", "coerce"):
        raise InvalidArgumentError(
            f"to_numeric: invalid value: errors={errors!r}; expected 'raise' or 'coerce'"
        )
    if isinstance(series, str):
        return to_numeric([series], errors, downcast).to_list()[0]
    if not isinstance(series, Deferred):
        series = new_series(series)
    node = _core.to_numeric(series._node, errors == "coerce")
    found = series if node is series._node else series._like(node)
    return found if downcast is None else _downcast(found, downcast)


def _downcast(series: Series, downcast: str) -> Series:
    """The values in the smallest dtype that holds them."""
    import numpy as np

    if downcast not in _SMALLER:
        raise InvalidArgumentError(
            f"to_numeric: invalid value: downcast={downcast!r}; expected one of "
            f"{', '.join(_SMALLER)}"
        )
    values = series.where(series.notna()) if series.dtype.kind == "f" else series
    known = values.dropna()
    if not len(known) or not series.dtype.is_of("iuf"):
        return series
    if downcast == "float":
        apart: Any = abs(values.astype("float32").astype("float64") - values).max()
        return series.astype("float32") if apart.item() <= _CLOSE else series
    whole: Any = (known % 1 == 0).all()
    if not whole.item() or (series.dtype.kind == "f" and len(known) < len(series)):
        return series
    low, high = (int(end) for end in looked_at([known.min(), known.max()]))
    for word in _SMALLER[downcast]:
        limits, size = np.iinfo(word), np.dtype(word).itemsize
        if size <= series.dtype.itemsize and limits.min <= low and high <= limits.max:
            return values.astype(word)
    return series
