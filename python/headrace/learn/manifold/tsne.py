# SPDX-License-Identifier: Apache-2.0
"""t-SNE: few coordinates in which neighbours stay neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    PrefixedNames,
    Transformer,
    beside,
    check_count,
    check_rows,
    frozen,
    is_number,
    refuse,
)
from headrace.learn.decomposition.pca import PCA
from headrace.learn.neighbors import engine_metric
from headrace.random.generator import default_rng

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXPLORATION = 250  # iterations with exaggerated attraction


def nearest_others(estimator: Any, rows: Array, count: int) -> tuple[Any, Any]:
    """Row numbers and distances of each row's nearest others, nearest first, as nodes."""
    if estimator.metric != "precomputed":
        mark("nearest_neighbors")
        return _core.nearest_neighbors(
            rows._node, rows._node, count, engine_metric(estimator), True
        )
    apart = np.array(rows, dtype=np.float64)
    if apart.shape[0] != apart.shape[1]:
        raise InvalidArgumentError("X should be a square distance matrix")
    if apart.min() < 0:
        raise InvalidArgumentError(
            f"{type(estimator).__name__}: distances are negative: minimum={apart.min()}; with "
            "metric='precomputed', X should contain positive distances"
        )
    np.fill_diagonal(apart, np.inf)
    near = np.argsort(apart, axis=1, kind="stable")[:, :count]
    return (
        frozen(np.ascontiguousarray(near, dtype=np.int64))._node,
        frozen(np.take_along_axis(apart, near, axis=1))._node,
    )


def given_init(estimator: Any, rows: int) -> np.ndarray[Any, Any]:
    """Initial positions that the user gives, float32."""
    made = np.array(estimator.init, dtype=np.float32, order="C")
    if made.shape != (rows, estimator.n_components):
        raise InvalidArgumentError(
            f"{type(estimator).__name__}: init has another shape: init.shape={made.shape}; pass "
            f"{(rows, estimator.n_components)}"
        )
    if not np.isfinite(made).all():
        raise InvalidArgumentError(
            f"{type(estimator).__name__}: init contains NaN or infinity; pass finite positions"
        )
    return made


class TSNE(PrefixedNames, Transformer):
    """Embed rows in 1 to 3 dimensions so that near rows stay near (t-SNE).

    L. van der Maaten and G. Hinton, JMLR 9, 2008, with the neighbours and the tree of
    L. van der Maaten, JMLR 15, 2014. Neighbours are exact. The same bits for any number of threads:
    an iteration reads the positions of the last one only. Rows on a GPU stay there, and give the
    CPU's bits; only the affinities of neighbours are the host's work. Time is
    O(samples^2 features + max_iter samples (perplexity + log(samples))), memory 30 bytes a sample
    and unit of perplexity. Other seeds and libraries give other maps; compare their divergences.

    Parameters
    ----------
    n_components : int, default 2
        1, 2 or 3.
    perplexity : float, default 30.0
        About the number of neighbours that count; less than the number of samples.
    early_exaggeration : float, default 12.0
        Of attraction, in the first 250 iterations.
    learning_rate : float or "auto"
        ``"auto"``: samples / early_exaggeration / 4, at least 50.
    max_iter : int, default 1000
        At least 250.
    n_iter_without_progress : int, default 300
        After the first 250; asked every 50 iterations.
    min_grad_norm : float, default 1e-7
        Stop below this norm of the gradient.
    metric : str, default "euclidean"
        As in `NearestNeighbors`, or ``"precomputed"``: `X` is a square matrix of distances.
    metric_params
        Only None.
    init : {"pca", "random"} or array, default "pca"
        Initial positions.
    verbose, n_jobs
        Accepted and not used.
    random_state : int, generator or None
        Seed of a random `init`.
    method : {"barnes_hut", "exact"}
        ``"exact"``: all pairs, in 12 samples^2 bytes.
    angle : float, default 0.5
        Extent over distance at which points count as one: 0 to 1. Smaller is slower, more exact.

    Attributes
    ----------
    embedding_ : array
        float32 ``[samples, n_components]``.
    kl_divergence_ : float
        Kullback-Leibler divergence of `embedding_`.
    n_iter_ : int
        The last iteration, counted from 0 as in scikit-learn.
    learning_rate_ : float
        The learning rate that was used.

    >>> x = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
    >>> hr.learn.TSNE(perplexity=3, init="random", random_state=0).fit_transform(x).shape
    (4, 2)
    """

    _tags: ClassVar[Mapping[str, Any]] = {"transformer_tags": {"preserves_dtype": []}}
    _fitted_as = "embedding_"
    algorithm: ClassVar[str] = "auto"
    p: ClassVar[float] = 2
    embedding_: Any
    kl_divergence_: float
    n_iter_: int
    learning_rate_: float

    def __init__(
        self,
        n_components: int = 2,
        *,
        perplexity: float = 30.0,
        early_exaggeration: float = 12.0,
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        n_iter_without_progress: int = 300,
        min_grad_norm: float = 1e-7,
        metric: str = "euclidean",
        metric_params: Any = None,
        init: Any = "pca",
        verbose: int = 0,
        random_state: Any = None,
        method: str = "barnes_hut",
        angle: float = 0.5,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.perplexity = perplexity
        self.early_exaggeration = early_exaggeration
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_without_progress = n_iter_without_progress
        self.min_grad_norm = min_grad_norm
        self.metric = metric
        self.metric_params = metric_params
        self.init = init
        self.verbose = verbose
        self.random_state = random_state
        self.method = method
        self.angle = angle
        self.n_jobs = n_jobs

    def _all_tags(self) -> Mapping[str, Any]:
        return {**self._tags, "input_tags": {"pairwise": self.metric == "precomputed"}}

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def _check_params(self) -> None:
        check_count(self, "n_components", "max_iter")
        if self.n_components > 3:
            raise UnsupportedError(
                f"TSNE: more than 3 dimensions: n_components={self.n_components}; use PCA or UMAP"
            )
        if self.max_iter < _EXPLORATION:
            refuse(self, "max_iter", f"an integer from {_EXPLORATION} on")
        if not is_number(self.n_iter_without_progress, integer=True):
            refuse(self, "n_iter_without_progress", "an integer")
        bounds: list[tuple[str, int, int | None]]
        bounds = [("perplexity", 0, None), ("early_exaggeration", 1, None)]
        bounds += [("min_grad_norm", 0, None), ("angle", 0, 1)]
        for name, least, most in bounds:
            value = getattr(self, name)
            if not (is_number(value) and value >= least and (most is None or value <= most)):
                refuse(self, name, f"a number from {least} " + (f"to {most}" if most else "on"))
        rate = self.learning_rate
        if not (rate == "auto" if isinstance(rate, str) else is_number(rate) and rate > 0):
            refuse(self, "learning_rate", "'auto' or a number above 0")
        if self.method not in ("barnes_hut", "exact"):
            refuse(self, "method", "'barnes_hut' or 'exact'")
        if isinstance(self.init, str) and self.init not in ("pca", "random"):
            refuse(self, "init", "'pca', 'random' or an array")

    def _initial(self, rows: Array) -> np.ndarray[Any, Any]:
        count = len(rows)
        if not isinstance(self.init, str):
            return given_init(self, count)
        if self.init == "random":
            draws = default_rng(self.random_state).standard_normal((count, self.n_components))
            return (1e-4 * np.asarray(draws)).astype(np.float32)
        if self.metric == "precomputed":
            raise InvalidArgumentError(
                'The parameter init="pca" cannot be used with metric="precomputed".'
            )
        made = np.array(PCA(self.n_components).fit_transform(rows), dtype=np.float64)
        spread = made[:, 0].std()
        return np.ascontiguousarray(made / (spread or 1) * 1e-4, dtype=np.float32)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed `X`, ``[samples, features]``.

        Raises ValueError for NaN or infinite values, or samples that are not more than the
        perplexity.
        """
        self._check_params()
        rows = check_rows(self, X, fit=True, min_rows=2)
        count = len(rows)
        if self.perplexity >= count:
            raise InvalidArgumentError(
                f"TSNE: perplexity ({self.perplexity}) must be less than n_samples ({count})"
            )
        init = self._initial(rows)
        exact = self.method == "exact"
        near = count - 1 if exact else min(count - 1, int(3.0 * self.perplexity + 1))
        self.learning_rate_ = (
            max(count / self.early_exaggeration / 4, 50.0)
            if isinstance(self.learning_rate, str)
            else self.learning_rate
        )
        neighbors = nearest_others(self, rows, near)
        mark("tsne_fit")
        embedding, self.kl_divergence_, self.n_iter_ = _core.tsne_fit(
            *neighbors,
            self.perplexity,
            beside(rows, init)._node,
            self.early_exaggeration,
            self.learning_rate_,
            self.max_iter,
            self.n_iter_without_progress,
            self.min_grad_norm,
            0.0 if exact else self.angle,
        )
        self.embedding_ = self._answer(X, Array(embedding))
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and the embedding of the same rows."""
        return self.fit(X).embedding_
