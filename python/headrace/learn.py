# SPDX-License-Identifier: Apache-2.0
"""Models with scikit-learn's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.facade import missing_of_module
from headrace.lazy.handle import mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace import _core as core

__all__ = ["PCA"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)


class PCA:
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

    mean_: Array
    components_: Array
    explained_variance_: Array
    noise_variance_: float
    n_components_: int
    n_features_in_: int
    n_samples_: int

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def __repr__(self) -> str:
        return f"PCA(n_components={self.n_components})"

    def _fitted(self, op: str) -> tuple[core.Node, core.Node]:
        if not hasattr(self, "components_"):
            raise InvalidArgumentError(
                f"{op}: the model is not fitted: n_components={self.n_components}; call fit() first"
            )
        mark(op)
        return self.mean_._node, self.components_._node

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Compute mean and components of `X`, ``[samples, features]``, float32 or float64.

        Raises ValueError for fewer than 2 rows, NaN or infinite values, or more components than
        rows or features; TypeError for other dtypes or dimensions.
        """
        rows = asarray(X)
        mark("pca_fit")
        fitted = _core.pca_fit(rows._node, self.n_components)
        self.mean_, self.components_, self.explained_variance_ = map(Array, fitted[:3])
        self._total_variance, self.noise_variance_, self.n_samples_ = fitted[3:]
        self.n_components_, self.n_features_in_ = self.components_.shape
        return self

    @property
    def explained_variance_ratio_(self) -> Array:
        """Variance along each component as a share of the total."""
        return self.explained_variance_ / (self._total_variance or 1.0)

    def transform(self, X: Any) -> Array:  # noqa: N803
        """Coordinates along the components: ``[samples, components]``, in the dtype of `X`."""
        nodes = self._fitted("pca_transform")
        return Array(_core.pca_transform(*nodes, asarray(X)._node))

    def fit_transform(self, X: Any, y: Any = None) -> Array:  # noqa: N803
        """Fit, then transform the same rows."""
        return self.fit(X).transform(X)

    def inverse_transform(self, X: Any) -> Array:  # noqa: N803
        """Rows reconstructed from their coordinates: ``[samples, features]``."""
        nodes = self._fitted("pca_inverse_transform")
        return Array(_core.pca_inverse_transform(*nodes, asarray(X)._node))

    def reconstruction_error(self, X: Any) -> Array:  # noqa: N803
        """Mean squared difference of each row from its reconstruction: an outlier score."""
        nodes = self._fitted("pca_reconstruction_error")
        return Array(_core.pca_reconstruction_error(*nodes, asarray(X)._node))
