# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices: principal components."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.lazy.handle import mark
from headrace.learn.base import PrefixedNames, Transformer, answer, check_rows, frozen, is_ours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headrace import _core as core


class PCA(PrefixedNames, Transformer):
    """Principal component analysis by the covariance matrix, in float64 inside.

    The same bits for any number of threads. `fit` evaluates its data; the results of `transform`,
    `inverse_transform` and `reconstruction_error` are lazy.

    Parameters
    ----------
    n_components : int, optional
        Number of components to keep; all by default.

    Attributes
    ----------
    mean_ : Array
        ``[features]``
    components_ : Array
        ``[components, features]``, rows of length 1; the largest loading of each is positive.
    explained_variance_ : Array
        Variance along each component, largest first, with n - 1 degrees of freedom.
    noise_variance_ : float
        Mean variance of the dropped directions.
    n_components_, n_features_in_, n_samples_ : int
        Sizes of the fit.

    >>> rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    >>> pca = hr.learn.PCA(1).fit(rows)
    >>> round(float(pca.explained_variance_[0]), 6)
    3.333333
    >>> bool((pca.reconstruction_error(rows) < 1e-12).all())
    True
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]}
    }
    _fitted_as = "components_"
    mean_: Array
    components_: Array
    explained_variance_: Array
    noise_variance_: float
    n_components_: int
    n_features_in_: int
    n_samples_: int

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _nodes(self, op: str) -> tuple[core.Node, core.Node]:
        self._check_fitted()
        mark(op)
        return self.mean_._node, self.components_._node

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute mean and components of `X`, ``[samples, features]``, float32 or float64.

        Raises ValueError for fewer than 2 rows, NaN or infinite values, or more components than
        rows or features; TypeError for other dtypes or dimensions.
        """
        rows = check_rows(self, X, fit=True, allow_nan="inf", min_rows=2)
        mark("pca_fit")
        fitted = _core.pca_fit(rows._node, self.n_components)
        self.mean_, self.components_, self.explained_variance_ = map(Array, fitted[:3])
        self._total_variance, self.noise_variance_, self.n_samples_ = fitted[3:]
        self.n_components_ = self.components_.shape[0]
        return self

    @property
    def explained_variance_ratio_(self) -> Array:
        """Variance along each component as a share of the total."""
        return self.explained_variance_ / (self._total_variance or 1.0)

    def transform(self, X: Any) -> Any:
        """Coordinates along the components: ``[samples, components]``, in the dtype of `X`."""
        nodes = self._nodes("pca_transform")
        return self._answer(X, Array(_core.pca_transform(*nodes, check_rows(self, X)._node)))

    def inverse_transform(self, X: Any) -> Any:
        """Rows reconstructed from their coordinates: ``[samples, features]``."""
        nodes = self._nodes("pca_inverse_transform")
        latent = frozen(np.asarray(X)) if not is_ours(X) else asarray(X)
        return answer(X, Array(_core.pca_inverse_transform(*nodes, latent._node)))

    def reconstruction_error(self, X: Any) -> Any:
        """Mean squared difference of each row from its reconstruction: an outlier score."""
        nodes = self._nodes("pca_reconstruction_error")
        rows = check_rows(self, X)._node
        return answer(X, Array(_core.pca_reconstruction_error(*nodes, rows)))
