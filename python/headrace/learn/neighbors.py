# SPDX-License-Identifier: Apache-2.0
"""Nearest neighbours: who they are, and what they vote for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    beside,
    check_labels,
    check_rows,
    check_targets,
    frozen,
    is_number,
    is_ours,
    refuse,
)
from headrace.learn.few_rows import few_rows
from headrace.learn.labels import check_classes
from headrace.learn.metrics.distances import METRICS, named_metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_MINKOWSKI = {1: "manhattan", 2: "euclidean", None: "euclidean", np.inf: "chebyshev"}
_ALGORITHMS = ("auto", "ball_tree", "kd_tree", "brute")


def engine_metric(estimator: Any) -> str:
    """The engine's word for `metric`, `p` and `metric_params`."""
    if estimator.algorithm not in _ALGORITHMS:
        refuse(estimator, "algorithm", f"one of {_ALGORITHMS}; all give the same neighbours")
    estimator._refuse_params(metric_params=None)
    if estimator.metric == "minkowski":
        if estimator.p is not None and not (is_number(estimator.p) and estimator.p > 0):
            refuse(estimator, "p", "1, 2 or infinity")
        estimator._refuse_params(p=estimator.p if estimator.p in _MINKOWSKI else 2)
        return _MINKOWSKI[estimator.p]
    return named_metric(type(estimator).__name__, estimator.metric)


def metric_named(metric: Any, p: float | None) -> str | None:
    """The engine's word for a metric, None if it has none."""
    if metric == "minkowski":
        return _MINKOWSKI.get(p)
    return METRICS.get(metric) if isinstance(metric, str) else None


class _Neighbors(Estimator):
    """What all that look for neighbours have in common."""

    _fitted_as = "n_samples_fit_"
    n_neighbors: int
    n_samples_fit_: int
    effective_metric_: str

    def _fit_rows(self, X: Any) -> Array:
        self._check_count(self.n_neighbors)
        self.effective_metric_ = engine_metric(self)
        rows = check_rows(self, X, fit=True)
        self._fit_X = answer(X, rows)
        self.n_samples_fit_ = len(rows)
        return rows

    def _check_count(self, count: Any) -> None:
        if not is_number(count, integer=True):
            raise TypeMismatchError(
                f"n_neighbors does not take {type(count)} value, enter integer value"
            )
        if count < 1:
            raise InvalidArgumentError(f"Expected n_neighbors > 0. Got {count}")

    def _queries(self, X: Any) -> tuple[Any, Any, Any]:
        """The fitted rows, the queries, and the data whose kind results have."""
        self._check_fitted()
        fitted = self._fit_X if is_ours(self._fit_X) else frozen(self._fit_X)
        if X is None:
            return fitted._node, fitted._node, self._fit_X
        return fitted._node, check_rows(self, X)._node, X

    def _nearest(self, X: Any, count: int | None) -> tuple[Array, Array, Any]:
        """Indices and distances, and the data whose kind results have."""
        rows, queries, kind = self._queries(X)
        count = self.n_neighbors if count is None else count
        self._check_count(count)
        if count > self.n_samples_fit_ - (X is None):
            raise InvalidArgumentError(
                f"Expected n_neighbors {'<' if X is None else '<='} n_samples_fit, but n_neighbors "
                f"= {count}, n_samples_fit = {self.n_samples_fit_}, n_samples = "
                f"{len(Array(queries))}"
            )
        known = vars(self).get("_known")
        if known is None or X is not known.queries or count > known.most:
            return *self._search(rows, queries, count, X is None), kind
        if self.effective_metric_ not in known.found:
            most = min(known.most, self.n_samples_fit_)
            known.found[self.effective_metric_] = self._search(rows, queries, most, False)
        indices, distances = known.found[self.effective_metric_]
        return indices[:, :count], distances[:, :count], kind

    def _search(self, rows: Any, queries: Any, count: int, others: bool) -> tuple[Array, Array]:
        mark("nearest_neighbors")
        found = _core.nearest_neighbors(
            rows, queries, count, self.effective_metric_, others, self.algorithm
        )
        return Array(found[0]), Array(found[1])

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Distances (float64) and row numbers (int64) of the nearest rows, nearest first.

        Ties go to the lowest row. Without `X`, for each row of `fit` its neighbours but itself.
        """
        indices, distances, kind = self._nearest(X, n_neighbors)
        if return_distance:
            return answer(kind, distances), answer(kind, indices)
        return answer(kind, indices)

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """The neighbours as a sparse matrix, ``[queries, rows]``: ones or distances.

        A `hr.tensor.csr_matrix` for data of Headrace, else SciPy's.
        """
        indices, distances, kind = self._nearest(X, n_neighbors)
        queries, count = indices.shape
        offsets = np.arange(queries + 1, dtype=np.int64) * count
        return self._graph(kind, mode, offsets, indices.reshape(-1), distances.reshape(-1))

    def _graph(self, kind: Any, mode: str, offsets: Any, indices: Any, distances: Any) -> Any:
        if mode not in ("connectivity", "distance"):
            raise InvalidArgumentError(
                f"{type(self).__name__}: no such graph: mode={mode!r}; use 'connectivity' or "
                "'distance'"
            )
        values = np.ones(len(indices)) if mode == "connectivity" else np.asarray(distances)
        shape = (len(offsets) - 1, self.n_samples_fit_)
        if is_ours(kind):
            numbers = np.repeat(np.arange(shape[0]), np.diff(offsets))
            from headrace.tensor.sparse import csr_matrix

            return csr_matrix((values, (numbers, np.asarray(indices))), shape=shape)
        from scipy import sparse

        return sparse.csr_matrix((values, np.asarray(indices), np.asarray(offsets)), shape=shape)


class NearestNeighbors(_Neighbors):
    """The nearest rows, and those within a radius, in tiles of all pairs or by a kd-tree.

    In tiles float32 products only tell which rows are too far, within their proven error; float64
    distances decide, ties by the lowest row. A matrix of all distances is never made. The same bits
    for any number of threads. `kneighbors` of rows and queries on a GPU stays there, with the same
    bits: Euclidean distances, up to 256 neighbours.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbours that `kneighbors` gives.
    radius : float, default 1.0
        Of `radius_neighbors`.
    algorithm : {"auto", "ball_tree", "kd_tree", "brute"}
        All give the same neighbours. Trees, both of them a kd-tree that each call makes, serve
        Euclidean distances in at most 12 dimensions; ``"auto"`` takes it for a thousand queries and
        more in at most four.
    leaf_size, n_jobs
        Accepted and not used.
    metric : str, default "minkowski"
        ``"minkowski"`` with `p` 1, 2 or infinity, ``"euclidean"``, ``"sqeuclidean"``,
        ``"cosine"``, ``"manhattan"`` or ``"chebyshev"``, and their other names.
    p : float, default 2
        Power of the Minkowski metric.
    metric_params
        Only None.

    >>> model = hr.learn.NearestNeighbors(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> distances, indices = model.kneighbors([[0.9]])
    >>> indices.tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: str = "minkowski",
        p: float | None = 2,
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows; those of NumPy stay where they are."""
        self._fit_rows(X)
        return self

    def _within(self, X: Any, radius: float | None) -> tuple[Any, Any, Any, Any]:
        rows, queries, kind = self._queries(X)
        radius = self.radius if radius is None else radius
        if not is_number(radius):
            refuse(self, "radius", "a number")
        mark("neighbors_within")
        found = _core.neighbors_within(
            rows, queries, radius, self.effective_metric_, X is None, self.algorithm
        )
        return (*(np.asarray(Array(node)) for node in found), kind)

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Distances and row numbers of all rows at most `radius` away, a NumPy array a query.

        Rows ascend, or distances with `sort_results`. Without `X`, for each row of `fit` its
        neighbours but itself.
        """
        if sort_results and not return_distance:
            raise InvalidArgumentError("return_distance must be True if sort_results is True.")
        offsets, indices, distances, _ = self._within(X, radius)
        made = [np.empty(len(offsets) - 1, dtype=object) for _ in range(2)]
        for query, (begin, end) in enumerate(itertools.pairwise(offsets)):
            parts = distances[begin:end], indices[begin:end]
            order = np.argsort(parts[0], kind="stable") if sort_results else slice(None)
            for place, part in zip(made, parts, strict=True):
                place[query] = part[order]
        return (made[0], made[1]) if return_distance else made[1]

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """The rows at most `radius` away as a sparse matrix; its columns ascend in each row."""
        self._refuse_sorted(sort_results)
        offsets, indices, distances, kind = self._within(X, radius)
        return self._graph(kind, mode, offsets, indices, distances)

    def _refuse_sorted(self, sort_results: bool) -> None:
        if sort_results:
            raise UnsupportedError(
                f"{type(self).__name__}.radius_neighbors_graph: columns ascend: "
                "sort_results=True; leave it at False"
            )


class _Known(NamedTuple):
    """Neighbours of the test rows of a fold, as many as any candidate asks for, by metric."""

    queries: Any
    most: int
    found: dict[str, tuple[Array, Array]]


class _SharedNeighbors:
    """See `Estimator._fit_folds`."""

    @staticmethod
    def fold(fold: Any, candidates: list[dict[str, Any]]) -> Callable[[_Voters, Any], bool]:
        """Look for the neighbours of the test rows once, for the largest `n_neighbors`."""
        counts: list[Any] = [each.get("n_neighbors") for each in candidates]
        most = max((int(each) for each in counts if is_number(each, integer=True)), default=0)
        found: dict[str, tuple[Array, Array]] = {}

        def fit(model: _Voters, candidate: Any) -> bool:
            model.fit(*fold.train_rows)
            model._known = _Known(fold.test_rows[0], max(most, model.n_neighbors), found)
            return True

        return fit


class _Voters(_Neighbors):
    """What predicts by the neighbours' labels or targets."""

    weights: str | Callable[..., Any] | None
    _known: _Known  # while a search scores the model

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return _SharedNeighbors()

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and what they vote for."""
        raise NotImplementedError

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float | None = 2,
        metric: str = "minkowski",
        metric_params: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def _check_weights(self) -> None:
        if self.weights not in ("uniform", "distance", None) and not callable(self.weights):
            refuse(self, "weights", "'uniform', 'distance' or a callable")

    def _votes(self, X: Any) -> tuple[Any, Any]:
        """Neighbours of the queries and their weights, ``[queries, n_neighbors]``."""
        indices, distances, _ = self._nearest(X, None)
        near, apart = np.asarray(indices), np.asarray(distances)
        if self.weights == "distance":
            with np.errstate(divide="ignore"):
                weights = 1 / apart
            same = np.isinf(weights)  # rows at the query itself are the only ones to vote
            return near, np.where(same.any(axis=1, keepdims=True), same, weights)
        if callable(self.weights):
            return near, np.asarray(self.weights(apart))
        return near, np.ones_like(apart)


class KNeighborsClassifier(_Voters):
    """Says the class that most of the nearest rows have, the first of equal ones.

    Parameters
    ----------
    n_neighbors : int, default 5
        Neighbours that vote.
    weights : {"uniform", "distance"}, callable or None
        Votes count one, one over the distance, or what the callable makes of the distances.
    algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `NearestNeighbors`.

    >>> model = hr.learn.KNeighborsClassifier(3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.1]]).tolist(), model.predict_proba([[0.9]]).round(3).tolist()
    ([0], [[0.667, 0.333]])
    """

    _tags: ClassVar[Mapping[str, Any]] = {"estimator_type": "classifier"}
    classes_: np.ndarray[Any, Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their labels."""
        self._check_weights()
        rows = self._fit_rows(X)
        self.classes_, self._y = check_classes(self, check_labels(self, y, len(rows)))
        return self

    @few_rows
    def predict(self, X: Any) -> Any:
        """The class with the most votes: ``[samples]``."""
        shares = self._shares(X)
        labels = self.classes_.take(shares.argmax(axis=1))
        return beside(X, labels) if labels.dtype.kind in "biuf" else labels

    def predict_proba(self, X: Any) -> Any:
        """Shares of the votes: float64 ``[samples, classes]``."""
        return beside(X, self._shares(X))

    def _shares(self, X: Any) -> np.ndarray[Any, Any]:
        near, weights = self._votes(X)
        codes, queries = self._y[near], np.arange(len(near))
        made = np.zeros((len(near), len(self.classes_)))
        for place in range(near.shape[1]):
            made[queries, codes[:, place]] += weights[:, place]
        total = made.sum(axis=1, keepdims=True)
        return made / np.where(total == 0, 1.0, total)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        from headrace.learn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)


class KNeighborsRegressor(_Voters):
    """Says the weighted mean of the targets of the nearest rows, in float64.

    Parameters
    ----------
    n_neighbors, weights, algorithm, leaf_size, p, metric, metric_params, n_jobs
        As in `KNeighborsClassifier`.

    >>> model = hr.learn.KNeighborsRegressor(2).fit([[0], [1], [2], [3]], [0.0, 0.0, 1.0, 1.0])
    >>> model.predict([[1.6]]).tolist()
    [0.5]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "regressor",
        "target_tags": {"multi_output": True, "single_output": True},
    }

    def fit(self, X: Any, y: Any) -> Self:
        """Keep the rows and their targets, ``[samples]`` or ``[samples, outputs]``."""
        self._check_weights()
        rows = self._fit_rows(X)
        self._y = check_targets(self, y, len(rows))
        return self

    @few_rows
    def predict(self, X: Any) -> Any:
        """The mean of the targets: float64 ``[samples]`` or ``[samples, outputs]``."""
        near, weights = self._votes(X)
        columns = self._y.reshape(len(self._y), -1)
        total = weights.sum(axis=1)
        made = [(column[near] * weights).sum(axis=1) / total for column in columns.T]
        found = made[0] if self._y.ndim == 1 else np.stack(made, axis=1)
        return beside(X, found)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination of the prediction."""
        from headrace.learn.metrics import r2_score

        return r2_score(y, self.predict(X), sample_weight=sample_weight)
