# SPDX-License-Identifier: Apache-2.0
"""k-means: rows by their nearest centre."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    PrefixedNames,
    Transformer,
    answer,
    beside,
    check_count,
    check_rows,
    check_weights,
    engine_weights,
    frozen,
    is_number,
    refuse,
    warn_not_converged,
)
from headrace.learn.few_rows import few_rows
from headrace.random import seed_from

if TYPE_CHECKING:
    from collections.abc import Mapping


class KMeans(PrefixedNames, Transformer):
    """k-means by Lloyd's iteration, the same bits for any number of threads and on a GPU.

    Each row gets the centre that is nearest in float64, ties the lowest; float32 is only a filter
    with a proven error. The same initial centres give scikit-learn's labels. No copy of the rows
    is made, nor a matrix of all distances. Random draws are those of `hr.random`, so the centres
    of a `random_state` differ from scikit-learn's.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    init : {"k-means++", "random"}, array_like or callable, default "k-means++"
        Initial centres: greedy k-means++, distinct rows, these, or what ``init(X, n_clusters,
        random_state=seed)`` returns.
    n_init : "auto" or int, default "auto"
        Runs of which the best is kept; ``"auto"``: 10 for ``"random"`` and callables, else 1.
    max_iter : int, default 300
        The most iterations of a run.
    tol : float, default 1e-4
        A run ends when the squared shift of the centres is at most this times the mean variance
        of the columns.
    verbose, copy_x
        Accepted and not used: `X` is never changed.
    random_state : int, generator or None
        Seed of the initial centres.
    algorithm : {"lloyd", "elkan"}, default "lloyd"
        Both give the same clusters; one loop serves them.

    Attributes
    ----------
    cluster_centers_ : array
        ``[n_clusters, features]``, in the dtype of `X`.
    labels_ : array
        int32, the cluster of each row of `fit`.
    inertia_ : float
        Weighted sum of squared distances to the nearest centre.
    n_iter_ : int
        Iterations of the best run.

    >>> rows = [[1.0, 2.0], [1.0, 4.0], [10.0, 2.0], [10.0, 4.0]]
    >>> model = hr.learn.KMeans(2, init=[[0.0, 0.0], [9.0, 0.0]]).fit(rows)
    >>> model.labels_.tolist(), model.inertia_
    ([0, 0, 1, 1], 4.0)
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "clusterer",
        "transformer_tags": {"preserves_dtype": ["float64", "float32"]},
    }
    _fitted_as = "cluster_centers_"
    _random_runs = 10  #: of `n_init="auto"`, from centres that are not by k-means++
    algorithm: str = "lloyd"
    cluster_centers_: Any
    labels_: Any
    inertia_: float
    n_iter_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int | str = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: str = "lloyd",
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _check_params(self) -> int:
        """The number of runs."""
        check_count(self, "n_clusters", "max_iter")
        if not (is_number(self.tol) and self.tol >= 0):
            refuse(self, "tol", "a number from 0 on")
        if self.algorithm not in ("lloyd", "elkan"):
            refuse(self, "algorithm", "'lloyd' or 'elkan'")
        named = isinstance(self.init, str)
        if named and self.init not in ("k-means++", "random"):
            refuse(self, "init", "'k-means++', 'random', an array or a callable")
        if self.n_init != "auto":
            check_count(self, "n_init")
        if not named and not callable(self.init):
            return 1
        if self.n_init == "auto":
            return 1 if named and self.init == "k-means++" else self._random_runs
        return int(self.n_init)

    def _initial(self, X: Any, rows: Array, weights: Array, seed: int, run: int) -> Array:
        """Initial centres of a run, float64."""
        clusters = self.n_clusters
        if isinstance(self.init, str) and weights.size and float(weights.min()) < 0:
            raise InvalidArgumentError(
                f"{type(self).__name__}: rows are not drawn by negative weights: "
                f"sample_weight={float(weights.min())}; pass the first centres, init=array"
            )
        if isinstance(self.init, str) and self.init == "k-means++":
            return Array(_core.kmeans_plus_plus(rows._node, weights._node, clusters, seed, run))
        if isinstance(self.init, str):
            if weights.size:  # the smallest exponential draws over the weights
                draws = Array(_core.random_exponential(len(rows), "float64", seed, run))
                with np.errstate(divide="ignore", invalid="ignore"):
                    keys = np.asarray(draws) / np.asarray(weights)
                chosen = np.argsort(keys, kind="stable")[:clusters]
            else:
                chosen = np.asarray(Array(_core.random_sample(len(rows), clusters, seed, run)))
            return frozen(np.asarray(rows[beside(rows, chosen)], dtype=np.float64))
        given = self.init
        if callable(given):
            given = given(X, clusters, random_state=(seed + run) % (1 << 32))
        made = np.array(given, dtype=np.float64)
        if made.shape != (clusters, rows.shape[1]):
            raise InvalidArgumentError(
                f"{type(self).__name__}: The shape of the initial centers {made.shape} does not "
                f"match the number of clusters {clusters} and of features {rows.shape[1]}"
            )
        if not np.isfinite(made).all():
            raise InvalidArgumentError(
                f"{type(self).__name__}: init contains NaN or infinity; pass finite centres"
            )
        return frozen(made)

    def _rows_to_fit(self, X: Any) -> Array:
        rows = check_rows(self, X, fit=True)
        if len(rows) < self.n_clusters:
            raise InvalidArgumentError(
                f"{type(self).__name__}: n_samples={len(rows)} should be >= "
                f"n_clusters={self.n_clusters}."
            )
        return rows

    def _tolerance(self, rows: Array) -> float:
        """`tol` by the mean variance of the columns."""
        return self.tol and self.tol * float(np.mean(np.asarray(rows.var(axis=0, ddof=0))))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres of `X`, ``[samples, features]``, in float64 inside.

        Raises ValueError for NaN or infinite values, or fewer rows than clusters.
        """
        runs = self._check_params()
        rows = self._rows_to_fit(X)
        weights = check_weights(self, sample_weight, len(rows), negative=True)
        weights = engine_weights(weights)
        tolerance = self._tolerance(rows)
        seed = seed_from(self.random_state)
        best = None
        for run in range(runs):
            init = self._initial(X, rows, weights, seed, run)
            mark("kmeans_fit")
            found = _core.kmeans_fit(
                rows._node, weights._node, init._node, self.max_iter, tolerance
            )
            if best is None or found[2] < best[2]:
                best = found
        assert best is not None
        self.cluster_centers_ = answer(X, Array(best[0]))
        self.labels_ = answer(X, Array(best[1]))
        self.inertia_, self.n_iter_, used = best[2:]
        if used < self.n_clusters:
            warn_not_converged(
                f"Number of distinct clusters ({used}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X."
            )
        return self

    def _nodes(self, op: str, X: Any) -> tuple[Any, Any]:
        self._check_fitted()
        rows = check_rows(self, X)
        mark(op)
        centers = self.cluster_centers_
        return (centers if isinstance(centers, Array) else frozen(centers))._node, rows._node

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and the cluster of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    @few_rows
    def predict(self, X: Any) -> Any:
        """The nearest centre of each row: int32 ``[samples]``."""
        return answer(X, Array(_core.kmeans_predict(*self._nodes("kmeans_predict", X))))

    def transform(self, X: Any) -> Any:
        """Distances to all centres: ``[samples, n_clusters]``, in the dtype of `X`."""
        return self._answer(X, Array(_core.kmeans_transform(*self._nodes("kmeans_transform", X))))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The negative weighted sum of squared distances to the nearest centre."""
        centers, rows = self._nodes("kmeans_inertia", X)
        weights = check_weights(self, sample_weight, len(Array(rows)), negative=True)
        labels = _core.kmeans_predict(centers, rows)
        return -_core.kmeans_inertia(centers, rows, engine_weights(weights)._node, labels)
