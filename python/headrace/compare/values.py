# SPDX-License-Identifier: Apache-2.0
"""Whether a value of pandas and one of ours are the same to their reader."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from headrace.dtypes import DType
from headrace.frame.columns import is_frame
from headrace.interop.pandas_types import CategoricalDtype
from headrace.lazy.handle import is_array
from headrace.rows import Row, is_missing, plain_name
from headrace.series.column import is_series

#: Floats are equal within these: sums are taken in another order.
RELATIVE, ABSOLUTE = 1e-9, 1e-11
#: Names that unnamed labels have in a frame of ours.
_GENERIC = ("index", "column", "statistic", "level_", "None")


def is_ours(value: Any) -> bool:
    """Whether this is a frame, a series or an array of Headrace."""
    return is_frame(value) or is_series(value) or is_array(value)


def is_data(value: Any) -> bool:
    """Whether this is a value that can be compared: no function, module, group-by, model."""
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(is_data, value))
    if isinstance(value, Mapping) and not isinstance(value, Row):
        return all(is_data(each) for pair in value.items() for each in pair)
    kinds = (
        *(pd.DataFrame, pd.Series, pd.Index, np.ndarray, np.generic, Row),
        *(str, bytes, bool, int, float, complex, type(None), decimal.Decimal),
        *(dt.date, dt.time, dt.timedelta, pd.Interval, pd.Period, type(pd.NA), type(pd.NaT)),
        *(pd.api.extensions.ExtensionArray, pd.api.extensions.ExtensionDtype, np.dtype),
    )
    return isinstance(value, kinds) or is_ours(value)


def _in_pandas(value: Any) -> Any:
    """A value of ours as one of pandas, NumPy or Python."""
    if isinstance(value, Row):
        return pd.Series(dict(value.items()), dtype=object)
    if is_array(value):
        value = value.to_numpy()
        return value.item() if value.ndim == 0 else value
    if isinstance(value, Mapping):
        return value
    return value.to_pandas() if hasattr(value, "to_pandas") else value


def plain(value: Any) -> Any:
    """A single value as Python's own; every missing one is None."""
    value = plain_name(value)
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind not in "Mm" else pd.Series([value])[0]
    if isinstance(value, np.ndarray | pd.api.extensions.ExtensionArray | pd.Series | pd.Index):
        return [plain(each) for each in value.tolist()]
    if is_missing(value):
        return None
    if isinstance(value, dt.date):
        return pd.Timestamp(value)
    if isinstance(value, dt.timedelta):
        return pd.Timedelta(value)
    if isinstance(value, pd.Interval | pd.Period):
        return str(value)
    if isinstance(value, pd.api.extensions.ExtensionDtype | np.dtype | DType | CategoricalDtype):
        return dtype_word(value)
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, str) and "\n" in value:
        return " ".join(value.split())  # a table, whatever the widths of its columns
    return value


def dtype_word(dtype: Any) -> str:
    """What a dtype means: integers that may be missing are floats in pandas."""
    kind = "O" if "ategor" in str(dtype) else getattr(dtype, "kind", "O")
    return {"i": "number", "u": "number", "f": "number", "U": "O"}.get(kind, kind)


def same(wanted: Any, found: Any) -> bool:
    """Whether two plain values are equal, floats within rounding."""
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(same, wanted, found))
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return difference(wanted, found) is None
    if isinstance(wanted, float | int) and isinstance(found, float | int):
        return wanted == found or math.isclose(wanted, found, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    if isinstance(wanted, decimal.Decimal) or isinstance(found, decimal.Decimal):
        numbers = isinstance(wanted, float | int | decimal.Decimal)
        return numbers and wanted is not None and found is not None and wanted == found
    if type(wanted) is not type(found):
        text = {type(wanted), type(found)} == {str, pd.Timestamp}
        one, other = (str(each).removesuffix(" 00:00:00") for each in (wanted, found))
        return text and one == other
    try:
        return bool(wanted == found)
    except (TypeError, ValueError):
        return False


def _all_same(wanted: Any, found: Any) -> np.ndarray | None:
    """Where two columns of plain numbers are equal; None for other columns."""
    pair = [getattr(each, "dtype", None) for each in (wanted, found)]
    if not all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in pair):
        return None
    left, right = (np.asarray(each, np.float64) for each in (wanted, found))
    return np.isclose(left, right, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)


def _of_values(where: str, wanted: Any, found: Any) -> str | None:
    """The first difference of two columns of values."""
    if len(wanted) != len(found):
        return f"{where}: pandas has {len(wanted)} values, Headrace {len(found)}"
    equal = _all_same(wanted, found)
    if equal is not None and equal.all():
        return None
    left, right = plain(_sequence(wanted)), plain(_sequence(found))
    rows = [row for row, each in enumerate(zip(left, right, strict=True)) if not same(*each)]
    if not rows:
        return None
    others = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    first = f"pandas {_short(left[rows[0]])}, Headrace {_short(right[rows[0]])}"
    return f"{where}: row {rows[0]}: {first}{others}"


def _sequence(values: Any) -> list[Any]:
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def _name(name: Any) -> Any:
    """A column name: names are strings here, or tuples of them."""
    if isinstance(name, tuple):
        return tuple(map(_name, name))
    return str(name).removesuffix(" 00:00:00")


def _has_labels(index: pd.Index) -> bool:
    """Whether rows have labels, or but numbers of which Headrace keeps none."""
    return index.nlevels > 1 or index.name is not None or index.dtype.kind not in "iu"


def _of_labels(where: str, wanted: pd.Index, found: pd.Index) -> str | None:
    if not _has_labels(found) and (len(wanted) == 0 or not _has_labels(wanted)):
        return None
    if not _has_labels(found):
        return f"{where}: rows have no labels; pandas has {_short(list(wanted[:3]))}"
    if wanted.nlevels != found.nlevels:
        return f"{where}: labels: pandas has {wanted.nlevels} levels, Headrace {found.nlevels}"
    for one, other in zip(wanted.names, found.names, strict=True):
        named = one is not None and not str(other).startswith(_GENERIC)
        if named and str(one) != str(other):
            return f"{where}: labels: pandas calls them {one!r}, Headrace {other!r}"
    return _of_values(f"{where}: labels", wanted, found)


def _differ_in_ties(wanted: pd.Series, found: pd.Series) -> bool:
    """Whether sorted values are equal but for the order of equal ones, which pandas leaves open.

    Counts come in a specified order.
    """
    ordered = wanted.is_monotonic_increasing or wanted.is_monotonic_decreasing
    if not ordered or wanted.name in ("count", "proportion"):
        return False
    pairs = [zip(plain(each.index), plain(each), strict=True) for each in (wanted, found)]
    left, right = (sorted(map(repr, each)) for each in pairs)
    return left == right


def difference(wanted: Any, found: Any, where: str = "value") -> str | None:
    """What differs between pandas' value and ours, or None.

    Names, order and values must be equal: missing values of all kinds are, and numbers of all
    dtypes, floats within rounding. Labels are compared if there are any but row numbers.

    >>> import pandas as pd
    >>> difference(pd.Series([1.0, None]), hr.Series([1, None]))
    >>> difference([1, 2], hr.Series([1, 3]), "x")
    'x: row 1: pandas 2, Headrace 3'
    """
    found = _in_pandas(found)
    if isinstance(wanted, pd.DataFrame):
        return _of_frames(wanted, found, where)
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return _of_mappings(wanted, found, where)
    if isinstance(wanted, set | frozenset) and isinstance(found, set | frozenset):
        wanted, found = sorted(map(plain, wanted), key=repr), sorted(map(plain, found), key=repr)
    if isinstance(wanted, pd.Series):
        if isinstance(found, Mapping):
            found = pd.Series(dict(found), dtype=object)
        if isinstance(found, pd.Series):
            if None not in (wanted.name, found.name) and _name(wanted.name) != _name(found.name):
                return f"{where}: pandas calls it {wanted.name!r}, Headrace {found.name!r}"
            labels = _of_labels(where, wanted.index, found.index)
            told = _of_values(where, wanted, found)
            return told or (None if labels and _differ_in_ties(wanted, found) else labels)
    columns = (list, tuple, pd.Series, pd.Index, np.ndarray, pd.api.extensions.ExtensionArray)
    if isinstance(wanted, columns) and isinstance(found, columns):
        if isinstance(wanted, list | tuple) and isinstance(found, list | tuple):
            return _of_lists(wanted, found, where)
        if np.ndim(wanted) > 1 or np.ndim(found) > 1:
            if np.shape(wanted) != np.shape(found):
                return f"{where}: pandas' shape is {np.shape(wanted)}, ours {np.shape(found)}"
            wanted, found = np.ravel(wanted), np.ravel(found)
        return _of_values(where, wanted, found)
    if isinstance(found, np.ndarray | pd.Series) and found.size == 1:
        found = found.tolist()[0]  # a reduction
    one, other = plain(wanted), plain(found)
    if same(one, other):
        return None
    kinds = "" if type(one) is type(other) else f" ({type(found).__name__})"
    return f"{where}: pandas {_short(one)}, Headrace {_short(other)}{kinds}"


def _of_lists(wanted: Any, found: Any, where: str) -> str | None:
    if len(wanted) != len(found):
        return f"{where}: pandas has {len(wanted)} values, Headrace {len(found)}"
    for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
        if told := difference(one, other, f"{where}[{i}]"):
            return told
    return None


def _of_mappings(wanted: Mapping[Any, Any], found: Mapping[Any, Any], where: str) -> str | None:
    theirs = {_name(plain(key)): value for key, value in wanted.items()}
    ours = {_name(plain(key)): value for key, value in found.items()}
    if list(theirs) != list(ours):
        return f"{where}: keys: pandas {_short(list(theirs))}, Headrace {_short(list(ours))}"
    for key, value in theirs.items():
        if told := difference(value, ours[key], f"{where}[{key!r}]"):
            return told
    return None


def _of_frames(wanted: pd.DataFrame, found: Any, where: str) -> str | None:
    if not isinstance(found, pd.DataFrame):
        return f"{where}: pandas gives a frame, Headrace a {type(found).__name__}"
    theirs, ours = list(map(_name, wanted.columns)), list(map(_name, found.columns))
    if theirs != ours:
        return f"{where}: columns: pandas {_short(theirs)}, Headrace {_short(ours)}"
    if len(wanted) != len(found):
        return f"{where}: pandas has {len(wanted)} rows, Headrace {len(found)}"
    for i, name in enumerate(wanted.columns):
        told = _of_values(f"{where}[{name!r}]", wanted.iloc[:, i], found.iloc[:, i])
        if told:
            return told
    return _of_labels(where, wanted.index, found.index)
