# SPDX-License-Identifier: Apache-2.0
"""HDBSCAN: clusters of rows at the densities at which they are stable."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError
from headrace.frame.dataframe import DataFrame
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    check_count,
    check_rows,
    frozen,
    is_number,
    refuse,
)
from headrace.learn.neighbors import engine_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

_INFINITE, _MISSING = -2, -3
_TREE_COLUMNS = ("parent", "child", "lambda_val", "child_size")


class HDBSCAN(Estimator):
    """Clusters of any shape and density: scikit-learn's labels, with memory of the rows' size.

    The least spanning tree of the rows by mutual reachability comes from Boruvka's rounds over a
    kd-tree up to 12 Euclidean dimensions, else over tiles of all pairs. Edges of equal weight go by
    their distance and then by their rows, so there is one tree, for any number of threads; labels
    are scikit-learn's unless the order of such edges, which is by chance there, matters.

    Parameters
    ----------
    min_cluster_size : int, default 5
        Fewer rows are no cluster.
    min_samples : int, optional
        The distance to that many rows, itself included, is a row's core distance; None:
        `min_cluster_size`.
    cluster_selection_epsilon : float, default 0.0
        Clusters that split at smaller distances are merged.
    max_cluster_size : int, optional
        Larger clusters are split, by the method ``"eom"``.
    metric : str, default "euclidean"
        As in `NearestNeighbors`.
    metric_params
        Only None.
    alpha : float, default 1.0
        Divides distances between rows.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}
        All give the same clusters; with an `alpha`, ``"brute"`` divides core distances too, as
        scikit-learn does.
    leaf_size, n_jobs, copy
        Accepted and not used: `X` is never changed.
    cluster_selection_method : {"eom", "leaf"}, default "eom"
        The clusters with most excess of mass, or the leaves of the condensed tree.
    allow_single_cluster : bool, default False
        Whether all rows may be one cluster.
    store_centers : {None, "centroid", "medoid", "both"}
        Which centres to keep, weighted by the probabilities; medoids compare all rows of a cluster.

    Attributes
    ----------
    labels_ : array
        int64 ``[samples]``; noise is -1, a row with infinite values -2, one with missing ones -3.
    probabilities_ : array
        float64 ``[samples]``: how firmly rows are in their cluster; NaN for missing values.
    condensed_tree_ : DataFrame
        ``parent``, ``child``, ``lambda_val`` and ``child_size``: what leaves which cluster, at one
        over which distance. Numbers from `samples` on are clusters, that number the root.
    centroids_, medoids_ : array
        ``[clusters, features]``, as `store_centers` says.

    References: R. Campello, D. Moulavi and J. Sander, PAKDD 2013; L. McInnes and J. Healy, ICDMW
    2017.

    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.3], [20.0]]
    >>> hr.learn.HDBSCAN(min_cluster_size=3, min_samples=2).fit_predict(rows).tolist()
    [0, 0, 0, 1, 1, 1, -1]
    """

    _fitted_as = "labels_"
    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "clusterer",
        "input_tags": {"allow_nan": True},
    }
    p: ClassVar[int] = 2  # of the Minkowski metric
    labels_: Any
    probabilities_: Any
    centroids_: Any
    medoids_: Any

    def __init__(
        self,
        min_cluster_size: int = 5,
        min_samples: int | None = None,
        cluster_selection_epsilon: float = 0.0,
        max_cluster_size: int | None = None,
        metric: str = "euclidean",
        metric_params: Any = None,
        alpha: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 40,
        n_jobs: int | None = None,
        cluster_selection_method: str = "eom",
        allow_single_cluster: bool = False,
        store_centers: str | None = None,
        copy: bool = False,
    ) -> None:
        self.min_cluster_size = min_cluster_size
        self.min_samples = min_samples
        self.cluster_selection_epsilon = cluster_selection_epsilon
        self.max_cluster_size = max_cluster_size
        self.metric = metric
        self.metric_params = metric_params
        self.alpha = alpha
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.n_jobs = n_jobs
        self.cluster_selection_method = cluster_selection_method
        self.allow_single_cluster = allow_single_cluster
        self.store_centers = store_centers
        self.copy = copy

    def _check_params(self) -> str:
        """The engine's metric."""
        check_count(self, "min_cluster_size", "leaf_size")
        if self.min_cluster_size < 2:
            refuse(self, "min_cluster_size", "an integer from 2 on")
        for name in ("min_samples", "max_cluster_size"):
            if getattr(self, name) is not None:
                check_count(self, name)
        if not (is_number(self.cluster_selection_epsilon) and self.cluster_selection_epsilon >= 0):
            refuse(self, "cluster_selection_epsilon", "a number from 0 on")
        if not (is_number(self.alpha) and self.alpha > 0):
            refuse(self, "alpha", "a number above 0")
        if self.cluster_selection_method not in ("eom", "leaf"):
            refuse(self, "cluster_selection_method", "'eom' or 'leaf'")
        if self.store_centers not in (None, "centroid", "medoid", "both"):
            refuse(self, "store_centers", "None, 'centroid', 'medoid' or 'both'")
        metric = engine_metric(self)
        if self.algorithm in ("kd_tree", "ball_tree") and metric in ("cosine", "sqeuclidean"):
            raise InvalidArgumentError(
                f"HDBSCAN: {self.metric} is not a valid metric for this algorithm: "
                f"algorithm={self.algorithm!r}; use 'auto' or 'brute'"
            )
        return metric

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the clusters of `X`, ``[samples, features]``; rows that are not finite are noise."""
        metric = self._check_params()
        rows = check_rows(self, X, fit=True, allow_nan="inf", min_rows=2)
        sums = np.asarray(rows.astype("float64").sum(axis=1))
        finite = np.flatnonzero(np.isfinite(sums))
        clean = rows if len(finite) == len(rows) else rows[finite]
        samples = self.min_cluster_size if self.min_samples is None else self.min_samples
        if len(finite) < max(samples, 2):
            raise InvalidArgumentError(
                f"HDBSCAN: min_samples ({samples}) must be at most the number of samples in X "
                f"({len(finite)}), and there must be more than one sample that is finite"
            )
        mark("hdbscan")
        brute = self.algorithm == "brute" or metric in ("cosine", "sqeuclidean")
        linkage = _core.hdbscan_linkage(clean._node, samples, self.alpha, brute, metric)
        self._linkage = [np.asarray(Array(column)) for column in linkage]
        condensed = _core.hdbscan_condense(linkage, self.min_cluster_size)
        most = len(finite) if self.max_cluster_size is None else self.max_cluster_size
        labels, probabilities = _core.hdbscan_select(
            condensed,
            self.cluster_selection_method == "leaf",
            bool(self.allow_single_cluster),
            self.cluster_selection_epsilon,
            most,
        )
        if self.store_centers is not None:
            self._set_centers(X, clean, np.asarray(Array(labels)), np.asarray(Array(probabilities)))
        tree = [np.asarray(Array(column)) for column in condensed]
        if len(finite) < len(rows):
            names = np.append(finite, np.arange(len(rows), len(rows) + int(tree[0].max()) + 1))
            tree[:2] = (names[numbers] for numbers in tree[:2])
        self._condensed = dict(zip(_TREE_COLUMNS, tree, strict=True))
        bad = np.where(np.isnan(sums), _MISSING, _INFINITE)
        self._outside = None if len(finite) == len(rows) else (finite, bad)
        self.labels_ = answer(X, self._spread(Array(labels)))
        nowhere = np.where(bad == _MISSING, np.nan, 0.0)
        self.probabilities_ = answer(X, self._spread(Array(probabilities), nowhere))
        return self

    def _check_loaded(self) -> None:
        left, right, _, _ = self._linkage
        made = np.arange(len(left)) + len(left) + 1  # what each merge may join
        for side in (left, right):
            if (side < 0).any() or (side >= made).any():
                raise ValueError("HDBSCAN: a merge joins what is not there yet")

    @property
    def condensed_tree_(self) -> DataFrame:
        """What leaves which cluster."""
        self._check_fitted()
        return DataFrame(self._condensed)

    def _spread(self, values: Array, rest: Any = None) -> Array:
        """Values of the finite rows among those of the other rows, by default their labels."""
        if self._outside is None:
            return values
        finite, bad = self._outside
        made = (bad if rest is None else rest).copy()
        made[finite] = np.asarray(values)
        return frozen(made)

    def _set_centers(self, X: Any, rows: Array, labels: Any, probabilities: Any) -> None:
        order = np.argsort(labels, kind="stable")
        ends = np.searchsorted(labels[order], np.arange(labels.max() + 2))
        members = [order[begin:end] for begin, end in itertools.pairwise(ends)]
        shape = (len(members), rows.shape[1])
        if self.store_centers in ("centroid", "both"):
            means = [
                np.average(np.asarray(rows[own], np.float64), axis=0, weights=probabilities[own])
                for own in members
            ]
            self.centroids_ = answer(X, frozen(np.array(means, dtype=np.float64).reshape(shape)))
        if self.store_centers in ("medoid", "both"):
            nodes = rows._node, frozen(labels)._node, frozen(probabilities)._node
            places = np.asarray(Array(_core.medoids(*nodes, engine_metric(self))))
            self.medoids_ = answer(X, frozen(np.asarray(rows[places], np.float64).reshape(shape)))

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit, and the cluster of each row."""
        return self.fit(X).labels_

    def dbscan_clustering(self, cut_distance: float, min_cluster_size: int = 5) -> Any:
        """The clusters of rows that merge below a mutual reachability distance: DBSCAN's core rows.

        Smaller clusters than `min_cluster_size` are noise.
        """
        self._check_fitted()
        linkage = [frozen(column)._node for column in self._linkage]
        labels = Array(_core.hdbscan_cut(linkage, cut_distance, min_cluster_size))
        return answer(self.labels_, self._spread(labels))
