# SPDX-License-Identifier: Apache-2.0
"""DBSCAN: clusters of dense rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from headrace import _core
from headrace.array.array import Array
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    check_count,
    check_rows,
    check_weights,
    engine_weights,
    is_number,
    refuse,
)
from headrace.learn.neighbors import engine_metric

if TYPE_CHECKING:
    from collections.abc import Mapping


class DBSCAN(Estimator):
    """Clusters of rows that are dense: scikit-learn's labels, without lists of neighbours.

    Up to three Euclidean dimensions go through a grid, others through tiles of all pairs. Scratch
    grows with the number of rows only. The same labels for any number of threads, and on a GPU,
    where Euclidean distances and their squares stay.

    Parameters
    ----------
    eps : float, default 0.5
        Rows at most that far apart are neighbours.
    min_samples : int, default 5
        A row with that many neighbours, itself included, or that weight of them, is a core row.
    metric : str, default "euclidean"
        As in `NearestNeighbors`.
    p : float, optional
        Power of the Minkowski metric; None means 2.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        All give the same clusters.
    leaf_size, n_jobs
        Accepted and not used.
    metric_params
        Only None.

    Attributes
    ----------
    labels_ : array
        int64 ``[samples]``; clusters are numbered by their first core row, noise is -1.
    core_sample_indices_ : array
        int64, ascending.
    components_ : array
        The core rows.

    >>> rows = [[1.0, 2.0], [2.0, 2.0], [2.0, 3.0], [8.0, 7.0], [8.0, 8.0], [25.0, 80.0]]
    >>> hr.learn.DBSCAN(eps=3, min_samples=2).fit_predict(rows).tolist()
    [0, 0, 0, 1, 1, -1]
    """

    _tags: ClassVar[Mapping[str, Any]] = {"estimator_type": "clusterer"}
    _fitted_as = "labels_"
    labels_: Any
    core_sample_indices_: Any
    components_: Any

    def __init__(
        self,
        eps: float = 0.5,
        *,
        min_samples: int = 5,
        metric: str = "euclidean",
        metric_params: Any = None,
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
        self.metric = metric
        self.metric_params = metric_params
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of `X`, ``[samples, features]``."""
        if not (is_number(self.eps) and self.eps > 0):
            refuse(self, "eps", "a number above 0")
        check_count(self, "min_samples")
        metric = engine_metric(self)
        rows = check_rows(self, X, fit=True)
        weights = check_weights(self, sample_weight, len(rows), negative=True)
        weighed = engine_weights(weights)
        mark("dbscan")
        labels, core = _core.dbscan(rows._node, weighed._node, self.eps, self.min_samples, metric)
        self.labels_ = answer(X, Array(labels))
        self.core_sample_indices_ = answer(X, Array(core))
        self.components_ = answer(X, rows[Array(core)])
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and the cluster of each row."""
        return self.fit(X, sample_weight=sample_weight).labels_
