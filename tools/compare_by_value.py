# SPDX-License-Identifier: Apache-2.0
"""pandas' assertions, by value: what pandas' tests call as `tm.assert_..._equal`.

Equal by value are: integers with nulls and floats, all kinds of missing values, dtypes of any
width, strings of any dtype, times of any resolution, dates and times at midnight, categories and
their values, intervals and periods and how they print, names and how they print, `index` and no
name of labels. Bools and numbers are different.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from headrace.lazy.handle import Deferred
from headrace.rows import Row

import headrace as hr

#: Names that Headrace gives labels without one.
UNNAMED = ("index", "level_0", "level_1", "level_2")


def is_ours(value: Any) -> bool:
    """Whether this is an object of Headrace."""
    return type(value).__module__.partition(".")[0] == "headrace"


def holds_ours(value: Any) -> bool:
    """Whether a list, tuple or dictionary has an object of Headrace in it."""
    if isinstance(value, Mapping):
        return any(map(holds_ours, value.values()))
    if isinstance(value, (list, tuple)) and not is_ours(value):
        return any(map(holds_ours, value))
    return is_ours(value)


def plain(value: Any) -> Any:
    """The same value as a pandas object, array, list or scalar."""
    if isinstance(value, Row):
        return pd.Series(dict(value), dtype=object)
    if isinstance(value, (hr.DataFrame, hr.Series)):
        return value.to_pandas()
    if isinstance(value, Deferred):
        return value.item() if not value.shape else np.asarray(value)
    if is_ours(value) and isinstance(value, Sequence):
        return pd.Index(list(value))
    return value


def text(name: Any) -> Any:
    """A name as Headrace has it."""
    return tuple(map(text, name)) if isinstance(name, tuple) else str(name)


def label_name(name: Any) -> Any:
    """The name of labels."""
    return None if name is None or name in UNNAMED else text(name)


def fail(what: str, *values: Any) -> None:
    """Raise with the values."""
    raise AssertionError(f"{what}: {' != '.join(repr(value)[:80] for value in values)}")


# ---- values --------------------------------------------------------------------------------------
def values_of(value: Any) -> pd.Series:
    """The values as a series with the dtype of categories instead of a categorical dtype."""
    found = value if isinstance(value, pd.Series) else pd.Series(value)
    found = found.reset_index(drop=True)
    if isinstance(found.dtype, pd.CategoricalDtype):
        return pd.Series(np.asarray(found), dtype=None)
    if isinstance(found.dtype, pd.SparseDtype):
        return found.sparse.to_dense()
    return found


def is_missing(value: Any) -> bool:
    """Whether a scalar is missing."""
    return value is None or (pd.api.types.is_scalar(value) and bool(pd.isna(value)))


def same_value(left: Any, right: Any, rtol: float, atol: float) -> bool:
    """Whether two values are equal."""
    left, right = plain(left), plain(right)
    if is_missing(left) or is_missing(right):
        return is_missing(left) and is_missing(right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, (pd.Period, pd.Interval)) and isinstance(other, str):
            return str(one) == other
        if isinstance(one, (bool, np.bool_)) != isinstance(other, (bool, np.bool_)):
            return False
    if isinstance(left, numbers.Number) and isinstance(right, numbers.Number):
        if left == right:
            return True
        return math.isclose(float(left), float(right), rel_tol=rtol, abs_tol=atol)
    if isinstance(left, datetime.date) and isinstance(right, datetime.date):
        return bool(pd.Timestamp(left) == pd.Timestamp(right))
    nested = (list, tuple, np.ndarray, pd.Series, pd.Index, pd.DataFrame, set, dict)
    if isinstance(left, nested) or isinstance(right, nested):
        try:
            assert_almost_equal(left, right, rtol=rtol, atol=atol)
        except AssertionError:
            return False
        return True
    return bool(left == right)


def assert_values(what: str, left: Any, right: Any, rtol: float = 1e-5, atol: float = 1e-8) -> None:
    """Two columns, by value."""
    left, right = values_of(left), values_of(right)
    if len(left) != len(right):
        fail(f"{what}: different lengths", len(left), len(right))
    missing = left.isna().to_numpy()
    if (missing != right.isna().to_numpy()).any():
        fail(f"{what}: other values are missing", left.to_list(), right.to_list())
    left, right = left[~missing], right[~missing]
    kinds = [
        np.dtype(getattr(made.dtype, "numpy_dtype", object))
        if not isinstance(made.dtype, np.dtype)
        else made.dtype
        for made in (left, right)
    ]
    if all(kind.kind in "iuf" for kind in kinds):
        if all(kind.kind in "iu" for kind in kinds):
            equal = [int(a) == int(b) for a, b in zip(left, right, strict=True)]
        else:
            with np.errstate(all="ignore"):
                a, b = left.to_numpy("float64"), right.to_numpy("float64")
                equal = (a == b) | np.isclose(a, b, rtol=rtol, atol=atol)
    else:
        equal = [same_value(a, b, rtol, atol) for a, b in zip(left, right, strict=True)]
    if not all(equal):
        at = [bool(each) for each in equal].index(False)
        fail(f"{what}: different values", left.iloc[at], right.iloc[at])


# ---- pandas' assertions --------------------------------------------------------------------------
def assert_labels(what: str, left: pd.Index, right: pd.Index, names: bool, **near: float) -> None:
    """Two indexes, level by level."""
    if left.nlevels != right.nlevels:
        fail(f"{what}: different numbers of levels", left.nlevels, right.nlevels)
    for level in range(left.nlevels):
        assert_values(what, left.get_level_values(level), right.get_level_values(level), **near)
    if names and list(map(label_name, left.names)) != list(map(label_name, right.names)):
        fail(f"{what}: different names", list(left.names), list(right.names))


def pick(options: Mapping[str, Any]) -> dict[str, float]:
    """The tolerances among the options of an assertion."""
    exact = options.get("check_exact") is True
    near = {"rtol": options.get("rtol"), "atol": options.get("atol")}
    default = {"rtol": 0.0, "atol": 0.0} if exact else {"rtol": 1e-5, "atol": 1e-8}
    return {name: default[name] if near[name] is None else near[name] for name in near}


def assert_frame_equal(left: Any, right: Any, *args: Any, **options: Any) -> None:
    """Two frames."""
    left, right = plain(left), plain(right)
    for made in (left, right):
        if not isinstance(made, pd.DataFrame):
            fail("not a frame", type(made).__name__)
    names, near = options.get("check_names", True), pick(options)
    if options.get("check_like"):
        left.columns, right.columns = (pd.Index(map(text, m.columns)) for m in (left, right))
        left = left.reindex(columns=right.columns).reindex(index=right.index)
    if left.shape != right.shape:
        fail("frames: different shapes", left.shape, right.shape)
    columns = [list(map(text, made.columns)) for made in (left, right)]
    if columns[0] != columns[1]:
        fail("frames: different columns", *columns)
    level_names = [[label_name(n) for n in made.columns.names] for made in (left, right)]
    if names and left.columns.nlevels > 1 and level_names[0] != level_names[1]:
        fail("frames: different names of column levels", *level_names)
    assert_labels("index", left.index, right.index, names, **near)
    for number, name in enumerate(columns[1]):
        assert_values(f"column {name}", left.iloc[:, number], right.iloc[:, number], **near)


def assert_series_equal(left: Any, right: Any, *args: Any, **options: Any) -> None:
    """Two series."""
    left, right = plain(left), plain(right)
    for made in (left, right):
        if not isinstance(made, pd.Series):
            fail("not a series", type(made).__name__)
    near, names = pick(options), options.get("check_names", True)
    if len(left) != len(right):
        fail("series: different lengths", len(left), len(right))
    if options.get("check_like"):
        left = left.reindex(right.index)
    if options.get("check_index", True):
        assert_labels("index", left.index, right.index, names, **near)
    if names and (left.name is None) != (right.name is None):
        fail("series: different names", left.name, right.name)
    if names and text(left.name) != text(right.name):
        fail("series: different names", left.name, right.name)
    assert_values("series", left, right, **near)


def assert_index_equal(left: Any, right: Any, *args: Any, **options: Any) -> None:
    """Two indexes; ours are series, frames of label columns, and lists of names."""
    names, near = options.get("check_names", True), pick(options)
    made = []
    for value in (left, right):
        value = plain(value)
        if isinstance(value, pd.DataFrame):
            value = pd.MultiIndex.from_frame(value)
        elif isinstance(value, pd.Series):
            value = pd.Index(value, name=value.name)
        elif not isinstance(value, pd.Index):
            fail("not an index", type(value).__name__)
        made.append(value)
    assert_labels("index", made[0], made[1], names, **near)


def assert_array(left: Any, right: Any, *args: Any, **options: Any) -> None:
    """Two arrays of any kind."""
    left, right = plain(left), plain(right)
    shapes = [np.shape(made) for made in (left, right)]
    if shapes[0] != shapes[1]:
        fail("arrays: different shapes", *shapes)
    if len(shapes[0]) > 1:
        left, right = np.asarray(left).ravel(), np.asarray(right).ravel()
    assert_values("array", left, right, **pick(options))


assert_numpy_array_equal = assert_extension_array_equal = assert_categorical_equal = assert_array
assert_interval_array_equal = assert_datetime_array_equal = assert_period_array_equal = assert_array
assert_timedelta_array_equal = assert_array


def assert_almost_equal(left: Any, right: Any, **options: Any) -> None:
    """Two values of any kind."""
    one, other = plain(left), plain(right)
    if isinstance(one, pd.DataFrame):
        assert_frame_equal(left, right, **options)
    elif isinstance(one, pd.Series) and isinstance(other, pd.Series):
        assert_series_equal(left, right, **options)
    elif isinstance(one, pd.Index):
        assert_index_equal(left, right, **options)
    elif isinstance(one, Mapping):
        assert_dict_equal(left, right, **options)
    elif isinstance(one, set):
        if one != other:
            fail("sets", one, other)
    elif pd.api.types.is_list_like(one):
        if not pd.api.types.is_list_like(other) or len(one) != len(other):
            fail("values", one, other)
        near = pick(options)
        if not all(same_value(a, b, **near) for a, b in zip(one, other, strict=True)):
            fail("values", one, other)
    elif not same_value(one, other, **pick(options)):
        fail("values", one, other)


assert_equal = assert_almost_equal


def assert_dict_equal(left: Any, right: Any, **options: Any) -> None:
    """Two dictionaries."""
    if list(map(text, left)) != list(map(text, right)):
        fail("dictionaries: different keys", list(left), list(right))
    for one, other in zip(left.values(), right.values(), strict=True):
        assert_almost_equal(one, other, **options)


# ---- the rest of pandas' test tools --------------------------------------------------------------
@contextlib.contextmanager
def assert_produces_warning(*args: Any, **options: Any) -> Any:
    """Warnings are not compared."""
    import warnings

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        yield found


def get_obj(frame: Any, kind: Any) -> Any:
    """The frame, or its first column."""
    return frame if kind is hr.DataFrame else frame[frame.columns[0]]


def get_dtype(value: Any) -> Any:
    """The dtype of a series, or of a frame's first column."""
    return value.dtypes.iat[0] if isinstance(value, hr.DataFrame) else value.dtype
