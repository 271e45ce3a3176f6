# SPDX-License-Identifier: Apache-2.0
"""k-means by small batches of rows."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.lazy.handle import mark
from headrace.learn.base import (
    answer,
    check_count,
    check_rows,
    check_weights,
    engine_weights,
    frozen,
    refuse,
)
from headrace.learn.cluster.kmeans import KMeans
from headrace.random import seed_from

# Streams of random numbers, apart from those of the runs of `KMeans`.
_BATCHES, _CENTERS, _VALIDATION = 1 << 30, 1 << 29, 1 << 28


class MiniBatchKMeans(KMeans):
    """k-means whose centres move with each batch of rows, the same bits for any number of threads.

    A centre is the mean of all rows that batches have given it (D. Sculley, WWW 2010); centres
    with few rows are put to rows of the batch. Batches are drawn by `hr.random`, so the centres of
    a `random_state` differ from scikit-learn's. Only a batch is copied, and labels of all rows are
    decided as by `KMeans`.

    Parameters
    ----------
    n_clusters : int, default 8
        Number of clusters.
    init : {"k-means++", "random"}, array_like or callable, default "k-means++"
        Initial centres, as in `KMeans`, from `init_size` rows.
    max_iter : int, default 100
        The most passes' worth of batches.
    batch_size : int, default 1024
        Rows in a batch.
    verbose
        Accepted and not used.
    compute_labels : bool, default True
        Whether `fit` finds `labels_` and `inertia_` of all rows at its end.
    random_state : int, generator or None
        Seed of the initial centres and batches.
    tol : float, default 0.0
        Above 0, the squared shift of the centres at which it ends, times the mean variance.
    max_no_improvement : int or None, default 10
        Batches without a lower smoothed inertia after which it ends.
    init_size : int, optional
        Rows for the initial centres; None: three batches, and at least three times the clusters.
    n_init : "auto" or int, default "auto"
        Initial centres of which those with the least inertia are used; ``"auto"``: 3 for
        ``"random"`` and callables, else 1.
    reassignment_ratio : float, default 0.01
        Centres with less than this share of the rows of the largest are put elsewhere.

    Attributes
    ----------
    cluster_centers_ : array
        ``[n_clusters, features]``, in the dtype of `X`.
    labels_ : array
        int32, the cluster of each row.
    inertia_ : float
        Weighted sum of squared distances, or an estimate of it without `compute_labels`.
    n_iter_, n_steps_ : int
        Passes, as a share of the rows, and batches.

    >>> rows = [[1.0, 2.0], [1.0, 4.0], [10.0, 2.0], [10.0, 4.0]]
    >>> model = hr.learn.MiniBatchKMeans(2, init=[[0.0, 0.0], [9.0, 0.0]], batch_size=4)
    >>> model.partial_fit(rows).partial_fit(rows).cluster_centers_.tolist()
    [[1.0, 3.0], [10.0, 3.0]]
    """

    _random_runs = 3
    cluster_centers_: Any
    labels_: Any
    inertia_: float
    n_iter_: int
    n_steps_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        max_iter: int = 100,
        batch_size: int = 1024,
        verbose: int = 0,
        compute_labels: bool = True,
        random_state: Any = None,
        tol: float = 0.0,
        max_no_improvement: int | None = 10,
        init_size: int | None = None,
        n_init: int | str = "auto",
        reassignment_ratio: float = 0.01,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.compute_labels = compute_labels
        self.random_state = random_state
        self.tol = tol
        self.max_no_improvement = max_no_improvement
        self.init_size = init_size
        self.n_init = n_init
        self.reassignment_ratio = reassignment_ratio

    def _check_params(self) -> int:
        runs = super()._check_params()
        check_count(self, "batch_size")
        if self.max_no_improvement is not None and self.max_no_improvement != 0:
            check_count(self, "max_no_improvement")
        if self.init_size is not None:
            check_count(self, "init_size")
        if not 0 <= self.reassignment_ratio <= 1:
            refuse(self, "reassignment_ratio", "a number from 0 to 1")
        return runs

    def _sample(self, rows: Array, weights: Any, stream: int) -> tuple[Array, Any]:
        """Rows that the first centres are drawn from or judged by, and their weights."""
        size = 3 * self.batch_size if self.init_size is None else self.init_size
        size = min(len(rows), 3 * self.n_clusters if size < self.n_clusters else size)
        if size == len(rows):
            return rows, weights
        return self._chosen(rows, weights, _core.random_sample(len(rows), size, self._seed, stream))

    def _chosen(self, rows: Array, weights: Any, places: Any) -> tuple[Array, Any]:
        chosen = np.asarray(Array(places))
        return rows[chosen], None if weights is None else weights[chosen]

    def _start(self, X: Any, rows: Array, weights: Any, runs: int) -> None:
        """First centres, with no rows yet."""
        best, least = None, math.inf
        judges, their_weights = (
            self._sample(rows, weights, _VALIDATION) if runs > 1 else (rows, None)
        )
        for run in range(runs):
            some, weighed = self._sample(rows, weights, _CENTERS + run)
            centers = self._initial(X, some, engine_weights(weighed), self._seed, run)
            centers = centers.astype(str(rows.dtype))
            if runs > 1:
                inertia = self._step(judges, their_weights, centers, np.zeros(len(centers)))[2]
                if inertia >= least:
                    continue
                least = inertia
            best = centers
        self._centers, self._counts = best, np.zeros(self.n_clusters)
        self._since_reassignment = 0
        self.n_steps_ = 0

    def _step(self, rows: Array, weights: Any, centers: Any, counts: Any) -> tuple[Any, Any, float]:
        nodes = rows._node, engine_weights(weights)._node, centers._node, frozen(counts)._node
        moved, totals, inertia = _core.kmeans_step(*nodes)
        return Array(moved), np.asarray(Array(totals)), inertia

    def _learn(self, rows: Array, weights: Any) -> tuple[float, float]:
        """Move the centres by a batch: its inertia before, and the squared shift."""
        before = self._centers
        self._centers, self._counts, inertia = self._step(rows, weights, before, self._counts)
        self._since_reassignment += len(rows)
        if (self._counts == 0).any() or self._since_reassignment >= 10 * self.n_clusters:
            self._since_reassignment = 0
            self._reassign(rows)
        self.n_steps_ += 1
        shift = 0.0
        if self.tol:
            shift = float(((np.asarray(self._centers) - np.asarray(before)) ** 2).sum())
        return inertia, shift

    def _reassign(self, rows: Array) -> None:
        """Put centres of few rows to rows of the batch, to half as many as there are at most."""
        few = np.flatnonzero(self._counts < self.reassignment_ratio * self._counts.max())
        few = few[np.argsort(self._counts[few], kind="stable")][: len(rows) // 2]
        if not len(few):
            return
        drawn = _core.random_sample(len(rows), len(few), self._seed, self.n_steps_)
        centers, counts = np.array(self._centers), self._counts.copy()
        few.sort()
        centers[few] = np.asarray(rows[np.asarray(Array(drawn))])
        counts[few] = np.delete(counts, few).min(initial=math.inf)
        self._centers, self._counts = frozen(centers), counts

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centres of `X`, ``[samples, features]``, by batches drawn from it.

        Raises ValueError for NaN or infinite values, or fewer rows than clusters.
        """
        rows, weights, runs = self._checked(X, sample_weight, fit=True)
        self._seed = seed_from(self.random_state)
        self._start(X, rows, weights, runs)
        size, count = min(self.batch_size, len(rows)), len(rows)
        tolerance = self._tolerance(rows)
        smooth, least, worse = math.nan, math.inf, 0
        for step in range(self.max_iter * count // size):
            places = _core.random_integers(size, "int64", 0, count, self._seed, _BATCHES + step)
            batch, weighed = self._chosen(rows, weights, places)
            inertia, shift = self._learn(batch, weighed)
            if step == 0:
                continue  # the inertia of the first centres
            total = size if weighed is None else max(float(weighed.sum()), 1e-300)
            share = min(1.0, size * 2.0 / (count + 1))
            mean = inertia / total
            smooth = mean if step == 1 else smooth * (1 - share) + mean * share
            if tolerance and shift <= tolerance:
                break
            worse, least = (0, smooth) if smooth < least else (worse + 1, least)
            if self.max_no_improvement is not None and worse >= self.max_no_improvement:
                break
        self.n_iter_ = math.ceil(self.n_steps_ * size / count)
        self._finish(X, rows, weights, smooth * count)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres by one batch, `X`; the first finds the first centres."""
        first = not hasattr(self, "_centers")
        rows, weights, _ = self._checked(X, sample_weight, fit=first, negative=True)
        if first:
            self._seed = seed_from(self.random_state)
            self._start(X, rows, weights, 1)
        inertia, _ = self._learn(rows, weights)
        self._finish(X, rows, weights, inertia)
        return self

    def _checked(
        self, X: Any, sample_weight: Any, *, fit: bool, negative: bool = False
    ) -> tuple[Array, Any, int]:
        runs = self._check_params()
        rows = self._rows_to_fit(X) if fit else check_rows(self, X)
        mark("kmeans_step")
        return rows, check_weights(self, sample_weight, len(rows), negative=negative), runs

    def _finish(self, X: Any, rows: Array, weights: Any, inertia: float) -> None:
        centers: Any = self._centers
        self.cluster_centers_ = answer(X, centers)
        self.inertia_ = inertia
        self.__dict__.pop("labels_", None)
        if self.compute_labels:
            labels = _core.kmeans_predict(centers._node, rows._node)
            weighed = engine_weights(weights)._node
            self.inertia_ = _core.kmeans_inertia(centers._node, rows._node, weighed, labels)
            self.labels_ = answer(X, Array(labels))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and the cluster of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)
