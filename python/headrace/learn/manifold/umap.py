# SPDX-License-Identifier: Apache-2.0
"""UMAP: few coordinates in which the fuzzy graph of neighbours is kept."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    PrefixedNames,
    Transformer,
    answer,
    beside,
    check_count,
    check_rows,
    frozen,
    is_number,
    is_ours,
    refuse,
)
from headrace.learn.decomposition.pca import PCA
from headrace.learn.manifold.tsne import given_init, nearest_others
from headrace.learn.neighbors import engine_metric
from headrace.random.generator import Generator, seed_from
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

_EXTENT = 10.0  # of initial positions


def similarity_curve(spread: float, min_dist: float) -> tuple[float, float]:
    """The a and b of 1 / (1 + a d^(2 b)) nearest to 1 up to `min_dist` and exp(-d / spread) on.

    Least squares at 300 distances up to 3 `spread`, by Levenberg's and Marquardt's steps.
    """
    apart = np.linspace(0, spread * 3, 300)
    wanted = np.where(apart < min_dist, 1.0, np.exp(-(apart - min_dist) / spread))
    apart, wanted = apart[1:], wanted[1:]  # at 0 all curves are 1
    logs = np.log(apart)

    def misfit(at: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        with np.errstate(over="ignore"):
            return 1 / (1 + at[0] * apart ** (2 * at[1])) - wanted

    at, damping = np.ones(2), 1e-3
    left = misfit(at)
    for _ in range(500):
        square = (left + wanted) ** 2 * apart ** (2 * at[1])
        slopes = np.stack([-square, -2 * at[0] * logs * square], axis=1)
        normal = slopes.T @ slopes
        step = np.linalg.solve(normal + damping * np.diag(normal.diagonal()), slopes.T @ left)
        tried = misfit(at - step)
        if (tried**2).sum() > (left**2).sum():
            damping *= 10
            if damping > 1e12:
                break
            continue
        at, left, damping = at - step, tried, damping / 10
        if np.abs(step).max() < 1e-10 * np.abs(at).max():
            break
    return float(at[0]), float(at[1])


class UMAP(PrefixedNames, Transformer):
    """Embed rows in few dimensions so that the fuzzy graph of their neighbours is kept (UMAP).

    L. McInnes, J. Healy and J. Melville, arXiv 1802.03426, 2018, with umap-learn's parameters. Two
    things differ: neighbours are exact, and in an epoch all edges pull at once, from the positions
    of the last epoch, where umap-learn draws edges one after the other. So a seed gives the same
    bits for any number of threads; maps are not umap-learn's, and are about half as wide. Rows on a
    GPU stay there, and give the CPU's bits up to 3 components; the graph, its spectrum and
    `transform` are the host's work. Time is
    O(samples^2 features + n_epochs samples (n_neighbors + negative samples)), memory about 40 bytes
    a sample and neighbour.

    Parameters
    ----------
    n_neighbors : int, default 15
        Neighbours of the graph, the row itself among them; at least 2.
    n_components : int, default 2
        Dimensions of the embedding.
    metric : str, default "euclidean"
        As in `NearestNeighbors`, or ``"precomputed"``: `X` is a square matrix of distances.
    n_epochs : int, optional
        By default 500; umap-learn's 200 for more than 10,000 rows is too few where edges pull at
        once (trustworthiness of a curved sheet of 20,000 rows: 0.887 after 200, 0.926 after 500).
    learning_rate : float, default 1.0
        Falls to 0 over the epochs.
    init : {"spectral", "random", "pca"} or array
        Initial positions. ``"spectral"`` is ``"pca"`` where the graph falls apart, and where `X`
        has too few columns for it ``"random"``.
    min_dist, spread : float, default 0.1 and 1.0
        How near points may come, and the unit of the embedding; they choose `a` and `b`.
    set_op_mix_ratio : float, default 1.0
        From the intersection (0) to the union (1) of both directions of edges.
    local_connectivity : float, default 1.0
        Neighbours that are wholly connected.
    repulsion_strength, negative_sample_rate : float and int, default 1.0 and 5
        What a negative sample weighs, and how many an edge of the largest weight has.
    a, b : float, optional
        Of the similarity 1 / (1 + a d^(2 b)).
    random_state : int, generator or None
        Seed of negative samples and of a random `init`.
    low_memory, n_jobs, transform_queue_size, transform_seed, force_approximation_algorithm, \
    verbose, tqdm_kwds
        Accepted and not used.
    metric_kwds, output_metric, output_metric_kwds, angular_rp_forest, target_n_neighbors, \
    target_metric, target_metric_kwds, target_weight, transform_mode, unique, densmap, \
    dens_lambda, dens_frac, dens_var_shift, output_dens, disconnection_distance, precomputed_knn
        Only their defaults.

    Attributes
    ----------
    embedding_ : array
        float32 ``[samples, n_components]``.
    graph_ : csr_matrix
        float32 weights of edges, symmetric; SciPy's for data that are not of Headrace.

    >>> rows = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> model = hr.learn.UMAP(n_neighbors=3, n_components=1, random_state=0).fit(rows)
    >>> model.embedding_.shape, model.transform([[0.1]]).tolist() == [model.embedding_[1].tolist()]
    ((6, 1), True)
    """

    _tags: ClassVar[Mapping[str, Any]] = {"transformer_tags": {"preserves_dtype": ["float32"]}}
    _fitted_as = "embedding_"
    algorithm: ClassVar[str] = "auto"
    p: ClassVar[float] = 2
    metric_params: ClassVar[None] = None
    embedding_: Any

    def __init__(
        self,
        n_neighbors: int = 15,
        n_components: int = 2,
        metric: str = "euclidean",
        metric_kwds: Any = None,
        output_metric: str = "euclidean",
        output_metric_kwds: Any = None,
        n_epochs: int | None = None,
        learning_rate: float = 1.0,
        init: Any = "spectral",
        min_dist: float = 0.1,
        spread: float = 1.0,
        low_memory: bool = True,
        n_jobs: int = -1,
        set_op_mix_ratio: float = 1.0,
        local_connectivity: float = 1.0,
        repulsion_strength: float = 1.0,
        negative_sample_rate: float = 5,
        transform_queue_size: float = 4.0,
        a: float | None = None,
        b: float | None = None,
        random_state: Any = None,
        angular_rp_forest: bool = False,
        target_n_neighbors: int = -1,
        target_metric: str = "categorical",
        target_metric_kwds: Any = None,
        target_weight: float = 0.5,
        transform_seed: int = 42,
        transform_mode: str = "embedding",
        force_approximation_algorithm: bool = False,
        verbose: bool = False,
        tqdm_kwds: Any = None,
        unique: bool = False,
        densmap: bool = False,
        dens_lambda: float = 2.0,
        dens_frac: float = 0.3,
        dens_var_shift: float = 0.1,
        output_dens: bool = False,
        disconnection_distance: float | None = None,
        precomputed_knn: Any = (None, None, None),
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.metric = metric
        self.metric_kwds = metric_kwds
        self.output_metric = output_metric
        self.output_metric_kwds = output_metric_kwds
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.init = init
        self.min_dist = min_dist
        self.spread = spread
        self.low_memory = low_memory
        self.n_jobs = n_jobs
        self.set_op_mix_ratio = set_op_mix_ratio
        self.local_connectivity = local_connectivity
        self.repulsion_strength = repulsion_strength
        self.negative_sample_rate = negative_sample_rate
        self.transform_queue_size = transform_queue_size
        self.a = a
        self.b = b
        self.random_state = random_state
        self.angular_rp_forest = angular_rp_forest
        self.target_n_neighbors = target_n_neighbors
        self.target_metric = target_metric
        self.target_metric_kwds = target_metric_kwds
        self.target_weight = target_weight
        self.transform_seed = transform_seed
        self.transform_mode = transform_mode
        self.force_approximation_algorithm = force_approximation_algorithm
        self.verbose = verbose
        self.tqdm_kwds = tqdm_kwds
        self.unique = unique
        self.densmap = densmap
        self.dens_lambda = dens_lambda
        self.dens_frac = dens_frac
        self.dens_var_shift = dens_var_shift
        self.output_dens = output_dens
        self.disconnection_distance = disconnection_distance
        self.precomputed_knn = precomputed_knn

    def _all_tags(self) -> Mapping[str, Any]:
        return {**self._tags, "input_tags": {"pairwise": self.metric == "precomputed"}}

    def _check_loaded(self) -> None:
        data, indices, indptr = self._edges
        size, edges = self.embedding_.shape[0], len(data)
        fine = len(indptr) == size + 1 and indptr[0] == 0 and indptr[-1] == edges == len(indices)
        fine = fine and (np.diff(indptr) >= 0).all() and (indices >= 0).all()
        if not fine or (indices >= size).any():
            raise ValueError("UMAP: its edges lead to other rows")

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    @property
    def graph_(self) -> Any:
        """Weights of edges."""
        self._check_fitted()
        data, indices, indptr = self._edges
        shape = (len(indptr) - 1,) * 2
        if is_ours(self.embedding_):
            return csr_matrix((data, indices, indptr), shape=shape)
        from scipy import sparse

        return sparse.csr_matrix((data, indices, indptr), shape=shape)

    def _check_params(self) -> None:
        check_count(self, "n_components")
        if not (is_number(self.n_neighbors, integer=True) and self.n_neighbors > 1):
            refuse(self, "n_neighbors", "an integer from 2 on")
        if self.n_epochs is not None and not (
            is_number(self.n_epochs, integer=True) and self.n_epochs >= 0
        ):
            refuse(self, "n_epochs", "an integer from 0 on, or None")
        for name in ("min_dist", "local_connectivity", "repulsion_strength"):
            if not (is_number(getattr(self, name)) and getattr(self, name) >= 0):
                refuse(self, name, "a number from 0 on")
        if not (is_number(self.negative_sample_rate) and self.negative_sample_rate >= 0):
            refuse(self, "negative_sample_rate", "a number from 0 on")
        if not (is_number(self.learning_rate) and self.learning_rate > 0):
            refuse(self, "learning_rate", "a number above 0")
        if not (is_number(self.spread) and self.spread > 0 and self.min_dist <= self.spread):
            refuse(self, "spread", f"a number above 0 and from min_dist ({self.min_dist}) on")
        mix = self.set_op_mix_ratio
        if not (is_number(mix) and 0 <= mix <= 1):
            refuse(self, "set_op_mix_ratio", "a number from 0 to 1")
        for name in ("a", "b"):
            value = getattr(self, name)
            if value is not None and not (is_number(value) and value > 0):
                refuse(self, name, "a number above 0, or None")
        if isinstance(self.init, str) and self.init not in ("spectral", "random", "pca"):
            refuse(self, "init", "'spectral', 'random', 'pca' or an array")
        self._refuse_params(
            metric_kwds=None,
            output_metric="euclidean",
            output_metric_kwds=None,
            angular_rp_forest=False,
            target_n_neighbors=-1,
            target_metric="categorical",
            target_metric_kwds=None,
            target_weight=0.5,
            transform_mode="embedding",
            unique=False,
            densmap=False,
            dens_lambda=2.0,
            dens_frac=0.3,
            dens_var_shift=0.1,
            output_dens=False,
            disconnection_distance=None,
            precomputed_knn=(None, None, None),
        )

    def _options(self, epochs: int, learning_rate: float) -> tuple[Any, ...]:
        a, b = self._curve
        rates = (learning_rate, self.repulsion_strength, self.negative_sample_rate)
        return (a, b, epochs, *rates, self._seed)

    def _initial(self, rows: Array, graph: Any) -> np.ndarray[Any, Any]:
        count, kind = len(rows), self.init
        if not isinstance(kind, str):
            return given_init(self, count)
        made = np.empty((0, self.n_components))
        if kind == "spectral":
            made = np.asarray(Array(_core.spectral_coordinates(graph, self.n_components)))
            wide = self.n_components <= min(rows.shape) and self.metric != "precomputed"
            kind = "pca" if wide else "random"
        elif kind == "pca" and self.metric == "precomputed":
            raise InvalidArgumentError(
                'The parameter init="pca" cannot be used with metric="precomputed".'
            )
        draws = Generator(self._seed)
        if not len(made) and kind == "random":
            made = np.asarray(draws.random((count, self.n_components)))
        elif not len(made):
            made = np.asarray(PCA(self.n_components).fit_transform(rows), dtype=np.float64)
        largest = np.abs(made).max() or 1.0  # rows of equal places are shaken apart
        made = made * (_EXTENT / largest)
        made = made + 1e-4 * np.asarray(draws.standard_normal(made.shape))
        made = (made - made.min(axis=0)) * (_EXTENT / np.ptp(made, axis=0))
        return np.ascontiguousarray(made, dtype=np.float32)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed `X`, ``[samples, features]``.

        Raises ValueError for NaN or infinite values. Targets `y` are not used, and a warning says
        so.
        """
        self._check_params()
        rows = check_rows(self, X, fit=True, min_rows=2)
        if y is not None:
            warnings.warn(
                "UMAP: targets do not shape the embedding here: y is not used; leave it out",
                stacklevel=2,
            )
        count = len(rows)
        self._count = self.n_neighbors
        if self._count > count:
            warnings.warn(
                f"n_neighbors is larger than the dataset size; using {count}", stacklevel=2
            )
            self._count = count
        self._seed = seed_from(self.random_state)
        a, b = (self.a, self.b)
        if a is None or b is None:
            fitted = similarity_curve(self.spread, self.min_dist)
            a, b = fitted[0] if a is None else a, fitted[1] if b is None else b
        self._curve = (float(a), float(b))
        graph = _core.umap_graph(
            *nearest_others(self, rows, self._count - 1),
            self.local_connectivity,
            self.set_op_mix_ratio,
        )
        self._edges = tuple(
            np.array(Array(part)) for part in (graph.data(), graph.indices(), graph.indptr())
        )
        epochs = 500 if self.n_epochs is None else self.n_epochs
        init = beside(rows, self._initial(rows, graph))
        mark("umap_fit")
        made = _core.umap_fit(graph, init._node, self._options(epochs, self.learning_rate))
        self.embedding_ = answer(X, Array(made))
        if self.metric != "precomputed":
            self._fit_X = answer(X, rows)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Fit, and the embedding of the same rows."""
        return self._answer(X, self.fit(X, y).embedding_)

    def transform(self, X: Any) -> Any:
        """Place rows among those of `fit`, which stay: float32 ``[rows, n_components]``.

        A row that equals one of `fit` takes its place. Takes a third of `n_epochs`, by default 100.
        """
        self._check_fitted()
        rows = check_rows(self, X)
        if self.metric == "precomputed":
            raise UnsupportedError(
                "UMAP.transform: distances to fitted rows are not supported: metric='precomputed'; "
                "fit on rows"
            )
        fitted, embedding = (
            each if is_ours(each) else frozen(each) for each in (self._fit_X, self.embedding_)
        )
        mark("nearest_neighbors")
        near = _core.nearest_neighbors(
            fitted._node, rows._node, self._count, engine_metric(self), False
        )
        epochs = 100 if self.n_epochs is None else self.n_epochs // 3
        mark("umap_place")
        made = _core.umap_place(
            *near, embedding._node, self._options(epochs, self.learning_rate / 4)
        )
        return self._answer(X, Array(made))
