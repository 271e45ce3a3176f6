# SPDX-License-Identifier: Apache-2.0
"""Columns mapped by their quantiles, or cut into bins."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.learn.base import (
    Transformer,
    answer,
    check_count,
    check_rows,
    check_weights,
    frozen,
)
from headrace.learn.columns import Columns, check_columns
from headrace.learn.preparation.encoders import OneHotEncoder
from headrace.random.generator import default_rng

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]

#: Closer to the ends than this, normal quantiles would be infinite.
_EDGE = 1e-7


class QuantileTransformer(Transformer):
    """Map each column by its quantiles to a uniform or normal distribution.

    The transform evaluates its data.

    Parameters
    ----------
    n_quantiles : int, default 1000
        At most the number of rows.
    output_distribution : {"uniform", "normal"}
    ignore_implicit_zeros : False
        Not supported: it is for sparse data.
    subsample : int or None, default 10_000
        The most rows that quantiles are taken of, drawn by `random_state`.
    random_state : int, generator or None
    copy : bool, default True
        Without effect: data are never written.

    Attributes
    ----------
    quantiles_ : NumPy array
        ``[quantiles, features]``
    references_ : NumPy array
        The share of each quantile.
    n_quantiles_ : int

    >>> hr.learn.QuantileTransformer(n_quantiles=3).fit_transform([[1.0], [2.0], [9.0]]).tolist()
    [[0.0], [0.5], [1.0]]
    """

    n_quantiles_: int
    references_: np.ndarray[Any, Any]
    quantiles_: np.ndarray[Any, Any]

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
        "input_tags": {"allow_nan": True},
    }
    _fitted_as = "quantiles_"

    def __init__(
        self,
        *,
        n_quantiles: int = 1000,
        output_distribution: str = "uniform",
        ignore_implicit_zeros: bool = False,
        subsample: int | None = 10_000,
        random_state: Any = None,
        copy: bool = True,
    ) -> None:
        self.n_quantiles = n_quantiles
        self.output_distribution = output_distribution
        self.ignore_implicit_zeros = ignore_implicit_zeros
        self.subsample = subsample
        self.random_state = random_state
        self.copy = copy

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the quantiles of each column of `X`."""
        self._refuse_params(ignore_implicit_zeros=False)
        check_count(self, "n_quantiles")
        if self.output_distribution not in ("uniform", "normal"):
            raise InvalidArgumentError(
                "QuantileTransformer: no such distribution: output_distribution="
                f"{self.output_distribution!r}; use 'uniform' or 'normal'"
            )
        if self.subsample is not None and self.n_quantiles > self.subsample:
            raise InvalidArgumentError(
                "The number of quantiles cannot be greater than the number of samples used. Got "
                f"{self.n_quantiles} quantiles and {self.subsample} samples."
            )
        columns = check_columns(self, X, fit=True)
        rows = columns.shape[0]
        if self.n_quantiles > rows:
            warnings.warn(
                f"n_quantiles ({self.n_quantiles}) is greater than the total number of samples "
                f"({rows}). n_quantiles is set to n_samples.",
                stacklevel=2,
            )
        self.n_quantiles_ = max(1, min(self.n_quantiles, rows))
        self.references_ = np.linspace(0, 1, self.n_quantiles_)
        if self.subsample is not None and self.subsample < rows:
            picked = default_rng(self.random_state).choice(rows, self.subsample, replace=False)
            columns = Columns(None, [column[picked] for column in columns.columns])
        self.quantiles_ = columns.quantiles(self.references_.tolist())
        return self

    def _normal(self) -> Any:
        from scipy.stats import norm

        return norm

    def _mapped(self, x: Numbers, quantiles: Numbers, *, back: bool) -> Numbers:
        normal = self.output_distribution == "normal"
        if back and normal:
            x = self._normal().cdf(x)
        from_ends, to_ends = (quantiles[0], quantiles[-1]), (0.0, 1.0)
        if back:
            from_ends, to_ends = to_ends, from_ends
        low = x - _EDGE < from_ends[0] if normal else x == from_ends[0]
        high = x + _EDGE > from_ends[1] if normal else x == from_ends[1]
        if back:
            made = np.interp(x, self.references_, quantiles)
        else:
            # From both sides: of equal quantiles one side takes the first, the other the last.
            up = np.interp(x, quantiles, self.references_)
            down = np.interp(-x, -quantiles[::-1], -self.references_[::-1])
            made = 0.5 * (up - down)
        made[np.isnan(x)] = np.nan
        made[high], made[low] = to_ends[1], to_ends[0]
        if normal and not back:
            made = self._normal().ppf(made)
            most = self._normal().ppf(1 - (_EDGE - np.spacing(1)))
            made = np.clip(made, self._normal().ppf(_EDGE - np.spacing(1)), most)
        return made

    def _all(self, X: Any, *, back: bool) -> Any:
        self._check_fitted()
        columns = check_columns(self, X)
        made = np.empty(columns.shape, columns.dtype, order="F")
        for place, column in enumerate(columns.columns):
            x = np.asarray(column)
            made[:, place] = self._mapped(x, self.quantiles_[:, place], back=back)
        return frozen(made)

    def transform(self, X: Any) -> Any:
        """The share of the rows of `fit` below each value, or its normal quantile."""
        return self._answer(X, self._all(X, back=False))

    def inverse_transform(self, X: Any) -> Any:
        """Values of shares."""
        return answer(X, self._all(X, back=True))


class KBinsDiscretizer(Transformer):
    """Cut each column into bins.

    Parameters
    ----------
    n_bins : int or list of int, default 5
        Of all columns or of each.
    encode : {"onehot", "onehot-dense", "ordinal"}
        A column for each bin, sparse or dense, or the number of the bin.
    strategy : {"quantile", "uniform"}
        Bins of equal counts or widths; "kmeans" is not supported.
    quantile_method : {"averaged_inverted_cdf", "inverted_cdf", "linear", ...}
        How quantiles are computed, as in `numpy.percentile`.
    dtype : {float32, float64}, optional
        Of the result; that of the data by default.
    subsample : int or None, default 200_000
        The most rows that bins are made of, drawn by `random_state`.
    random_state : int, generator or None

    Attributes
    ----------
    bin_edges_ : NumPy array of arrays
        The edges of the bins of each column.
    n_bins_ : NumPy array of int
        Bins of each column.

    >>> binner = hr.learn.KBinsDiscretizer(2, encode="ordinal", strategy="uniform")
    >>> binner.fit_transform([[0.0], [1.0], [9.0]]).tolist()
    [[0.0], [0.0], [1.0]]
    """

    bin_edges_: np.ndarray[Any, Any]
    n_bins_: np.ndarray[Any, Any]

    _tags: ClassVar[Mapping[str, Any]] = {"transformer_tags": {}}
    _fitted_as = "bin_edges_"

    def __init__(
        self,
        n_bins: Any = 5,
        *,
        encode: str = "onehot",
        strategy: str = "quantile",
        quantile_method: str = "averaged_inverted_cdf",
        dtype: Any = None,
        subsample: int | None = 200_000,
        random_state: Any = None,
    ) -> None:
        self.n_bins = n_bins
        self.encode = encode
        self.strategy = strategy
        self.quantile_method = quantile_method
        self.dtype = dtype
        self.subsample = subsample
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if self.strategy == "kmeans":
            raise UnsupportedError(
                "KBinsDiscretizer: not supported: strategy='kmeans'; use 'quantile' or 'uniform'"
            )
        for name, known in (
            ("strategy", ("quantile", "uniform")),
            ("encode", ("onehot", "onehot-dense", "ordinal")),
        ):
            if getattr(self, name) not in known:
                raise InvalidArgumentError(
                    f"KBinsDiscretizer: no such {name}: {name}={getattr(self, name)!r}; use one "
                    f"of {known}"
                )

    def _sizes(self, features: int) -> Numbers:
        if isinstance(self.n_bins, numbers.Integral):
            sizes = np.full(features, self.n_bins)
        else:
            sizes = np.array(self.n_bins)
        if sizes.shape != (features,):
            raise InvalidArgumentError("n_bins must be a scalar or array of shape (n_features,).")
        wrong = np.flatnonzero((sizes < 2) | (sizes != np.asarray(sizes, dtype=np.int64)))
        if len(wrong):
            raise InvalidArgumentError(
                "KBinsDiscretizer received an invalid number of bins at indices "
                f"{', '.join(map(str, wrong))}. Number of bins must be at least 2, and must be an "
                "int."
            )
        return sizes.astype(np.int64)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the edges of the bins of each column of `X`."""
        self._check_parameters()
        rows = check_rows(self, X, fit=True)
        weights = check_weights(self, sample_weight, rows.shape[0], negative=True)
        if self.subsample is not None and rows.shape[0] > self.subsample:
            chances = None if weights is None else np.asarray(weights / weights.sum())
            picked = default_rng(self.random_state).choice(
                rows.shape[0], self.subsample, replace=True, p=chances
            )
            rows, weights = rows[picked], None
        sizes = self._sizes(self.n_features_in_)
        values = np.asarray(rows)
        counted = None if weights is None else np.asarray(weights)
        edges = np.empty(self.n_features_in_, dtype=object)
        for place in range(self.n_features_in_):
            edges[place] = self._edges(place, values[:, place], int(sizes[place]), counted)
            sizes[place] = len(edges[place]) - 1
        self.bin_edges_, self.n_bins_ = edges, sizes
        dtype = self.dtype or np.dtype(rows.dtype)
        self._encoder = None
        if self.encode != "ordinal":
            self._encoder = OneHotEncoder(
                categories=[np.arange(size) for size in sizes],
                sparse_output=self.encode == "onehot",
                dtype=dtype,
            ).fit(np.zeros((1, self.n_features_in_)))
        return self

    def _edges(self, place: int, x: Numbers, size: int, weights: Numbers | None) -> Numbers:
        used = x if weights is None or self.strategy == "quantile" else x[weights != 0]
        low, high = used.min(), used.max()
        if low == high:
            warnings.warn(f"Feature {place} is constant and will be replaced with 0.", stacklevel=3)
            return np.array([-np.inf, np.inf])
        if self.strategy == "uniform":
            return np.linspace(low, high, size + 1)
        shares = np.linspace(0, 100, size + 1)
        if weights is None:
            found = np.percentile(x, shares, method=self.quantile_method)  # type: ignore[call-overload]
        elif self.quantile_method not in ("inverted_cdf", "averaged_inverted_cdf"):
            raise InvalidArgumentError(
                "When fitting with strategy='quantile' and sample weights, quantile_method should "
                "either be set to 'averaged_inverted_cdf' or 'inverted_cdf', got quantile_method="
                f"{self.quantile_method!r} instead."
            )
        else:
            found = _weighted_quantiles(
                x, weights, shares / 100, averaged=self.quantile_method != "inverted_cdf"
            )
        found = np.asarray(found, np.float64)
        wide = np.ediff1d(found, to_begin=np.inf) > 1e-8
        if not wide.all():
            warnings.warn(
                f"Bins whose width are too small (i.e., <= 1e-8) in feature {place} are removed. "
                "Consider decreasing the number of bins.",
                stacklevel=3,
            )
        return found[wide]

    def _check_loaded(self) -> None:
        if [len(edges) - 1 for edges in self.bin_edges_] != self.n_bins_.tolist():
            raise ValueError("KBinsDiscretizer: edges are of another number than the bins")
        encoder = self._encoder
        if (encoder is None) != (self.encode == "ordinal") or (
            encoder is not None and encoder._sizes != self.n_bins_.tolist()
        ):
            raise ValueError("KBinsDiscretizer: its encoder is another one's")

    def _numbered(self, X: Any) -> Any:
        columns = check_columns(self, X, allow_nan=False)

        def numbered(x: Any, place: int) -> Any:
            made: Any = x * 0
            for edge in self.bin_edges_[place][1:-1]:
                made = made + (x >= float(edge)).astype(np.dtype(x.dtype))
            return made

        made = Columns(None, columns.columns).map(numbered, np.arange(len(columns)))
        return made if self.dtype is None else made.astype(self.dtype)

    def transform(self, X: Any) -> Any:
        """The bin of each value, ``[samples, features]``, or a column for each bin."""
        self._check_fitted()
        made = self._numbered(X)
        if self._encoder is None:
            return self._answer(X, made)
        ones = self._encoder.transform(made.astype("int64"))
        return ones if self.encode == "onehot" else self._answer(X, ones)

    def inverse_transform(self, X: Any) -> Any:
        """The middle of the bin of each value."""
        self._check_fitted()
        places = (
            X
            if self._encoder is None
            else np.asarray(
                self._encoder.inverse_transform(
                    np.asarray(X.toarray() if hasattr(X, "toarray") else X)
                )
            )
        )
        bins = np.asarray(places)
        if bins.ndim != 2 or bins.shape[1] != self.n_features_in_:
            raise InvalidArgumentError(
                f"Incorrect number of features. Expecting {self.n_features_in_}, received "
                f"{bins.shape[1:]}."
            )
        made = np.empty(bins.shape, bins.dtype if bins.dtype == np.float32 else np.float64)
        for place, edges in enumerate(self.bin_edges_):
            made[:, place] = ((edges[1:] + edges[:-1]) * 0.5)[bins[:, place].astype(np.int64)]
        return answer(X, frozen(made))

    def _names_out(self, names: list[str]) -> list[str]:
        return names if self._encoder is None else list(self._encoder._names_out(names))


def _weighted_quantiles(x: Numbers, weights: Numbers, q: Numbers, *, averaged: bool) -> Numbers:
    """Quantiles where the sum of weights reaches a share; the mean of two where it is equal."""
    if (weights >= 0).all():
        x, weights = x[weights > 0], weights[weights > 0]
    order = np.argsort(x, kind="stable")
    x, weights = x[order], weights[order]
    sums, last = np.cumsum(weights), len(x) - 1
    wanted = q * sums[-1]
    wanted[wanted == 0] = np.nextafter(0, 1)
    places = np.minimum(np.searchsorted(sums, wanted), last)
    if not averaged:
        return x[places]
    equal = sums[places] - wanted <= np.finfo(float).eps
    after = np.minimum(places + 1, last)
    beyond = np.searchsorted(sums, sums[places], side="right")
    after = np.where(weights[after] != 0, after, np.where(beyond > last, places, beyond))
    return np.where(equal, (x[places] + x[after]) / 2, x[places])
