# SPDX-License-Identifier: Apache-2.0
"""What a user sees of a value of pandas or of ours, so that both can be compared."""

import datetime as dt
import math

import numpy as np
import pandas as pd

import headrace as hr


def plain(value):
    """A value as Python's own; every missing one is None."""
    if type(value) in (int, str, bool):
        return value
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind != "M" else pd.Timestamp(value)
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, dt.date):
        return pd.Timestamp(value).isoformat()
    if isinstance(value, pd.Interval):
        return str(value)
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def shown(value):
    """What a user sees: columns by name, lists of values, single values."""
    if isinstance(value, int | float | str):
        return plain(value)
    if isinstance(value, pd.DataFrame):
        if any(name is not None for name in value.index.names):
            value = value.reset_index()
        return {str(n): [plain(v) for v in value[n].tolist()] for n in value.columns}
    if isinstance(value, hr.DataFrame):
        if any(type(name) is str for name in value._labels):
            value = value.reset_index()
        return {str(n): [plain(v) for v in vs] for n, vs in value.to_dict().items()}
    if isinstance(value, hr.Array):
        value = value.tolist()
    if isinstance(value, pd.Series | pd.Index | hr.Series | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {plain(key): shown(each) for key, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, list | tuple) else plain(value)


def same(a, b):
    """Equal, floats up to their rounding."""
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and same(list(a.values()), list(b.values()))
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return a == b or (len(a) == len(b) and all(map(same, a, b)))
    if isinstance(a, float) or isinstance(b, float):
        return a == b or (
            not (a is None or b is None) and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
        )
    return a == b
