# SPDX-License-Identifier: Apache-2.0
"""Losses of predicted numbers: plan reductions over the differences."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import is_array
from headrace.learn.base import frozen, is_ours
from headrace.learn.metrics.classification import check_lengths


def _columns(y: Any, name: str) -> list[Any]:
    values = asarray(y) if is_ours(y) else frozen(np.asarray(y, dtype=_float(y)))
    if not is_array(values) or values.ndim not in (1, 2):
        raise InvalidArgumentError(f"metrics: expected one or two dimensions: {name}={y!r}")
    values = values.astype("float64")
    return [values] if values.ndim == 1 else [values[:, p] for p in range(values.shape[1])]


def _float(y: Any) -> Any:
    kind = np.asarray(y).dtype
    return kind if kind.kind in "fiu" and kind.itemsize > 1 else np.float64


def _pairs(y_true: Any, y_pred: Any, sample_weight: Any) -> tuple[list[Any], list[Any], Any]:
    true, predicted = _columns(y_true, "y_true"), _columns(y_pred, "y_pred")
    check_lengths(len(true[0]), len(predicted[0]))
    if len(true) != len(predicted):
        raise InvalidArgumentError(
            f"y_true and y_pred have different number of output ({len(true)}!={len(predicted)})"
        )
    if sample_weight is None:
        return true, predicted, None
    weights = _columns(sample_weight, "sample_weight")[0]
    check_lengths(len(true[0]), len(weights))
    return true, predicted, weights


def _means(columns: list[Any], weights: Any) -> np.ndarray[Any, Any]:
    """Weighted means of columns, in one run of the engine."""
    from headrace.lazy.handle import eval as force

    if weights is None:
        made = [column.mean() for column in columns]
    else:
        total = weights.sum()
        made = [(column * weights).sum() / total for column in columns]
    force(*made)
    found = np.array([float(each) for each in made])
    if not np.isfinite(found).all():
        raise InvalidArgumentError("metrics: Input contains NaN or infinity")
    return found


def _combined(found: np.ndarray[Any, Any], multioutput: Any) -> Any:
    if isinstance(multioutput, str):
        if multioutput == "raw_values":
            return found
        if multioutput != "uniform_average":
            raise InvalidArgumentError(
                f"metrics: no such way: multioutput={multioutput!r}; use 'raw_values', "
                "'uniform_average' or weights"
            )
        return float(found.mean())
    return float(np.average(found, weights=multioutput))


def mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The mean of squared differences.

    Parameters
    ----------
    y_true, y_pred : array_like
        ``[samples]`` or ``[samples, outputs]``.
    sample_weight : array_like, optional
    multioutput : {"uniform_average", "raw_values"} or array_like
        The mean of outputs, an array of them, or their weights.

    >>> hr.learn.metrics.mean_squared_error([1.0, 2.0], [1.0, 4.0])
    2.0
    """
    true, predicted, weights = _pairs(y_true, y_pred, sample_weight)
    squares = [(t - p) ** 2 for t, p in zip(true, predicted, strict=True)]
    return _combined(_means(squares, weights), multioutput)


def root_mean_squared_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The square root of the mean of squared differences; see `mean_squared_error`.

    >>> hr.learn.metrics.root_mean_squared_error([1.0, 2.0], [3.0, 4.0])
    2.0
    """
    each = mean_squared_error(y_true, y_pred, sample_weight=sample_weight, multioutput="raw_values")
    return _combined(np.sqrt(each), multioutput)


def mean_absolute_error(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """The mean of absolute differences; see `mean_squared_error`.

    >>> hr.learn.metrics.mean_absolute_error([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    true, predicted, weights = _pairs(y_true, y_pred, sample_weight)
    sizes = [abs(t - p) for t, p in zip(true, predicted, strict=True)]
    return _combined(_means(sizes, weights), multioutput)


def r2_score(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: Any = None,
    multioutput: Any = "uniform_average",
    force_finite: bool = True,
) -> Any:
    """The share of the variance of `y_true` that `y_pred` explains: 1 at best.

    Parameters
    ----------
    y_true, y_pred : array_like
        ``[samples]`` or ``[samples, outputs]``.
    sample_weight : array_like, optional
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array_like
        The mean of outputs, an array of them, their mean by variance, or their weights.
    force_finite : bool, default True
        For a constant `y_true`: 1.0 if all is right, else 0.0, rather than NaN and -inf.

    >>> hr.learn.metrics.r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """
    true, predicted, weights = _pairs(y_true, y_pred, sample_weight)
    if len(true[0]) < 2:
        warnings.warn("R^2 score is not well-defined with less than two samples.", stacklevel=2)
        return float("nan")
    middle = _means(true, weights)
    apart = [(t - float(m)) ** 2 for t, m in zip(true, middle, strict=True)]
    wrong = [(t - p) ** 2 for t, p in zip(true, predicted, strict=True)]
    both = _means([*apart, *wrong], weights)
    total, left = both[: len(true)], both[len(true) :]
    with np.errstate(all="ignore"):
        found = 1 - left / total
    if force_finite:
        found = np.where(total == 0, np.where(left == 0, 1.0, 0.0), found)
    if isinstance(multioutput, str) and multioutput == "variance_weighted":
        return float(np.average(found, weights=total if total.any() else None))
    return _combined(found, multioutput)
