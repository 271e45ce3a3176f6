# SPDX-License-Identifier: Apache-2.0
"""Loops of scikit-learn on our engine: each takes the place of a function of its modules.

A loop is made of what it replaces, `theirs`, and gives the same kind of result. It hands over to
it for work so small that the call would cost more (by shape alone), and for what the engine does
not do; that is a fallback, which `hr.fallbacks` lists with its reason and time.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from headrace import _core, linalg
from headrace.array.array import Array
from headrace.errors import UnsupportedError
from headrace.frame.reshape import factorize
from headrace.learn.base import engine_weights, float_node, frozen, is_sparse
from headrace.learn.columns import Columns
from headrace.learn.decomposition.singular import matrix_node
from headrace.learn.neighbors import metric_named
from headrace.learn.svm import SVC, SVR
from headrace.learn.text import CountVectorizer, HashingVectorizer
from headrace.settings import is_strict
from headrace.tensor.sparse import csr_matrix

Loop = Callable[..., Any]
Numbers = np.ndarray[Any, Any]

#: Normal equations lose twice the digits of the condition; beyond this one, theirs factors rows.
_MOST_CONDITION = 1e7
#: From here on searches by tiles take less time, about 5,000 rows of 20 columns among themselves.
_LEAST_PAIRS = 4e8
_FLOATS: Any = (np.float32, np.float64)


class Sizes:
    """What the least work of all loops is multiplied with; 0 takes work of any size."""

    scale: float = 1.0


class DeclinedError(Exception):
    """What the engine does not do, in a few words."""


def fallback(op: str, reason: str, theirs: Loop, *args: Any, **kwargs: Any) -> Any:
    """Call scikit-learn's code, and list it; raises under `hr.strict`."""
    if is_strict():
        raise UnsupportedError(
            f"{op}: scikit-learn does it ({reason}), and hr.strict() is on; change that, or switch "
            "strict mode off"
        )
    start = time.perf_counter()
    made = theirs(*args, **kwargs)
    _core.record_fallback(op, f"by scikit-learn: {reason}", time.perf_counter() - start)
    return made


def loop(
    op: str, work: Callable[..., float], least: float = 1e5
) -> Callable[[Loop], Callable[[Loop], Loop]]:
    """Make a loop of a function that may raise `DeclinedError`.

    `work` gives its steps; from `least` on it was measured to be worth its call.
    """

    def decorate(ours: Loop) -> Callable[[Loop], Loop]:
        def made(theirs: Loop) -> Loop:
            @functools.wraps(theirs)
            def run(*args: Any, **kwargs: Any) -> Any:
                if work(*args, **kwargs) < least * Sizes.scale:
                    return theirs(*args, **kwargs)
                try:
                    return ours(*args, **kwargs)
                except DeclinedError as reason:
                    return fallback(op, str(reason), theirs, *args, **kwargs)

            return run

        return made

    return decorate


def told(op: str, reason: str) -> Callable[[Loop], Loop]:
    """Only list the calls of a function that has no loop of ours."""

    def ours(*_: Any, **__: Any) -> Any:
        raise DeclinedError(reason)

    return loop(op, size_of)(ours)


def size_of(X: Any, *_: Any, **__: Any) -> float:
    """How many values there are; 0 for what has no shape, and stays with scikit-learn."""
    if type(X) is np.ndarray:
        return X.size
    return float(X.nnz if is_sparse(X) else math.prod(getattr(X, "shape", (0,))))


def node_of(X: Any) -> Any:
    """A plan node over NumPy's memory."""
    if is_sparse(X):
        raise DeclinedError("sparse rows")
    if not isinstance(X, np.ndarray) or X.dtype not in _FLOATS:
        raise DeclinedError(f"rows of {getattr(X, 'dtype', type(X).__name__)}")
    return frozen(X)._node


def numpy_of(node: Any, dtype: Any = None) -> Numbers:
    """A result that may be written to, as those of scikit-learn."""
    return np.array(Array(node).to_numpy(), dtype)


def _weights_of(weights: Any) -> Any:
    ones = weights is None or (weights == 1).all()
    return engine_weights(None if ones else frozen(np.asarray(weights, np.float64)))._node


# ---- clusters ------------------------------------------------------------------------------------
def _assigning(X: Any, _: Any, centers: Any, *__: Any, **___: Any) -> float:
    return size_of(X) * len(centers)


@loop("KMeans.fit", _assigning)
def kmeans_single(
    X: Any,
    sample_weight: Any,
    centers_init: Any,
    max_iter: int = 300,
    verbose: bool = False,
    tol: float = 1e-4,
    n_threads: int = 1,
) -> Any:
    """A run of k-means: labels, inertia, centres, iterations."""
    if verbose:
        raise DeclinedError("verbose=True")
    centers = frozen(np.asarray(centers_init, np.float64))
    weights = _weights_of(sample_weight)
    made = _core.kmeans_fit(node_of(X), weights, centers._node, max_iter, float(tol))
    return numpy_of(made[1]), made[2], numpy_of(made[0], X.dtype), made[3]


@loop("KMeans.predict", _assigning)
def kmeans_labels(
    X: Any, sample_weight: Any, centers: Any, n_threads: int = 1, return_inertia: bool = True
) -> Any:
    """The nearest centre of each row, and the sum of squared distances to them."""
    rows, points = node_of(X), node_of(centers)
    labels = _core.kmeans_predict(points, rows)
    if not return_inertia:
        return numpy_of(labels)
    weights = _weights_of(sample_weight)
    return numpy_of(labels), _core.kmeans_inertia(points, rows, weights, labels)


def dbscan_fit(theirs: Loop) -> Loop:
    """`DBSCAN.fit` without lists of neighbours."""
    from sklearn.utils.validation import _check_sample_weight, validate_data

    def ours(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        if model.metric_params is not None:
            raise DeclinedError("metric_params")
        metric = metric_named(model.metric, 2 if model.p is None else model.p)
        if metric is None:
            raise DeclinedError(f"metric={model.metric!r}, p={model.p!r}")
        if is_sparse(X):
            raise DeclinedError("sparse rows")
        rows = validate_data(model, X)
        weights = None if sample_weight is None else _check_sample_weight(sample_weight, rows)
        floats = rows if rows.dtype in _FLOATS else rows.astype(np.float64)
        labels, core = _core.dbscan(
            node_of(floats), _weights_of(weights), model.eps, model.min_samples, metric
        )
        model.labels_ = numpy_of(labels, np.intp)
        model.core_sample_indices_ = numpy_of(core, np.intp)
        model.components_ = rows[model.core_sample_indices_].copy()
        if not len(model.components_):
            model.components_ = np.empty((0, rows.shape[1]))
        return model

    def work(_: Any, X: Any, *__: Any, **___: Any) -> float:
        return size_of(X)

    return loop("DBSCAN.fit", work, 1e3)(ours)(theirs)


# ---- neighbours ----------------------------------------------------------------------------------
def _pairs(X: Any, Y: Any, *_: Any, **__: Any) -> float:
    return size_of(X) * Y.shape[0]


@loop("kneighbors", _pairs, _LEAST_PAIRS)
def nearest(
    X: Any,
    Y: Any,
    k: int,
    metric: str = "euclidean",
    chunk_size: Any = None,
    metric_kwargs: Any = None,
    strategy: Any = None,
    return_distance: bool = False,
) -> Any:
    """Distances and indices of the nearest rows."""
    power = (metric_kwargs or {}).get("p", 2)
    named = metric_named(metric, power)
    if named is None or set(metric_kwargs or {}) - {"p"}:
        raise DeclinedError(f"metric={metric!r}, {metric_kwargs}")
    indices, distances = _core.nearest_neighbors(node_of(Y), node_of(X), k, named, False)
    if not return_distance:
        return numpy_of(indices, np.intp)
    return numpy_of(distances), numpy_of(indices, np.intp)


def arg_k_min(theirs: Any) -> Any:
    """In the place of `ArgKmin`."""
    return SimpleNamespace(is_usable_for=theirs.is_usable_for, compute=nearest(theirs.compute))


def arg_k_min_classes(theirs: Any) -> Any:
    """In the place of `ArgKminClassMode`: large searches are left to `kneighbors`."""

    def is_usable_for(X: Any, Y: Any, metric: Any) -> bool:
        large = isinstance(X, np.ndarray) and _pairs(X, Y) >= _LEAST_PAIRS * Sizes.scale
        ours = large and isinstance(Y, np.ndarray) and metric_named(metric, 2) is not None
        return not ours and theirs.is_usable_for(X, Y, metric)

    return SimpleNamespace(is_usable_for=is_usable_for, compute=theirs.compute)


# ---- linear algebra ------------------------------------------------------------------------------
def _squaring(X: Any, *_: Any, **__: Any) -> float:
    return size_of(X) * X.shape[1]


@loop("LinearRegression.fit", _squaring, 4e6)
def least_squares(X: Any, y: Any, cond: Any = None) -> Any:
    """Coefficients, residues (None), rank and singular values, by normal equations."""
    rows, features = Array(node_of(X)).astype("float64"), X.shape[1]
    if len(X) < features:
        raise DeclinedError("fewer rows than columns")
    gram = rows.T @ rows
    values = np.asarray(linalg.eigvalsh(gram))
    if not values[0] * _MOST_CONDITION > values[-1]:
        raise DeclinedError("columns that nearly depend on each other")
    targets = frozen(np.ascontiguousarray(y.reshape(len(y), -1), np.float64))
    found = np.asarray(linalg.solve(gram, rows.T @ targets))
    singular = np.sqrt(values[::-1]).astype(X.dtype)
    return found.reshape(features, *y.shape[1:]).astype(X.dtype), None, features, singular


def lstsq_module(theirs: Any) -> Any:
    """In the place of `scipy.linalg`, of which only `lstsq` is used."""
    return SimpleNamespace(lstsq=least_squares(theirs.lstsq))


@loop("Ridge.fit", _squaring, 1e8)
def ridge_cholesky(X: Any, y: Any, alpha: Any) -> Any:
    """Coefficients of all targets, ``[targets, features]``."""
    from scipy.linalg import solve

    rows = Array(node_of(X)).astype("float64")
    targets = frozen(np.ascontiguousarray(y, np.float64))
    gram, products = np.array(rows.T @ rows), np.asarray(rows.T @ targets)
    made = np.empty((y.shape[1], X.shape[1]), dtype=X.dtype)
    diagonal = gram.diagonal().copy()
    for penalty in np.unique(alpha):
        np.fill_diagonal(gram, diagonal + float(penalty))
        mine = alpha == penalty
        made[mine] = solve(gram, products[:, mine], assume_a="pos").T
    return made


def linear_model_loss(theirs: Any) -> Any:
    """`LinearModelLoss` that reads the rows once for the loss and its gradient."""
    losses = {"HalfBinomialLoss": "logistic", "HalfMultinomialLoss": "multinomial"}

    def ours(
        model: Any,
        coef: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        l2_reg_strength: float = 0.0,
        n_threads: int = 1,
        raw_prediction: Any = None,
    ) -> Any:
        base = model.base_loss
        name = losses.get(type(base).__name__)
        if name is None or raw_prediction is not None:
            raise DeclinedError(f"loss={type(base).__name__}")
        given = coef.reshape((base.n_classes if base.is_multiclass else 1, -1), order="F")
        at = np.zeros((len(given), X.shape[1] + 1))
        at[:, : given.shape[1]] = given
        if getattr(model, "_rows", (None,))[0] is not X:
            model._rows = X, matrix_node(csr_matrix(X)) if is_sparse(X) else node_of(X)
        nodes = model._rows[1], float_node(y), float_node(sample_weight), float_node(at)
        gradient, loss = _core.linear_gradient(*nodes, name)
        total = float(len(y) if sample_weight is None else sample_weight.sum())
        made = Array(gradient).to_numpy()[:, : given.shape[1]] / total
        made[:, : X.shape[1]] += l2_reg_strength * given[:, : X.shape[1]]
        penalty = model.l2_penalty(model.weight_intercept(coef)[0], l2_reg_strength)
        return loss / total + penalty, made.ravel(order="F") if coef.ndim == 1 else made

    def work(model: Any, coef: Any, X: Any, *_: Any, **__: Any) -> float:
        return size_of(X) * coef.size / X.shape[1]

    gradient = loop("LogisticRegression.fit", work, 1e4)(ours)(theirs.loss_gradient)
    return type(theirs.__name__, (theirs,), {"loss_gradient": gradient})


def pca_fit_full(theirs: Loop) -> Loop:
    """`PCA._fit_full` of the covariance, in one pass over the rows."""

    def ours(model: Any, X: Any, n_components: Any, xp: Any, is_array_api_compliant: bool) -> Any:
        if model._fit_svd_solver != "covariance_eigh":
            raise DeclinedError(f"svd_solver={model._fit_svd_solver!r}")
        rows, features = X.shape
        if n_components == "mle" or not 0 <= n_components <= min(rows, features) or rows < 2:
            raise DeclinedError(f"n_components={n_components!r}")
        mean, components, variances, *_ = _core.pca_fit(node_of(X), None)
        variance = numpy_of(variances).clip(0.0)
        missing = features - len(variance)
        if missing:
            raise DeclinedError("fewer components than columns")
        ratio = variance / variance.sum()
        if 0 < n_components < 1:
            n_components = int(np.searchsorted(np.cumsum(ratio), n_components, side="right")) + 1
        kept, dtype = slice(n_components), X.dtype
        singular = np.sqrt(variance * (rows - 1)).astype(dtype)
        directions = numpy_of(components, dtype)
        model.mean_ = numpy_of(mean, dtype)
        rest = variance[n_components:]
        model.noise_variance_ = rest.mean().astype(dtype) if len(rest) else 0.0
        model.n_samples_, model.n_components_ = rows, n_components
        model.components_ = directions[kept].copy()
        model.explained_variance_ = variance[kept].astype(dtype)
        model.explained_variance_ratio_ = ratio[kept].astype(dtype)
        model.singular_values_ = singular[kept].copy()
        return None, singular, directions, X, False, xp

    def work(_: Any, X: Any, *__: Any) -> float:
        return _squaring(X)

    return loop("PCA.fit", work, 4e7)(ours)(theirs)


# ---- support vectors ---------------------------------------------------------------------------
_OF_CLASSES = 0  #: LIBSVM's number of these machines; in the table, others are of numbers.


def _support(
    X: Any,
    Y: Any,
    svm_type: int = 0,
    nu: float = 0.5,
    epsilon: float = 0.1,
    class_weight: Any = (),
    sample_weight: Any = (),
    probability: bool = False,
    random_seed: int = 0,
    **options: Any,
) -> Any:
    """What `libsvm.fit` gives; for two classes with its signs."""
    if probability or options["max_iter"] != -1:
        raise DeclinedError("probability=True" if probability else "max_iter")
    kernel = options["kernel"]  # a sigmoid has several optima
    if kernel == "sigmoid" or (options["gamma"] == 0.0 and kernel != "precomputed"):
        raise DeclinedError(f"kernel={kernel!r}, gamma={options['gamma']}")
    if len(X) != len(Y):  # a kernel of the user made other rows
        raise DeclinedError(f"rows: X={len(X)}, y={len(Y)}")
    if svm_type == _OF_CLASSES:
        model: Any = SVC(class_weight=dict(enumerate(class_weight)), **options)
    else:
        model = SVR(epsilon=epsilon, **options)
    model.fit(X, Y, np.asarray(sample_weight) if len(sample_weight) else None)
    is_pair = svm_type == _OF_CLASSES and len(model.classes_) == 2
    sign = -1.0 if is_pair else 1.0
    return (
        model.support_,
        np.array(model.support_vectors_),  # may be written to
        model.n_support_ if svm_type == _OF_CLASSES else np.repeat(model.n_support_, 2),
        sign * model.dual_coef_,
        sign * model.intercept_,
        np.empty(0),
        np.empty(0),
        model.fit_status_,
        np.atleast_1d(np.asarray(model.n_iter_, np.int32)),
    )


def _decisions(
    X: Any,
    support: Any,
    SV: Any,
    nSV: Any,
    sv_coef: Any,
    intercept: Any,
    probA: Any = (),
    probB: Any = (),
    svm_type: int = 0,
    **options: Any,
) -> Any:
    """A machine of classes or numbers, and what it makes of rows, as `libsvm` gives it."""
    model: Any = (SVC if svm_type == _OF_CLASSES else SVR)(**options)
    fitted = {"support_": support, "support_vectors_": SV, "n_support_": nSV}
    fitted |= {"dual_coef_": sv_coef, "intercept_": intercept, "_gamma": options["gamma"]}
    vars(model).update(fitted, n_features_in_=X.shape[1], classes_=np.arange(len(nSV)))
    if svm_type == _OF_CLASSES:
        return model, model._decide(X)
    return model, model.predict(X)[:, np.newaxis]


def _decided(*args: Any, **kwargs: Any) -> Any:
    return _decisions(*args, **kwargs)[1]


def _predicted(*args: Any, **kwargs: Any) -> Any:
    model, made = _decisions(*args, **kwargs)
    if isinstance(model, SVR):
        return made[:, 0]
    return model._votes(made, made > 0)[0].argmax(axis=1).astype(np.float64)


def libsvm_module(theirs: Any) -> Any:
    """In the place of `_libsvm`: machines of classes and numbers over dense rows."""

    def fitting(X: Any, *_: Any, svm_type: int = 0, **__: Any) -> float:
        steps = size_of(X) * len(X)
        return steps if svm_type == _OF_CLASSES else steps / 40  # those of numbers gain later

    def judging(X: Any, support: Any, *_: Any, **__: Any) -> float:
        return size_of(X) * len(support)

    made = SimpleNamespace(**vars(theirs))
    made.fit = loop("SVC.fit", fitting, 1e6)(_support)(theirs.fit)
    made.predict = loop("SVC.predict", judging, 1e6)(_predicted)(theirs.predict)
    decided = loop("SVC.decision_function", judging, 1e6)(_decided)
    made.decision_function = decided(theirs.decision_function)
    return made


# ---- preparation ---------------------------------------------------------------------------------
def _moments(X: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Means, variances and counts of columns without NaN, in one pass."""
    codes = frozen(np.zeros(len(X), np.int64))
    made = _core.class_moments(node_of(X), codes._node, engine_weights(None)._node, 1)
    count, total, squares = (Array(node).to_numpy()[0] for node in made)
    mean, variance = total / count, squares / count
    for place in np.flatnonzero(variance <= (count * np.finfo(float).eps * mean) ** 2):
        if (X[:, place] == X[0, place]).all():  # constant: without what rounding leaves
            mean[place], variance[place] = X[0, place], 0.0
    return mean, variance, np.full(X.shape[1], count)


@loop("StandardScaler.fit", size_of)
def mean_and_variance(
    X: Any, last_mean: Any, last_variance: Any, last_sample_count: Any, sample_weight: Any = None
) -> Any:
    """Means, variances and counts without NaN, of these rows and those before."""
    if sample_weight is not None:
        raise DeclinedError("sample_weight")
    mean, variance, count = _moments(X)
    if not np.isfinite(mean).all():
        mean, variance, count = Columns(Array(node_of(X))).statistics("mean", "var", "count")
    before = np.asarray(last_sample_count, np.float64)
    if before.any():
        total = before + count
        apart = np.where(before > 0, mean - last_mean, 0.0)
        mean = np.where(count > 0, last_mean + (mean - last_mean) * count / total, last_mean)
        if last_variance is not None:
            between = apart**2 * before * count / total
            variance = (last_variance * before + variance * count + between) / total
        count = total
    return mean, None if last_variance is None else variance, count


def _extreme(word: str) -> Callable[[Loop], Loop]:
    def ours(X: Any, axis: int | None = None, xp: Any = None) -> Any:
        if axis != 0:
            raise DeclinedError(f"axis={axis}")
        rows = Array(node_of(X))
        found = np.array(getattr(rows, word)(axis=0))
        return Columns(rows).statistics(word)[0].astype(X.dtype) if np.isnan(found).any() else found

    return loop("MinMaxScaler.fit", size_of)(ours)


def array_api_module(theirs: Any) -> Any:
    """In the place of `_array_api` where the extremes of columns are looked for."""
    made = SimpleNamespace(**vars(theirs))
    made._nanmin, made._nanmax = _extreme("min")(theirs._nanmin), _extreme("max")(theirs._nanmax)
    return made


def _codes(values: Numbers) -> tuple[Numbers, Numbers]:
    """Numbers of the distinct values in the order they come, and these values."""
    if values.dtype.kind not in "iuf":
        raise DeclinedError(f"values of dtype {values.dtype}")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise DeclinedError("missing values")
    codes, known = factorize(np.ascontiguousarray(values))
    return np.asarray(codes), np.asarray(known)


@loop("OneHotEncoder.fit", size_of, 2e5)
def unique_values(values: Any, *, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The distinct values in ascending order, and how often they are there."""
    if return_inverse:
        raise DeclinedError("return_inverse=True")
    codes, known = _codes(values)
    order = np.argsort(known)
    if not return_counts:
        return known[order]
    return known[order], np.bincount(codes, minlength=len(known))[order]


@loop("OneHotEncoder.transform", size_of, 2e5)
def unknown_values(values: Any, known_values: Any, return_mask: bool = False) -> Any:
    """Values that are not among the known ones."""
    codes, found = _codes(values)
    places = {value: place for place, value in enumerate(known_values.tolist())}
    known = np.array([value in places for value in found.tolist()], dtype=bool)
    diff = list(found[~known])
    return (diff, known[codes]) if return_mask else diff


@loop("OneHotEncoder.transform", size_of, 2e5)
def encoded(values: Any, *, uniques: Any, check_unknown: bool = True) -> Any:
    """Places of values among the known ones."""
    if check_unknown:
        raise DeclinedError("check_unknown=True")
    codes, found = _codes(values)
    places = {value: place for place, value in enumerate(uniques.tolist())}
    return np.array([places[value] for value in found.tolist()], dtype=np.intp)[codes]


# ---- documents ---------------------------------------------------------------------------------
def _documents(model: Any, raw: Any) -> list[str]:
    for name in ("tokenizer", "preprocessor"):
        if getattr(model, name) is not None:
            raise DeclinedError(f"a {name} in Python")
    if callable(model.analyzer) or callable(model.strip_accents):
        raise DeclinedError("an analyzer in Python")
    documents = raw.tolist() if hasattr(raw, "tolist") else raw
    if not isinstance(documents, list | tuple) or not all(type(each) is str for each in documents):
        raise DeclinedError("documents that are not all strings")
    if model.input != "content":
        raise DeclinedError(f"input={model.input!r}")
    if np.dtype(model.dtype) not in (np.float32, np.float64, np.int64):
        raise DeclinedError(f"dtype={model.dtype!r}")
    return list(documents)


def _options(model: Any, names: str) -> dict[str, Any]:
    return {name: getattr(model, name) for name in names.split()}


_SHARED = "strip_accents lowercase stop_words token_pattern ngram_range analyzer dtype"


def _letters(raw: Any) -> float:
    """How many letters documents have, and 0 for what cannot be counted before it is read."""
    if not hasattr(raw, "__len__"):
        return 0.0
    try:
        return float(sum(map(len, raw)))
    except TypeError:  # files, or what is no document
        return math.inf


def count_vocabulary(theirs: Loop) -> Loop:
    """`CountVectorizer._count_vocab`: terms by number, and the counts of documents."""
    aligned = theirs.__globals__["_align_api_if_sparse"]  # a matrix, or an array of SciPy

    def ours(model: Any, raw_documents: Any, fixed_vocab: bool) -> Any:
        documents = _documents(model, raw_documents)
        model.build_analyzer()  # for its warnings
        given = model.vocabulary_ if fixed_vocab else None
        counter = CountVectorizer(**_options(model, _SHARED), vocabulary=given)
        if fixed_vocab:
            counts = counter.transform(documents).copy()  # may be written to
            return model.vocabulary_, aligned(counts)
        try:
            counts = counter.fit_transform(documents).copy()
        except ValueError:  # theirs says so, in its words
            raise DeclinedError("an empty vocabulary") from None
        terms = {term: int(place) for term, place in counter.vocabulary_.items()}
        return terms, aligned(counts)

    def work(_: Any, raw: Any, *__: Any, **___: Any) -> float:
        return _letters(raw)

    return loop("CountVectorizer", work, 1e4)(ours)(theirs)


def hash_documents(theirs: Loop) -> Loop:
    """`HashingVectorizer.transform`."""
    aligned = theirs.__globals__["_align_api_if_sparse"]  # a matrix, or an array of SciPy

    def ours(model: Any, X: Any) -> Any:
        documents = _documents(model, X)
        model._validate_ngram_range()
        model.build_analyzer()
        options = _options(model, f"{_SHARED} n_features alternate_sign binary norm")
        return aligned(HashingVectorizer(**options).transform(documents).copy())

    def work(_: Any, X: Any) -> float:
        return _letters(X)

    return loop("HashingVectorizer.transform", work, 5e3)(ours)(theirs)
