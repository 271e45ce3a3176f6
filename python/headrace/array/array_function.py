# SPDX-License-Identifier: Apache-2.0
"""NumPy functions on Headrace arrays and series (`__array_function__`)."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any

from headrace import linalg
from headrace.array import order
from headrace.array.axis_reductions import reduce_axes
from headrace.array.construct import asarray
from headrace.array.numpy_functions import ARRAY_FUNCTIONS, WRITERS
from headrace.array.numpy_results import as_ours, deferred_in
from headrace.errors import UnsupportedError
from headrace.frame import sort as sorting
from headrace.lazy.handle import Deferred, is_array
from headrace.lazy.numpy_fallback import through_numpy
from headrace.signal import diff, histogram, nonzero

if TYPE_CHECKING:
    from collections.abc import Callable


def _method(name: str) -> Callable[..., Any]:
    def call(x: Any, axis: Any = None, dtype: Any = None, **kwargs: Any) -> Any:
        kwargs = {word: value for word, value in kwargs.items() if value is not None}
        x = x if dtype is None else x.astype(dtype)
        if is_array(x) and not kwargs.keys() - {"ddof", "keepdims", "correction"}:
            ddof = kwargs.pop("correction", kwargs.get("ddof", 0))
            return reduce_axes(x, name, axis, kwargs.get("keepdims", False), ddof)
        others = sorted(kwargs.keys() - {"ddof"})
        if others:
            raise UnsupportedError(
                f"{name}: options not supported by Headrace: options={', '.join(others)}; "
                "convert with to_numpy() first"
            )
        return getattr(x, name)(**kwargs) if axis is None else getattr(x, name)(axis=axis, **kwargs)

    return call


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None and is_array(condition):
        return order.nonzero(condition)
    if x is None and y is None:
        return (_flatnonzero(condition).to_numpy(),)
    owner = next(v for v in (condition, x, y) if isinstance(v, Deferred))
    made: Any = owner._elementwise("where", condition, x, y, missing_is_false=True)
    return made.rename(None) if hasattr(made, "rename") else made  # NumPy's arrays have no name


def _select(conditions: Any, values: Any, default: Any = 0) -> Any:
    made = default
    for condition, value in zip(reversed(list(conditions)), reversed(list(values)), strict=True):
        made = _where(condition, value, made)
    return made


def _diff(x: Any, n: int = 1) -> Any:
    for _ in range(n):
        x = diff(x)
    return x


def _flatnonzero(x: Any) -> Any:
    return nonzero(x if x.dtype == "bool" else x != 0)


def _histogram(x: Any, bins: Any = 10, range: Any = None) -> Any:
    return histogram(x, bins, range)


def _spread(name: str) -> Callable[..., Any]:
    """A method of series and frames with NumPy's default of ``ddof=0``."""
    call = _method(name)
    return lambda x, *args, ddof=0, **kwargs: call(x, *args, ddof=ddof, **kwargs)


def _ordering(name: str) -> Callable[..., Any]:
    def call(x: Any, axis: int | None = -1, kind: str | None = None, **kwargs: Any) -> Any:
        others = sorted(word for word, value in kwargs.items() if value and word != "stable")
        if others or axis not in (None, -1, 0) or (axis is None and x.ndim != 1):
            raise UnsupportedError(
                f"{name}: only one-dimensional sorting is supported: axis={axis}; convert "
                "with to_numpy() first"
            )
        return getattr(sorting, name)(x)

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(linalg, name)
        for name in linalg.__all__
        if name not in ("LinAlgError", "outer", "svdvals", "trace")
    },
    **{
        name: _method(method)
        for name, method in {
            "sum": "sum",
            "prod": "prod",
            "mean": "mean",
            "min": "min",
            "amin": "min",
            "max": "max",
            "amax": "max",
            "any": "any",
            "all": "all",
            "argmin": "argmin",
            "argmax": "argmax",
        }.items()
    },
    "std": _spread("std"),
    "var": _spread("var"),
    "where": _where,
    "sort": _ordering("sort"),
    "argsort": _ordering("argsort"),
    "clip": lambda x, a_min=None, a_max=None: x.clip(a_min, a_max),
    "round": lambda x, decimals=0: x.round(decimals),
    "around": lambda x, decimals=0: x.round(decimals),
    "diff": _diff,
    "flatnonzero": _flatnonzero,
    "histogram": _histogram,
    "count_nonzero": lambda x: (x if x.dtype == "bool" else x != 0).sum(),
    "shape": lambda x: x.shape,
    "ndim": lambda x: x.ndim,
    "select": _select,
    "size": lambda x: x.size,
    "reshape": lambda x, shape: asarray(x).reshape(shape),
    "transpose": lambda x, axes=None: asarray(x).transpose(*(axes or ())),
    "ravel": lambda x: asarray(x).ravel(),
}


def call_numpy(func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """See `numpy.ndarray.__array_function__`."""
    name = func.__name__
    given = {word: value for word, value in kwargs.items() if value is not None}
    arrays_alone = all(is_array(each) for each in deferred_in((args, kwargs)))
    if arrays_alone:
        ours = ARRAY_FUNCTIONS.get(name)
        if ours is not None and _fits(ours, args, given):
            return ours(*args, **given)
    implementation = FUNCTIONS.get(name)
    if implementation is not None and (not arrays_alone or _fits(implementation, args, given)):
        return implementation(*args, **kwargs)
    if not all(issubclass(kind, Deferred) or kind.__module__ == "numpy" for kind in types):
        return NotImplemented
    if arrays_alone and name in WRITERS:
        raise UnsupportedError(
            f"{name}: arrays are immutable: type='Array'; assign with x[key] = values"
        )
    made = through_numpy(name, func, args, kwargs)
    return as_ours(made) if arrays_alone else made


def _fits(function: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether a function of ours takes these parameters; else NumPy is asked."""
    return _takes(function, len(args), tuple(kwargs))


@functools.lru_cache(maxsize=1024)
def _takes(function: Callable[..., Any], count: int, words: tuple[str, ...]) -> bool:
    try:
        inspect.signature(function).bind(*range(count), **dict.fromkeys(words))
    except TypeError:
        return False
    return True
