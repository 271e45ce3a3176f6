# SPDX-License-Identifier: Apache-2.0
"""Decompositions of matrices: principal components."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core, linalg
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    PrefixedNames,
    Transformer,
    answer,
    check_count,
    check_rows,
    frozen,
    is_number,
    is_ours,
    refuse,
    refuse_not_finite,
)
from headrace.learn.decomposition.singular import (
    dense_or_sparse,
    kind_of_result,
    randomized_svd,
    signs_of,
)
from headrace.tensor.matrix import issparse
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headrace import _core as core


class _Components(PrefixedNames, Transformer):
    """What models with a mean and orthogonal components do."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]}
    }
    _fitted_as = "components_"
    whiten: bool
    mean_: Array
    components_: Array
    explained_variance_: Array
    noise_variance_: float
    n_components_: int
    n_features_in_: int
    n_samples_: int
    _total_variance: float

    def _nodes(self, op: str) -> tuple[core.Node, core.Node]:
        self._check_fitted()
        mark(op)
        return self.mean_._node, self.components_._node

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    @property
    def explained_variance_ratio_(self) -> Array:
        """Variance along each component as a share of the total."""
        return self.explained_variance_ / (self._total_variance or 1.0)

    @property
    def singular_values_(self) -> Array:
        """Singular values of the centred rows, one for each component."""
        return np.sqrt(self.explained_variance_ * (self.n_samples_ - 1.0))  # type: ignore[return-value]

    def _scale(self) -> Array:
        """Standard deviations along the components, none of them 0."""
        least = float(np.finfo(str(self.explained_variance_.dtype)).eps)
        return np.sqrt(self.explained_variance_).clip(least, None)  # type: ignore[return-value]

    def transform(self, X: Any) -> Any:
        """Coordinates along the components: ``[samples, components]``, in the dtype of `X`."""
        nodes = self._nodes("pca_transform")
        made = Array(_core.pca_transform(*nodes, check_rows(self, X)._node))
        return self._answer(X, made / self._scale() if self.whiten else made)

    def inverse_transform(self, X: Any) -> Any:
        """Rows reconstructed from their coordinates: ``[samples, features]``."""
        nodes = self._nodes("pca_inverse_transform")
        latent = frozen(np.asarray(X)) if not is_ours(X) else asarray(X)
        if self.whiten:
            latent = latent * np.sqrt(self.explained_variance_)
        return answer(X, Array(_core.pca_inverse_transform(*nodes, latent._node)))

    def reconstruction_error(self, X: Any) -> Any:
        """Mean squared difference of each row from its reconstruction: an outlier score."""
        nodes = self._nodes("pca_reconstruction_error")
        rows = check_rows(self, X)._node
        return answer(X, Array(_core.pca_reconstruction_error(*nodes, rows)))

    def get_covariance(self) -> Any:
        """The covariance of the model, ``[features, features]``: components and even noise."""
        self._check_fitted()
        components, variance = self.components_, self.explained_variance_
        if self.whiten:
            components = components * np.sqrt(variance).reshape(-1, 1)
        extra = (variance - self.noise_variance_).clip(0.0, None)
        noise = np.eye(self.n_features_in_) * self.noise_variance_
        return (components.T * extra) @ components + noise

    def get_precision(self) -> Any:
        """The inverse of `get_covariance`."""
        return linalg.inv(self.get_covariance())


class PCA(_Components):
    """Principal component analysis, in float64 inside.

    The same bits for any number of threads. `fit` evaluates its data; the results of `transform`,
    `inverse_transform` and `reconstruction_error` are lazy.

    Parameters
    ----------
    n_components : int or float, optional
        Number of components to keep, or a share of the variance below 1 to pass; all by default.
    copy, tol, power_iteration_normalizer
        Accepted and not used: `X` is never changed.
    whiten : bool, default False
        Bring coordinates to variance 1.
    svd_solver : {"auto", "full", "covariance_eigh", "randomized"}
        ``"covariance_eigh"`` reads the rows twice; ``"full"`` is more exact for small variances;
        ``"randomized"`` finds few components of many features; ``"auto"`` chooses the first for up
        to 1000 features, else the last for less than 80% of the components.
    iterated_power : int or "auto"
        Rounds of ``"randomized"``.
    n_oversamples : int, default 10
        Extra random vectors of ``"randomized"``.
    random_state : int, generator or None
        Seed of ``"randomized"``.

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
    n_samples_: int
    n_components_: int

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    def _share(self) -> float | None:
        """The share of the variance to keep, or None where a number of components is given."""
        wanted = self.n_components
        if wanted == "mle" or self.svd_solver == "arpack":
            raise UnsupportedError(
                f"PCA: not supported: n_components={wanted!r}, svd_solver={self.svd_solver!r}; "
                "use a number of components or a share of the variance, and another solver"
            )
        if self.svd_solver not in ("auto", "full", "covariance_eigh", "randomized"):
            refuse(self, "svd_solver", "'auto', 'full', 'covariance_eigh' or 'randomized'")
        if wanted is None or is_number(wanted, integer=True):
            return None
        if not (is_number(wanted) and 0 < wanted < 1) or self.svd_solver == "randomized":  # type: ignore[operator]
            refuse(self, "n_components", "an integer, or a share between 0 and 1 for exact solvers")
        return float(wanted)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute mean and components of `X`, ``[samples, features]``, float32 or float64.

        Raises ValueError for fewer than 2 rows, NaN or infinite values, or more components than
        rows or features; TypeError for other dtypes or dimensions.
        """
        share = self._share()
        rows = check_rows(self, X, fit=True, allow_nan="inf", min_rows=2)
        most = min(rows.shape)
        count = most if self.n_components is None or share else int(self.n_components)
        solver = self.svd_solver
        if solver == "auto":
            few = not share and count < 0.8 * most
            solver = "covariance_eigh" if rows.shape[1] <= 1000 else "randomized" if few else "full"
        mark("pca_fit")
        if solver == "covariance_eigh":
            try:
                fitted = _core.pca_fit(rows._node, count)
            except InvalidArgumentError:
                refuse_not_finite(self, rows)  # in the words of rows and columns
                raise
            self.mean_, self.components_, self.explained_variance_ = map(Array, fitted[:3])
            self._total_variance, self.noise_variance_, self.n_samples_ = fitted[3:]
        else:
            self._fit_centred(rows, count, solver)
        if share:
            variances = self.explained_variance_.to_numpy()
            reached = np.cumsum(variances / (self._total_variance or 1.0))
            count = min(int(np.searchsorted(reached, share, side="right")) + 1, most)
            self.noise_variance_ = float(variances[count:].mean()) if count < most else 0.0
            self.components_ = frozen(self.components_.to_numpy()[:count])
            self.explained_variance_ = frozen(variances[:count])
        self.n_components_ = self.components_.shape[0]
        return self

    def _fit_centred(self, rows: Array, count: int, solver: str) -> None:
        """By singular values of the centred rows, all of them or the largest."""
        most = min(rows.shape)
        if not 1 <= count <= most:
            raise InvalidArgumentError(
                f"pca_fit: n_components={count} must be between 1 and "
                f"min(n_samples, n_features)={most} with svd_solver={solver!r}"
            )
        refuse_not_finite(self, rows)
        mean = rows.astype("float64").mean(axis=0)
        centred = rows.astype("float64") - mean
        freedom = len(rows) - 1
        self._total_variance = float((centred * centred).sum()) / freedom
        if solver == "full":
            _, found, rights = linalg.svd(centred, full_matrices=False)
            values, vectors = found.to_numpy(), rights.to_numpy()
            vectors = vectors * signs_of(vectors)[:, None]
        else:
            check_count(self, "n_oversamples")
            _, values, vectors = randomized_svd(
                centred,
                count,
                rounds=self.iterated_power,
                oversamples=self.n_oversamples,
                random_state=self.random_state,
            )
        variances = values**2 / freedom
        rest = self._total_variance - variances[:count].sum()
        if solver == "full":
            rest = variances[count:].sum()
        self.noise_variance_ = float(rest) / (most - count) if count < most else 0.0
        dtype = str(rows.dtype)
        self.mean_ = frozen(mean.to_numpy().astype(dtype))
        self.components_ = frozen(vectors[:count].astype(dtype))
        self.explained_variance_ = frozen(variances[:count].astype(dtype))
        self.n_samples_ = len(rows)

    def score_samples(self, X: Any) -> Any:
        """Log-likelihood of each row under the normal distribution of the model."""
        covariance = self.get_covariance()
        rows = check_rows(self, X) - self.mean_
        size = self.n_features_in_ * math.log(2.0 * math.pi)
        constant = size + float(linalg.slogdet(covariance).logabsdet)
        spread = (rows * (rows @ linalg.inv(covariance))).sum(axis=1)
        return answer(X, (spread + constant) * -0.5)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of `score_samples`."""
        return float(self.score_samples(X).mean())


class IncrementalPCA(_Components):
    """Principal components of rows that come in batches; scikit-learn's numbers.

    Only one batch is in memory besides the model. Sparse rows are made dense a batch at a time.

    Parameters
    ----------
    n_components : int, optional
        Number of components; as many as the first batch allows by default.
    whiten : bool, default False
        Bring coordinates to variance 1.
    copy
        Accepted and not used: `X` is never changed.
    batch_size : int, optional
        Rows that `fit` takes at a time; five times the features by default.

    Attributes
    ----------
    mean_, var_ : Array
        Of each feature.
    components_, explained_variance_, noise_variance_, n_components_
        As in `PCA`.
    n_samples_seen_, batch_size_ : int
        Rows so far, rows of a batch.

    >>> rows = [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    >>> pca = hr.learn.IncrementalPCA(1, batch_size=2).fit(rows)
    >>> round(float(pca.explained_variance_[0]), 6), pca.n_samples_seen_
    (3.333333, 4)
    """

    noise_variance_: float
    mean_: Array
    components_: Array
    explained_variance_: Array
    n_components_: int

    _tags: ClassVar[Mapping[str, Any]] = {**_Components._tags, "input_tags": {"sparse": True}}
    var_: Array
    _exact: tuple[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]], np.ndarray[Any, Any]]
    batch_size_: int
    n_samples_seen_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        whiten: bool = False,
        copy: bool = True,
        batch_size: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.copy = copy
        self.batch_size = batch_size

    def _check_params(self) -> None:
        check_count(
            self, *(n for n in ("n_components", "batch_size") if getattr(self, n) is not None)
        )

    def _batches(self, rows: Any) -> Iterator[Array]:
        """Dense batches; the last one is not smaller than the number of components."""
        size, total, begin = self.batch_size_, rows.shape[0], 0
        while begin < total:
            end = begin + size
            if end + (self.n_components or 0) > total:
                end = total
            part = rows[begin:end]
            yield part.toarray() if isinstance(part, csr_matrix) else part
            begin = end

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget what was fitted, and learn from `X` in batches."""
        self._check_params()
        rows = dense_or_sparse(self, X, fit=True)
        for name in ("components_", "n_samples_seen_"):
            self.__dict__.pop(name, None)
        self.batch_size_ = self.batch_size or 5 * self.n_features_in_
        for batch in self._batches(rows):
            self._learn(batch)
        return self

    def partial_fit(self, X: Any, y: Any = None, check_input: bool = True) -> Self:
        """Learn from one batch more; `check_input` changes nothing."""
        self._check_params()
        self._learn(check_rows(self, X, fit=not hasattr(self, "components_")))
        return self

    def _kept(self, count: int, features: int) -> int:
        """The number of components after a batch of `count` rows."""
        known = self.components_.shape[0] if hasattr(self, "components_") else None
        if self.n_components is None:
            return min(count, features) if known is None else known
        if self.n_components > features:
            raise InvalidArgumentError(
                f"IncrementalPCA: n_components={self.n_components} invalid for "
                f"n_features={features}, need more rows than columns for IncrementalPCA processing"
            )
        if known is None and self.n_components > count:
            raise InvalidArgumentError(
                f"IncrementalPCA: n_components={self.n_components} must be less or equal to the "
                f"batch number of samples {count} for the first partial_fit call."
            )
        if known not in (None, self.n_components):
            raise InvalidArgumentError(
                f"IncrementalPCA: Number of input features has changed from {known} to "
                f"{self.n_components} between calls to partial_fit! Try setting n_components to a "
                "fixed value."
            )
        return self.n_components

    def _learn(self, batch: Array) -> None:
        (count, features), dtype = batch.shape, str(batch.dtype)
        kept = self._kept(count, features)
        seen = getattr(self, "n_samples_seen_", 0)
        total = seen + count
        rows = batch.to_numpy().astype(np.float64)
        mean = rows.mean(axis=0)
        rows -= mean
        squares = (rows * rows).sum(axis=0)
        if seen:
            old, stretch = self._exact
            gap = old[0] - mean
            squares += old[1] * seen + gap * gap * (seen * count / total)
            mean = (old[0] * seen + mean * count) / total
            rows = np.vstack((stretch, rows, math.sqrt(seen / total * count) * gap))
        _, found, rights = linalg.svd(frozen(rows), full_matrices=False)
        values, vectors = found.to_numpy(), rights.to_numpy()
        vectors = (vectors * signs_of(vectors)[:, None])[:kept]
        with np.errstate(divide="ignore", invalid="ignore"):
            variances = values**2 / np.float64(total - 1)
            self._total_variance = float(squares.sum() / np.float64(total - 1))
        noisy = kept not in (count, features) and kept < len(variances)
        self.noise_variance_ = float(variances[kept:].mean()) if noisy else 0.0
        self._exact = (mean, squares / total), values[:kept, None] * vectors
        self.mean_, self.var_, self.components_, self.explained_variance_ = (
            frozen(each.astype(dtype))
            for each in (mean, squares / total, vectors, variances[:kept])
        )
        self.n_components_, self.n_samples_seen_ = kept, total
        self.n_samples_ = total

    def transform(self, X: Any) -> Any:
        """Coordinates along the components: ``[samples, components]``."""
        self._check_fitted()
        if not issparse(X):
            return super().transform(X)
        turn = self.components_.T
        made = dense_or_sparse(self, X) @ turn - self.mean_ @ turn
        return self._answer(kind_of_result(X), made / self._scale() if self.whiten else made)
