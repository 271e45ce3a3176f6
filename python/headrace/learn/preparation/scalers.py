# SPDX-License-Identifier: Apache-2.0
"""Scalers: each column moved and divided, each row divided by its norm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.learn.base import (
    Transformer,
    answer,
    check_rows,
    check_weights,
    refuse_not_finite,
)
from headrace.learn.columns import Columns, check_columns
from headrace.learn.parameters import check_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace.array.array import Array

_EPSILON = np.finfo(np.float64).eps


def _divisors(scale: np.ndarray[Any, Any], dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    """Scales without those of constant columns, which are left as they are."""
    return np.where(scale < 10 * np.finfo(dtype).eps, 1.0, scale)


class _Scaler(Transformer):
    """A transformer of each column by itself; NaN stays NaN."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "input_tags": {"allow_nan": True},
    }
    _fitted_as = "scale_"
    n_samples_seen_: Any
    data_min_: np.ndarray[Any, Any]
    data_max_: np.ndarray[Any, Any]
    max_abs_: np.ndarray[Any, Any]

    def _read(self, X: Any, *, first: bool) -> Columns:
        """The rows of `fit`; infinite values are found by the statistics, without a pass."""
        return check_columns(self, X, fit=first, allow_nan="inf")

    def _range(self, columns: Columns) -> list[np.ndarray[Any, Any]]:
        """The smallest and largest value of each column; raises if one is infinite."""
        found = columns.statistics("min", "max")
        if np.isinf(found).any():
            refuse_not_finite(self, columns.matrix, allow_nan=True)
        return found

    def _parts(self) -> tuple[Any, Any]:
        """What is taken from each column, and what divides the rest."""
        raise NotImplementedError  # of scalers without an expression of their own

    def _scaled(self, columns: Columns) -> Array:
        return columns.map(lambda x, center, scale: (x - center) / scale, *self._parts())

    def _unscaled(self, columns: Columns) -> Array:
        return columns.map(lambda x, center, scale: x * scale + center, *self._parts())

    def transform(self, X: Any) -> Any:
        """Scale `X`, ``[samples, features]``: lazy for data of Headrace, float32 or float64."""
        self._check_fitted()
        return self._answer(X, self._scaled(check_columns(self, X)))

    def inverse_transform(self, X: Any) -> Any:
        """Undo `transform`."""
        self._check_fitted()
        return answer(X, self._unscaled(check_columns(self, X)))


class StandardScaler(_Scaler):
    """Move each column to mean 0 and scale it to variance 1.

    Means and variances of all columns take one run of the engine and skip NaN; the result is an
    expression over the data, which costs nothing until it is used.

    Parameters
    ----------
    copy : bool, default True
        Without effect: data are never written.
    with_mean, with_std : bool, default True
        Whether to move, and to scale.

    Attributes
    ----------
    mean_, var_, scale_ : NumPy array of float64, or None
        ``[features]``; `var_` has n degrees of freedom.
    n_samples_seen_ : int or array
        Values that are not NaN; an array if columns differ, a sum of weights if there are any.

    >>> hr.learn.StandardScaler().fit_transform([[1.0], [3.0]]).tolist()
    [[-1.0], [1.0]]
    """

    mean_: np.ndarray[Any, Any] | None
    var_: np.ndarray[Any, Any] | None
    n_samples_seen_: Any
    scale_: np.ndarray[Any, Any] | None

    def __init__(self, *, copy: bool = True, with_mean: bool = True, with_std: bool = True) -> None:
        self.copy = copy
        self.with_mean = with_mean
        self.with_std = with_std

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_samples_seen_")

    def _check_loaded(self) -> None:
        if (self.with_mean and self.mean_ is None) or (self.with_std and self.scale_ is None):
            raise ValueError(f"{type(self).__name__} lacks what it takes away or divides by")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute means and variances of `X`."""
        self.__dict__.pop("n_samples_seen_", None)
        return self.partial_fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of `X` to the means and variances."""
        first = not self.__sklearn_is_fitted__()
        columns = self._read(X, first=first)
        weights = check_weights(self, sample_weight, columns.shape[0], negative=True)
        if weights is None:
            mean, var, count = columns.statistics("mean", "var", "count")
        else:
            count = columns.totals(lambda x: weights + x * 0.0)
            mean = columns.totals(lambda x: weights * x) / count
            var = columns.totals(lambda x, m: weights * (x - m) ** 2, mean) / count
        if not np.isfinite(mean[count > 0]).all():
            refuse_not_finite(self, columns.matrix, allow_nan=True)
        if not first:
            mean, var, count = self._combined(mean, var, count)
        keeps = self.with_mean or self.with_std
        self.mean_ = mean if keeps else None
        self.var_ = var if self.with_std else None
        seen = count if weights is not None else count.astype(np.int64)
        self.n_samples_seen_ = seen[0] if (seen == seen[0]).all() else seen
        self.scale_ = None
        if self.with_std:
            # Below this the variance is the rounding of a constant column (Chan et al. 1979).
            bound = count * _EPSILON * var + (count * mean * _EPSILON) ** 2
            self.scale_ = np.where(var <= bound, 1.0, np.sqrt(var))
        return self

    def _combined(self, mean: Any, var: Any, count: Any) -> tuple[Any, Any, Any]:
        """Moments of what was seen before and of new rows (Chan et al. 1979)."""
        before = np.broadcast_to(self.n_samples_seen_, count.shape)
        old_mean = np.zeros_like(mean) if self.mean_ is None else self.mean_
        old_var = np.zeros_like(var) if self.var_ is None else self.var_
        mean, var = (np.where(count > 0, each, 0.0) for each in (mean, var))
        old_mean, old_var = (np.where(before > 0, each, 0.0) for each in (old_mean, old_var))
        total = before + count
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = (mean - old_mean) ** 2 * before * count / total
            joined = (old_var * before + var * count + apart) / total
            return (old_mean * before + mean * count) / total, joined, total

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Scale `X`, ``[samples, features]``: lazy for data of Headrace, float32 or float64."""
        return super().transform(X)

    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Undo `transform`."""
        return super().inverse_transform(X)

    def _parts(self) -> tuple[Any, Any]:
        return (
            self.mean_ if self.with_mean else np.zeros(self.n_features_in_),
            self.scale_ if self.with_std else np.ones(self.n_features_in_),
        )


class MinMaxScaler(_Scaler):
    """Scale each column to a range.

    Parameters
    ----------
    feature_range : tuple of two numbers, default (0, 1)
    copy : bool, default True
        Without effect: data are never written.
    clip : bool, default False
        Clip what lies outside the range of `fit`.

    Attributes
    ----------
    min_, scale_, data_min_, data_max_, data_range_ : NumPy array of float64
        ``[features]``; ``X * scale_ + min_`` is the result.
    n_samples_seen_ : int

    >>> hr.learn.MinMaxScaler().fit_transform([[1.0], [2.0], [5.0]]).tolist()
    [[0.0], [0.25], [1.0]]
    """

    data_min_: np.ndarray[Any, Any]
    data_max_: np.ndarray[Any, Any]
    data_range_: np.ndarray[Any, Any]
    scale_: np.ndarray[Any, Any] | None
    min_: np.ndarray[Any, Any]

    def __init__(
        self,
        feature_range: tuple[float, float] = (0, 1),
        *,
        copy: bool = True,
        clip: bool = False,
    ) -> None:
        self.feature_range = feature_range
        self.copy = copy
        self.clip = clip

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the range of each column of `X`."""
        self.__dict__.pop("scale_", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add the rows of `X` to the ranges."""
        low, high = check_numbers(self, "feature_range", 2).tolist()
        if low >= high:
            raise InvalidArgumentError(
                "MinMaxScaler: Minimum of desired feature range must be smaller than maximum: "
                f"feature_range={self.feature_range}"
            )
        first = not self.__sklearn_is_fitted__()
        columns = self._read(X, first=first)
        least, most = self._range(columns)
        seen = columns.shape[0]
        if not first:
            least, most = np.fmin(self.data_min_, least), np.fmax(self.data_max_, most)
            seen += self.n_samples_seen_
        self.n_samples_seen_ = seen
        self.data_min_, self.data_max_, self.data_range_ = least, most, most - least
        self.scale_ = (high - low) / _divisors(self.data_range_, columns.dtype)
        self.min_ = low - least * self.scale_
        return self

    def _scaled(self, columns: Columns) -> Array:
        made = columns.map(lambda x, scale, least: x * scale + least, self.scale_, self.min_)
        return made.clip(*map(float, self.feature_range)) if self.clip else made

    def _unscaled(self, columns: Columns) -> Array:
        return columns.map(lambda x, scale, least: (x - least) / scale, self.scale_, self.min_)


class MaxAbsScaler(_Scaler):
    """Divide each column by its largest absolute value.

    Parameters
    ----------
    copy : bool, default True
        Without effect: data are never written.
    clip : bool, default False
        Clip results to [-1, 1].

    Attributes
    ----------
    scale_, max_abs_ : NumPy array of float64
        ``[features]``
    n_samples_seen_ : int

    >>> hr.learn.MaxAbsScaler().fit_transform([[1.0], [-2.0]]).tolist()
    [[0.5], [-1.0]]
    """

    max_abs_: np.ndarray[Any, Any]
    n_samples_seen_: Any
    scale_: np.ndarray[Any, Any] | None

    def __init__(self, *, copy: bool = True, clip: bool = False) -> None:
        self.copy = copy
        self.clip = clip

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the largest absolute value of each column of `X`."""
        self.__dict__.pop("scale_", None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add the rows of `X` to the largest values."""
        first = not self.__sklearn_is_fitted__()
        columns = self._read(X, first=first)
        least, most = self._range(columns)
        largest, seen = np.fmax(np.abs(least), np.abs(most)), columns.shape[0]
        if not first:
            largest, seen = np.fmax(self.max_abs_, largest), seen + self.n_samples_seen_
        self.max_abs_, self.n_samples_seen_ = largest, seen
        self.scale_ = _divisors(largest, columns.dtype)
        return self

    def _scaled(self, columns: Columns) -> Array:
        made = columns.map(lambda x, scale: x / scale, self.scale_)
        return made.clip(-1.0, 1.0) if self.clip else made

    def _unscaled(self, columns: Columns) -> Array:
        return columns.map(lambda x, scale: x * scale, self.scale_)


class RobustScaler(_Scaler):
    """Move each column by its median and divide it by a range of quantiles.

    Parameters
    ----------
    with_centering, with_scaling : bool, default True
        Whether to move, and to scale.
    quantile_range : tuple of two percentages, default (25.0, 75.0)
    copy : bool, default True
        Without effect: data are never written.
    unit_variance : bool, default False
        Scale further, so that normally distributed columns have variance 1.

    Attributes
    ----------
    center_, scale_ : NumPy array of float64, or None
        ``[features]``

    >>> hr.learn.RobustScaler().fit_transform([[1.0], [2.0], [3.0]]).tolist()
    [[-1.0], [0.0], [1.0]]
    """

    center_: np.ndarray[Any, Any] | None
    scale_: np.ndarray[Any, Any] | None

    def __init__(
        self,
        *,
        with_centering: bool = True,
        with_scaling: bool = True,
        quantile_range: tuple[float, float] = (25.0, 75.0),
        copy: bool = True,
        unit_variance: bool = False,
    ) -> None:
        self.with_centering = with_centering
        self.with_scaling = with_scaling
        self.quantile_range = quantile_range
        self.copy = copy
        self.unit_variance = unit_variance

    def _check_loaded(self) -> None:
        if (self.with_centering and self.center_ is None) or (
            self.with_scaling and self.scale_ is None
        ):
            raise ValueError(f"{type(self).__name__} lacks what it takes away or divides by")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find medians and quantiles of `X`."""
        low, high = check_numbers(self, "quantile_range", 2).tolist()
        if not 0 <= low <= high <= 100:
            raise InvalidArgumentError(f"RobustScaler: Invalid quantile range: {(low, high)}")
        columns = self._read(X, first=True)
        self._range(columns)
        first, middle, last = columns.quantiles([low / 100, 0.5, high / 100])
        self.center_ = middle if self.with_centering else None
        self.scale_ = None
        if self.with_scaling:
            self.scale_ = _divisors(last - first, columns.dtype)
            if self.unit_variance:
                from statistics import NormalDist

                normal = NormalDist().inv_cdf
                self.scale_ = self.scale_ / (normal(high / 100) - normal(low / 100))
        return self

    def _parts(self) -> tuple[Any, Any]:
        return (
            np.zeros(self.n_features_in_) if self.center_ is None else self.center_,
            np.ones(self.n_features_in_) if self.scale_ is None else self.scale_,
        )


class Normalizer(Transformer):
    """Divide each row by its norm; rows of zeros stay as they are.

    Parameters
    ----------
    norm : {"l1", "l2", "max"}, default "l2"
    copy : bool, default True
        Without effect: data are never written.

    >>> hr.learn.Normalizer("l1").fit_transform([[1.0, 3.0], [0.0, 0.0]]).tolist()
    [[0.25, 0.75], [0.0, 0.0]]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "requires_fit": False,
    }

    def __init__(self, norm: str = "l2", *, copy: bool = True) -> None:
        self.norm = norm
        self.copy = copy

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _check_norm(self) -> None:
        if self.norm not in ("l1", "l2", "max"):
            raise InvalidArgumentError(
                f"Normalizer: no such norm: norm={self.norm!r}; use 'l1', 'l2' or 'max'"
            )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Validate `X`; the transformer is stateless."""
        self._check_norm()
        check_rows(self, X, fit=True)
        return self

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Divide each row of `X`, ``[samples, features]``, float32 or float64."""
        self._check_norm()
        rows: Any = check_rows(self, X)
        if self.norm == "l2":
            norms = np.sqrt((rows * rows).sum(axis=1))
        else:
            sizes = np.abs(rows)
            norms = sizes.sum(axis=1) if self.norm == "l1" else sizes.max(axis=1)
        norms = np.where(norms == 0.0, 1.0, norms).reshape(-1, 1)
        return self._answer(X, rows / norms)
