# SPDX-License-Identifier: Apache-2.0
"""Distances of all pairs of rows, and scores of clusters by distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import Estimator, answer, check_rows, frozen, is_number
from headrace.learn.metrics.classification import check_lengths, labels_of
from headrace.random import seed_from

Numbers = np.ndarray[Any, Any]

METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "cosine": "cosine",
    "manhattan": "manhattan",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "chebyshev": "chebyshev",
    "infinity": "chebyshev",
}


def named_metric(name: str, metric: Any) -> str:
    """The engine's word for a metric."""
    if not isinstance(metric, str) or metric not in METRICS:
        raise UnsupportedError(
            f"{name}: this metric is not supported: metric={metric!r}; use one of {sorted(METRICS)}"
        )
    return METRICS[metric]


def _rows(op: str, X: Any) -> Array:
    return check_rows(type(op, (Estimator,), {})(), X, fit=True)


def _clusters(op: str, X: Any, labels: Any) -> tuple[Array, Numbers, Numbers]:
    """Rows, the number of each one's cluster, and the sizes of clusters."""
    rows, values = _rows(op, X), labels_of(labels, "labels")
    check_lengths(len(rows), len(values.series))
    places = values.numbers(values.levels()).to_numpy().astype(np.int64)
    sizes = np.bincount(places)
    if not 1 < len(sizes) < len(rows):
        raise InvalidArgumentError(
            f"{op}: Number of labels is {len(sizes)}. Valid values are 2 to n_samples - 1 "
            f"(inclusive): n_samples={len(rows)}"
        )
    return rows, places, sizes


def _means(rows: Numbers, places: Numbers, sizes: Numbers) -> Numbers:
    order = np.argsort(places, kind="stable")
    sums = np.add.reduceat(rows[order], np.cumsum(sizes) - sizes, axis=0, dtype=np.float64)
    return sums / sizes[:, None]


def pairwise_distances(
    X: Any, Y: Any = None, metric: str = "euclidean", *, n_jobs: int | None = None
) -> Any:
    """Distances from each row of `X` to each row of `Y`: float64 ``[rows of X, rows of Y]``.

    Each is a sum over the features in order, without the cancellation of products. Without `Y`, it
    is `X`, whose rows have no distance to themselves.

    Parameters
    ----------
    X, Y : array_like
        ``[samples, features]``, finite.
    metric : str, default "euclidean"
        As in `NearestNeighbors`.
    n_jobs
        Accepted and not used.

    >>> hr.learn.metrics.pairwise_distances([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]]).tolist()
    [[0.0], [5.0]]
    """
    op = "pairwise_distances"
    rows = _rows(op, X)
    others = rows if Y is None else _rows(op, Y)
    word = named_metric(op, metric)
    mark(op)
    return answer(X, Array(_core.pairwise_distances(rows._node, others._node, word, Y is None)))


def silhouette_samples(X: Any, labels: Any, *, metric: str = "euclidean") -> Any:
    """How much nearer each row is to its own cluster than to the next: float64 ``[samples]``.

    ``(b - a) / max(a, b)`` of the mean distances to the other rows of its cluster, `a`, and to the
    rows of the nearest other cluster, `b`; 0 for a row that is alone. All pairs are compared, and
    memory grows with the number of rows only (P. Rousseeuw 1987).

    >>> rows = [[0.0], [1.0], [5.0], [6.0]]
    >>> hr.learn.metrics.silhouette_samples(rows, ["a", "a", "b", "b"]).round(3).tolist()
    [0.818, 0.778, 0.778, 0.818]
    """
    rows, places, _ = _clusters("silhouette_samples", X, labels)
    word = named_metric("silhouette_samples", metric)
    mark("silhouette_samples")
    return answer(X, Array(_core.silhouettes(rows._node, frozen(places)._node, word)))


def silhouette_score(
    X: Any,
    labels: Any,
    *,
    metric: str = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
) -> float:
    """The mean of `silhouette_samples`, from -1 to 1; of `sample_size` rows drawn at random.

    >>> hr.learn.metrics.silhouette_score([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    0.797979797979798
    """
    if sample_size is not None:
        if not (is_number(sample_size, integer=True) and 0 < sample_size <= len(X)):
            raise InvalidArgumentError(
                f"silhouette_score: not a number of rows: sample_size={sample_size!r}; use 2 to "
                f"{len(X)}"
            )
        seed = seed_from(random_state)
        rows, values = _rows("silhouette_score", X), labels_of(labels, "labels")
        check_lengths(len(rows), len(values.series))
        drawn = np.asarray(Array(_core.random_sample(len(rows), sample_size, seed, 0)))
        places = values.numbers(values.levels()).to_numpy()[drawn]
        return silhouette_score(rows[drawn], places, metric=metric)
    return float(np.mean(np.asarray(silhouette_samples(X, labels, metric=metric))))


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """The variance between clusters over that inside them, each by its degrees of freedom.

    >>> hr.learn.metrics.calinski_harabasz_score([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    50.0
    """
    made, places, sizes = _clusters("calinski_harabasz_score", X, labels)
    rows = np.asarray(made, dtype=np.float64)
    means = _means(rows, places, sizes)
    between = float((sizes[:, None] * (means - rows.mean(axis=0)) ** 2).sum())
    inside = float(((rows - means[places]) ** 2).sum())
    if inside == 0:
        return 1.0
    return between * (len(rows) - len(sizes)) / (inside * (len(sizes) - 1))


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """The mean over clusters of their likeness to the most alike one: less is better.

    >>> hr.learn.metrics.davies_bouldin_score([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    0.2
    """
    made, places, sizes = _clusters("davies_bouldin_score", X, labels)
    rows = np.asarray(made, dtype=np.float64)
    means = _means(rows, places, sizes)
    own = np.sqrt(((rows - means[places]) ** 2).sum(axis=1))
    widths = np.bincount(places, own) / sizes
    apart = np.asarray(pairwise_distances(means))
    if np.allclose(widths, 0) or np.allclose(apart, 0):
        return 0.0
    apart = np.where(apart == 0, np.inf, apart)
    return float(((widths[:, None] + widths) / apart).max(axis=1).mean())
