# SPDX-License-Identifier: Apache-2.0
"""Methods of frames and series as functions, under pandas' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import InvalidArgumentError
from headrace.frame.construct import is_single
from headrace.lazy.handle import Deferred, is_array, mark
from headrace.rows import by_position, is_missing
from headrace.series.column import new_series

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.series.series import Series


def melt(frame: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """Unpivot columns to rows; see `DataFrame.melt`."""
    return frame.melt(*args, **kwargs)


def pivot_table(data: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """A spreadsheet-style pivot table; see `DataFrame.pivot_table`."""
    return data.pivot_table(*args, **kwargs)


def pivot(data: DataFrame, *args: Any, **kwargs: Any) -> DataFrame:
    """One column per value of a column; see `DataFrame.pivot`."""
    return data.pivot(*args, **kwargs)


def isna(values: Any) -> Any:
    """Whether a value is None or NaN; element by element for frames, series and lists.

    >>> import headrace as hr
    >>> hr.isna(None), hr.isna([1.0, None, float("nan")]).to_list()
    (True, [False, True, True])
    """
    if hasattr(values, "isna") and not isinstance(values, type):
        return values.isna()
    if is_single(values) or is_missing(values):
        return is_missing(values.item() if is_array(values) else values)
    return new_series(by_position(values)).isna()


def notna(values: Any) -> Any:
    """The opposite of `isna`."""
    missing = isna(values)
    return not missing if isinstance(missing, bool) else ~missing


isnull = isna
notnull = notna


def unique(values: Any) -> Series:
    """The distinct values in order of first appearance; see `Series.unique`.

    >>> import headrace as hr
    >>> hr.unique(["b", "a", "b"]).to_list()
    ['b', 'a']
    """
    return new_series(new_series(by_position(values)).unique())


def _downcast(values: Series, downcast: str) -> Series:
    """The values in the smallest dtype that holds them, as pandas chooses it; evaluates."""
    import numpy as np

    kinds = {"integer": "i", "signed": "i", "unsigned": "u", "float": "f"}
    if downcast not in kinds:
        raise InvalidArgumentError(
            f"to_numeric: invalid value: downcast={downcast!r}; expected one of {sorted(kinds)}"
        )
    if not values.dtype.is_of("biuf") or int(values.count()) == 0:
        return values
    low, high = values.min().item(), values.max().item()
    if downcast == "float":
        fits = max(abs(low), abs(high)) <= np.finfo("float32").max
        return values.astype("float32") if fits else values
    if values.dtype.is_of("f") and (values.isna().any().item() or (values % 1).any().item()):
        return values
    for bits in (8, 16, 32, 64):
        dtype = np.dtype(f"{kinds[downcast]}{bits // 8}")
        if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max:
            return values.astype(dtype.name)
    return values


def to_numeric(series: Any, errors: str = "raise", downcast: str | None = None) -> Any:
    """Parse strings to numbers: int64 if all are integers, else float64.

    Parameters
    ----------
    series : Series, or what `hr.Series` takes, or one text
        Strings; numbers are unchanged.
    errors : {"raise", "coerce"}
        Whether an invalid string raises, or becomes null.
    downcast : {"integer", "signed", "unsigned", "float"}, optional
        Convert to the smallest dtype of this kind that holds all values, if there is one.

    Notes
    -----
    The dtype depends on the values, so this evaluates them; `Series.astype` does not.

    >>> import headrace as hr
    >>> hr.to_numeric(hr.Series(["1", "x", None, "3"]), errors="coerce").to_list()
    [1, None, None, 3]
    """
    mark("to_numeric")
    if errors not in ("raise", "coerce"):
        raise InvalidArgumentError(
            f"to_numeric: invalid value: errors={errors!r}; expected 'raise' or 'coerce'"
        )
    if isinstance(series, str):
        return to_numeric([series], errors).to_list()[0]
    if not isinstance(series, Deferred):
        series = new_series(series)
    node = _core.to_numeric(series._node, errors == "coerce")
    made = series if node is series._node else series._like(node)
    return made if downcast is None else _downcast(made, downcast)
