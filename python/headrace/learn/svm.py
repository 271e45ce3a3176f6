# SPDX-License-Identifier: Apache-2.0
"""Support vector machines of classes and of numbers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    check_labels,
    check_rows,
    check_targets,
    frozen,
    is_number,
    is_ours,
    refuse,
    warn_not_converged,
)
from headrace.learn.labels import class_weights
from headrace.random import seed_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Numbers = np.ndarray[Any, Any]

_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


class _Machine(Estimator):
    """What machines of classes and of numbers have in common."""

    _fitted_as = "support_"
    C: float
    kernel: str | Callable[..., Any]
    degree: int
    gamma: str | float
    coef0: float
    shrinking: bool
    tol: float
    cache_size: float
    max_iter: int
    support_: Numbers
    support_vectors_: Numbers
    dual_coef_: Numbers
    intercept_: Numbers
    n_support_: Numbers
    shape_fit_: tuple[int, int]
    fit_status_: int

    def _all_tags(self) -> Mapping[str, Any]:
        return {**self._tags, "input_tags": {"pairwise": self.kernel == "precomputed"}}

    @property
    def _given(self) -> bool:
        """Whether numbers of the kernel come from elsewhere."""
        return callable(self.kernel) or self.kernel == "precomputed"

    def _check_params(self) -> None:
        wanted: dict[str, tuple[Any, str]] = {
            "C": (lambda v: v > 0, "a number above 0"),
            "tol": (lambda v: v > 0, "a number above 0"),
            "cache_size": (lambda v: v > 0, "megabytes above 0"),
            "coef0": (np.isfinite, "a finite number"),
        }
        for name, (fits, words) in wanted.items():
            value = getattr(self, name)
            if not (is_number(value) and fits(value)):
                refuse(self, name, words)
        for name, least in {"degree": 0, "max_iter": -1}.items():
            value = getattr(self, name)
            if not (is_number(value, integer=True) and value >= least):
                refuse(self, name, f"an integer from {least} on")
        if not callable(self.kernel) and self.kernel not in _KERNELS:
            refuse(self, "kernel", f"one of {_KERNELS} or a callable")
        if not (
            self.gamma in ("scale", "auto")
            if isinstance(self.gamma, str)
            else (is_number(self.gamma) and self.gamma >= 0)
        ):
            refuse(self, "gamma", "'scale', 'auto' or a number from 0 on")

    def _check_data(self, X: Any) -> Array:
        """The rows of `fit`, or the numbers of the kernel between them."""
        self._check_params()
        rows = check_rows(self, X, fit=True)
        self.shape_fit_ = (len(rows), rows.shape[1])
        if callable(self.kernel):
            self._fit_X = np.asarray(rows)
            rows = self._called(self._fit_X)
        if self._given and rows.shape[0] != rows.shape[1]:
            raise InvalidArgumentError(
                f"{type(self).__name__}: Precomputed matrix must be a square matrix. Input is a "
                f"{rows.shape[0]}x{rows.shape[1]} matrix."
            )
        self._gamma = self._gamma_of(rows)
        return rows

    def _called(self, X: Numbers) -> Array:
        made = self.kernel(X, self._fit_X)  # type: ignore[operator]
        return frozen(np.ascontiguousarray(made, dtype=np.float64))

    def _gamma_of(self, rows: Array) -> float:
        if self._given:
            return 0.0
        if not isinstance(self.gamma, str):
            return float(self.gamma)
        variance = 1.0
        if self.gamma == "scale":
            variance = float(rows.astype("float64").reshape(-1).var(ddof=0))
        return 1.0 / (rows.shape[1] * variance) if variance else 1.0

    @property
    def _words(self) -> tuple[str, float, float, int]:
        """The kernel as the engine knows it."""
        name = "precomputed" if self._given else str(self.kernel)
        return name, self._gamma, float(self.coef0), int(self.degree)

    @property
    def _limits(self) -> tuple[float, int, int]:
        """Tolerance, most steps and bytes of the cache."""
        return float(self.tol), int(self.max_iter), int(self.cache_size * (1 << 20))

    def _most(self, sample_weight: Any, rows: int) -> Numbers:
        """What each coefficient is at most; rows without weight take no part."""
        if sample_weight is None:
            return np.full(rows, float(self.C))
        weights = np.asarray(sample_weight, dtype=np.float64)
        if weights.shape != (rows,):
            raise InvalidArgumentError(
                "sample_weight and X have incompatible shapes: "
                f"{weights.shape} vs {self.shape_fit_}"
            )
        if not np.isfinite(weights).all():
            raise InvalidArgumentError(
                f"{type(self).__name__}: Input sample_weight contains NaN or infinity"
            )
        if not (weights > 0).any():
            raise InvalidArgumentError("Invalid input - all samples have zero or negative weights.")
        return self.C * weights.clip(0.0)

    def _keep(self, rows: Array, support: Numbers, coefficients: Numbers, offsets: Any) -> None:
        """Set what the solutions say; `coefficients` of all rows."""
        self.support_ = support.astype(np.int32)
        self.dual_coef_ = np.ascontiguousarray(coefficients[:, support])
        self.intercept_ = np.asarray(offsets, dtype=np.float64)
        if not (np.isfinite(self.dual_coef_).all() and np.isfinite(self.intercept_).all()):
            raise InvalidArgumentError(
                f"{type(self).__name__}: The dual coefficients or intercepts are not finite. The "
                "input data may contain large values and need to be preprocessed, for example by "
                "StandardScaler."
            )
        chosen = np.empty((0, 0))
        if not self._given:
            chosen = np.asarray(rows.astype("float64")[support])
        self.support_vectors_ = np.ascontiguousarray(chosen)

    def _warn(self, converged: bool) -> None:
        self.fit_status_ = int(not converged)
        if not converged:
            warn_not_converged(
                f"Solver terminated early (max_iter={self.max_iter}).  Consider pre-processing "
                "your data with StandardScaler or MinMaxScaler.",
                4,
            )

    def _rows_of(self, X: Any) -> Array:
        """Rows to be judged, or the numbers of the kernel between them and those of `fit`."""
        self._check_fitted()
        rows = check_rows(self, X)
        return self._called(np.asarray(rows)) if callable(self.kernel) else rows

    def _check_loaded(self) -> None:
        sizes, count = self.n_support_, len(self.support_)
        if self._given:
            fine = not count or (
                (self.support_ >= 0).all() and self.support_.max() < self.n_features_in_
            )
        else:
            fine = self.support_vectors_.shape == (count, self.n_features_in_)
        if not fine or (sizes < 0).any() or sizes.sum() != count:
            raise ValueError(f"{type(self).__name__}: its support vectors are of other rows")

    def _sums(self, rows: Array, vectors: Numbers, support: Numbers, weights: Numbers) -> Numbers:
        """Sums of the kernel with support vectors by each row of weights: [rows, weights]."""
        if self._given:
            near = np.ascontiguousarray(np.asarray(rows)[:, support], dtype=np.float64)
            return np.asarray(asarray(near) @ asarray(np.ascontiguousarray(weights.T)))
        nodes = [frozen(np.ascontiguousarray(part))._node for part in (vectors, weights)]
        return np.asarray(Array(_core.kernel_sums(nodes[0], nodes[1], rows._node, self._words)))

    def _own_sums(self, rows: Array, part: slice) -> Numbers:
        weights = self.dual_coef_[:, part]
        return self._sums(rows, self.support_vectors_[part], self.support_[part], weights)

    @property
    def coef_(self) -> Numbers:
        """Weights of the features, read-only; only with ``kernel="linear"``."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        made = self._coefficients()
        made.flags.writeable = False
        return made

    def _coefficients(self) -> Numbers:
        return np.array(asarray(self.dual_coef_) @ asarray(self.support_vectors_))


def _like(X: Any, made: Numbers) -> Any:
    """Results in the kind of `X`."""
    return asarray(made) if is_ours(X) and made.dtype.kind in "biuf" else made


class SVC(_Machine):
    """Classes parted by the widest margin, by LIBSVM's dual and to its tolerance.

    Working sets of many rows at once, their kernels in tiles of float64 products; rows of kernels
    are kept in float32, as LIBSVM does. The same bits for any number of threads and any
    `cache_size`. No matrix of all kernels is made: memory is a packed copy of two classes and the
    cache, which shrinks to half of what `hr.memory.limit` leaves. More than two classes are judged
    by votes of all pairs.

    Parameters
    ----------
    C : float, default 1.0
        The largest coefficient of a row: a small one allows more rows in the margin.
    kernel : {"rbf", "linear", "poly", "sigmoid", "precomputed"} or callable, default "rbf"
        ``"precomputed"``: `X` holds the kernel, ``[samples, samples of fit]``; a callable makes it
        of two matrices of rows.
    degree : int, default 3
        Power of ``"poly"``.
    gamma : {"scale", "auto"} or float, default "scale"
        Scale of ``"rbf"``, ``"poly"`` and ``"sigmoid"``: ``"scale"`` is
        ``1 / (features * X.var())``, ``"auto"`` ``1 / features``.
    coef0 : float, default 0.0
        What ``"poly"`` and ``"sigmoid"`` add to products.
    shrinking, verbose
        Accepted and not used.
    probability : bool
        Fit `predict_proba`, by five more fits of each pair of classes (Platt's method, with
        scikit-learn's folds for an integer `random_state`); ``"deprecated"``: no.
    tol : float, default 1e-3
        The violation of the optimum that is left.
    cache_size : float, default 200
        Megabytes for rows of the kernel.
    class_weight : {"balanced"}, dict or None
        Factors of `C` by class; ``"balanced"`` evens out their numbers of rows.
    max_iter : int, default -1
        The most steps of a pair of classes; -1: no limit.
    decision_function_shape : {"ovr", "ovo"}, default "ovr"
        What `decision_function` gives for more than two classes.
    break_ties : bool, default False
        Equal votes go to the greater decision, not to the first class.
    random_state : int, RandomState or None
        Seed of the folds of `probability`.

    Attributes
    ----------
    support_, support_vectors_, n_support_ : ndarray
        Rows of `fit` that the margin rests on, class by class: which, their float64 values, and how
        many of each class. For kernels from elsewhere the values are empty.
    dual_coef_, intercept_ : ndarray
        ``[classes - 1, support vectors]`` and ``[pairs of classes]``, in LIBSVM's order.
    coef_ : ndarray
        ``[pairs of classes, features]``, only of ``"linear"``.
    classes_, class_weight_ : ndarray
        Labels in ascending order and the factors of `C`.
    n_iter_ : ndarray
        Steps of each pair of classes. They are fewer or more than LIBSVM's.
    fit_status_ : int
        1 after `max_iter`, with a `ConvergenceWarning`, else 0.
    probA_, probB_ : ndarray
        Of each pair of classes; empty without `probability`.
    shape_fit_ : tuple
        Shape of `X` at `fit`.

    Raises ValueError for one class, NaN or infinite values, and data so large that coefficients
    are not finite. Sources: Z. Wen et al., "ThunderSVM", JMLR 2018; R.-E. Fan et al., "Working set
    selection using second order information", JMLR 2005; H.-T. Lin et al., "A note on Platt's
    probabilistic outputs", 2007; T.-F. Wu et al., "Probability estimates for multi-class
    classification by pairwise coupling", JMLR 2004.

    >>> model = hr.learn.SVC().fit([[0.0], [1.0], [3.0], [4.0]], ["low", "low", "high", "high"])
    >>> model.predict([[0.5], [3.5]]).tolist(), model.n_support_.tolist()
    (['low', 'high'], [2, 2])
    """

    _tags: ClassVar[Mapping[str, Any]] = {"estimator_type": "classifier"}
    classes_: Numbers
    class_weight_: Numbers
    n_support_: Numbers
    n_iter_: Numbers
    probA_: Numbers  # noqa: N815
    probB_: Numbers  # noqa: N815

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the margins of all pairs of classes.

        `X` is ``[samples, features]``, `y` labels, `sample_weight` factors of `C` by row; rows
        without a positive one are left out.
        """
        if self.decision_function_shape not in ("ovr", "ovo"):
            refuse(self, "decision_function_shape", "'ovr' or 'ovo'")
        rows = self._check_data(X)
        codes = self._codes(y, len(rows))
        most = self._most(sample_weight, len(rows)) * self.class_weight_[codes]
        count = len(self.classes_)
        members = [np.flatnonzero((codes == code) & (most > 0)) for code in range(count)]
        if sum(len(each) > 0 for each in members) < 2:
            raise InvalidArgumentError(
                "Invalid input - all samples with positive weights belong to the same class."
            )
        seed = _seed(self.random_state) if self._probable else None
        coefficients = np.zeros((count - 1, len(rows)))
        offsets, steps, curves, converged = [], [], [], True
        for i, j in itertools.combinations(range(count), 2):
            mine = np.concatenate([members[i], members[j]])
            signs = np.repeat([1.0, -1.0], [len(members[i]), len(members[j])])
            if seed is not None:
                curves.append(self._platt(rows, mine, signs, most[mine], seed))
            found, offset, taken, ended = self._solve(rows, mine, signs, most[mine])
            coefficients[j - 1, members[i]] = found[signs > 0]
            coefficients[i, members[j]] = found[signs < 0]
            offsets.append(-offset)
            steps.append(taken)
            converged = converged and ended
        used: Numbers = np.asarray(coefficients.any(axis=0))
        kept = [each[used[each]] for each in members]
        side = -1.0 if count == 2 else 1.0  # of two classes the second is the positive one
        self._keep(rows, np.concatenate(kept), side * coefficients, side * np.array(offsets))
        self.n_support_ = np.array([len(each) for each in kept], dtype=np.int32)
        self.n_iter_ = np.array(steps, dtype=np.int32)
        self.probA_, self.probB_ = np.array(curves, dtype=np.float64).reshape(-1, 2).T
        self._warn(converged)
        return self

    def _codes(self, y: Any, rows: int) -> Numbers:
        """Numbers of the classes of rows; sets the classes and their weights."""
        labels = np.asarray(check_labels(self, y, rows))
        if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
            raise InvalidArgumentError(
                "SVC: Unknown label type: continuous: a classifier needs labels, use SVR for "
                "numbers"
            )
        self.classes_, codes = np.unique(labels, return_inverse=True)
        count = len(self.classes_)
        if count < 2:
            raise InvalidArgumentError(
                f"The number of classes has to be greater than one; got {count} class"
            )
        given = class_weights(self, codes, None, self.class_weight)
        self.class_weight_ = np.ones(count) if given is None else given
        return codes

    def _solve(self, rows: Array, mine: Numbers, signs: Numbers, most: Numbers) -> Any:
        """Coefficients, offset, steps and whether it converged."""
        places, sides, high = (frozen(each)._node for each in (mine, signs, most))
        mark("svm_classes")
        found = _core.svm_classes(rows._node, places, sides, high, self._words, *self._limits)
        return np.asarray(Array(found[0])), *found[1:]

    # ---- decisions -------------------------------------------------------------------------------
    def _decide(self, X: Any) -> Numbers:
        """Of each pair of classes, positive for the first; of two, positive for the second."""
        rows = self._rows_of(X)
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        if ends[-1] != self.dual_coef_.shape[1]:
            raise InvalidArgumentError("The internal representation of SVC was altered")
        if len(self.classes_) == 2:
            return self._own_sums(rows, slice(None)) + self.intercept_
        parts = [self._own_sums(rows, slice(*end)) for end in itertools.pairwise(ends)]
        pairs = itertools.combinations(range(len(parts)), 2)
        made = [parts[i][:, j - 1] + parts[j][:, i] for i, j in pairs]
        return np.stack(made, axis=1) + self.intercept_

    def _votes(self, decisions: Numbers, wins: Numbers) -> tuple[Numbers, Numbers]:
        """Votes for each class, and the sum of its decisions."""
        count = len(self.classes_)
        votes, sums = np.zeros((2, len(decisions), count))
        for pair, (i, j) in enumerate(itertools.combinations(range(count), 2)):
            votes[:, i] += wins[:, pair]
            votes[:, j] += ~wins[:, pair]
            sums[:, i] += decisions[:, pair]
            sums[:, j] -= decisions[:, pair]
        return votes, sums

    def _shaped(self, decisions: Numbers) -> Numbers:
        if len(self.classes_) == 2:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return decisions
        votes, sums = self._votes(decisions, decisions >= 0)
        return votes + sums / (3 * (np.abs(sums) + 1))

    def decision_function(self, X: Any) -> Any:
        """How clear the decisions are: float64.

        ``[samples]`` for two classes, positive for the second. Else ``[samples, classes]``, votes
        and a part of the sum of decisions, or with ``"ovo"`` ``[samples, pairs]``, positive for
        the first of the pair.
        """
        return _like(X, self._shaped(self._decide(X)))

    def predict(self, X: Any) -> Any:
        """The class with the most votes of pairs, the first of equal ones: ``[samples]``."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidArgumentError(
                "break_ties must be False when decision_function_shape is 'ovo'"
            )
        decisions = self._decide(X)
        if len(self.classes_) == 2:
            codes = (decisions[:, 0] >= 0).astype(np.intp)
        elif self.break_ties:
            codes = self._shaped(decisions).argmax(axis=1)
        else:
            codes = self._votes(decisions, decisions > 0)[0].argmax(axis=1)
        return _like(X, self.classes_.take(codes))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        from headrace.learn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def _coefficients(self) -> Numbers:
        if len(self.classes_) == 2:
            return super()._coefficients()
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        parts = [
            np.asarray(
                asarray(np.ascontiguousarray(self.dual_coef_[:, begin:end]))
                @ asarray(self.support_vectors_[begin:end])
            )
            for begin, end in itertools.pairwise(ends)
        ]
        pairs = itertools.combinations(range(len(parts)), 2)
        return np.stack([parts[i][j - 1] + parts[j][i] for i, j in pairs])

    # ---- probabilities ---------------------------------------------------------------------------
    @property
    def _probable(self) -> bool:
        return self.probability != "deprecated" and bool(self.probability)

    def _platt(
        self, rows: Array, mine: Numbers, signs: Numbers, most: Numbers, seed: int
    ) -> tuple[float, float]:
        """The curve of a pair's probability, by decisions on rows that a fit did not see."""
        order = _shuffled(seed, len(mine))
        decisions = np.zeros(len(mine))
        for fold in range(5):
            begin, end = fold * len(mine) // 5, (fold + 1) * len(mine) // 5
            held, rest = order[begin:end], np.concatenate([order[:begin], order[end:]])
            ways = np.unique(signs[rest])
            if len(ways) < 2:  # libsvm's decisions where a fold leaves one class or none
                decisions[held] = ways.sum()
            elif len(held):
                found, offset = self._solve(rows, mine[rest], signs[rest], most[rest])[:2]
                used = np.flatnonzero(found)
                support = mine[rest][used]
                vectors = np.empty((0, 0))
                if not self._given:
                    vectors = np.asarray(rows.astype("float64")[support])
                judged = frozen(np.ascontiguousarray(np.asarray(rows[mine[held]])))
                made = self._sums(judged, vectors, support, found[used].reshape(1, -1))
                decisions[held] = made[:, 0] - offset
        return _sigmoid(decisions, signs > 0)

    @property
    def predict_proba(self) -> Callable[[Any], Any]:
        """Method: shares of the classes, float64 ``[samples, classes]``; needs `probability`.

        They come from cross-validation, so the largest may be another than `predict` says.
        """
        if not self._probable:
            raise AttributeError("predict_proba is not available when probability=False")
        return self._predict_proba

    @property
    def predict_log_proba(self) -> Callable[[Any], Any]:
        """Method: logarithms of `predict_proba`."""
        proba = self.predict_proba
        return lambda X: np.log(proba(X))

    def _predict_proba(self, X: Any) -> Any:
        decisions = self._decide(X)
        count = len(self.classes_)
        if not len(self.probA_):
            raise InvalidArgumentError(
                "SVC: predict_proba is not available when fitted with probability=False"
            )
        towards = (-decisions if count == 2 else decisions) * self.probA_ + self.probB_
        with np.errstate(over="ignore"):
            first = (1 / (1 + np.exp(towards))).clip(1e-7, 1 - 1e-7)
        shares = np.zeros((count, count, len(decisions)))
        for pair, (i, j) in enumerate(itertools.combinations(range(count), 2)):
            shares[i, j], shares[j, i] = first[:, pair], 1 - first[:, pair]
        return _like(X, _coupled(shares))


def _seed(random_state: Any) -> int:
    """The seed that scikit-learn gives LIBSVM for this `random_state`."""
    source: Any = np.random if random_state is None else random_state
    if hasattr(source, "integers"):
        source = seed_from(source) % (1 << 32)
    if not hasattr(source, "randint"):
        source = np.random.RandomState(source)
    return int(source.randint(np.iinfo("i").max))


def _shuffled(seed: int, count: int) -> Numbers:
    """Numbers in random order, as LIBSVM in scikit-learn shuffles those of each pair."""
    draws, order, whole = np.random.RandomState(seed), list(range(count)), 1 << 32
    for place in range(count):
        span = count - place
        product = int(draws.randint(0, whole, dtype=np.uint32)) * span
        while product % whole < whole % span:
            product = int(draws.randint(0, whole, dtype=np.uint32)) * span
        other = place + product // whole
        order[place], order[other] = order[other], order[place]
    return np.array(order)


def _sigmoid(decisions: Numbers, first: Numbers) -> tuple[float, float]:
    """A and B of ``1 / (1 + exp(A decision + B))``, by Newton's method with halved steps."""
    many, few = float(first.sum()), float((~first).sum())
    goal = np.where(first, (many + 1) / (many + 2), 1 / (few + 2))

    def loss(a: float, b: float) -> float:
        at = decisions * a + b
        return float((np.where(at >= 0, goal, goal - 1) * at + np.log1p(np.exp(-abs(at)))).sum())

    a, b = 0.0, float(np.log((few + 1) / (many + 1)))
    value = loss(a, b)
    for _ in range(100):
        at = decisions * a + b
        small = np.exp(-abs(at))
        share = np.where(at >= 0, small, 1.0) / (1 + small)
        bend, miss = share * (1 - share), goal - share
        curve = float((decisions * decisions * bend).sum()) + 1e-12
        cross, flat = float((decisions * bend).sum()), float(bend.sum()) + 1e-12
        slope_a, slope_b = float((decisions * miss).sum()), float(miss.sum())
        if abs(slope_a) < 1e-5 and abs(slope_b) < 1e-5:
            break
        size = curve * flat - cross * cross
        step_a = -(flat * slope_a - cross * slope_b) / size
        step_b = -(curve * slope_b - cross * slope_a) / size
        along, part = slope_a * step_a + slope_b * step_b, 1.0
        while part >= 1e-10:
            tried = loss(a + part * step_a, b + part * step_b)
            if tried < value + 1e-4 * part * along:
                break
            part /= 2
        else:
            break
        a, b, value = a + part * step_a, b + part * step_b, tried
    return a, b


def _coupled(shares: Numbers) -> Numbers:
    """Shares of classes that suit those of pairs best, ``shares[i, j]`` of i against j."""
    count, rows = shares.shape[1:]
    products = -shares.swapaxes(0, 1) * shares
    places = np.arange(count)
    products[places, places] = (shares * shares).sum(axis=0)
    made = np.full((count, rows), 1.0 / count)
    open_rows = np.arange(rows)
    for _ in range(max(100, count)):
        q, p = products[:, :, open_rows], made[:, open_rows]
        along = (q * p).sum(axis=1)
        level = (p * along).sum(axis=0)
        more = abs(along - level).max(axis=0) >= 0.005 / count
        open_rows, q, p = open_rows[more], q[:, :, more], p[:, more]
        along, level = along[:, more], level[more]
        if not len(open_rows):
            break
        for t in range(count):
            step = (level - along[t]) / q[t, t]
            p[t] += step
            level = (level + step * (step * q[t, t] + 2 * along[t])) / (1 + step) ** 2
            along = (along + step * q[t]) / (1 + step)
            p /= 1 + step
        made[:, open_rows] = p
    return np.ascontiguousarray(made.T)


class SVR(_Machine):
    """Numbers by the flattest sum of kernels that misses them by `epsilon` for free.

    The solver and its properties are those of `SVC`.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, C, shrinking, cache_size, verbose, max_iter
        As in `SVC`.
    epsilon : float, default 0.1
        Misses up to this cost nothing.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, shape_fit_
        As in `SVC`, of one sum: ``dual_coef_`` is ``[1, support vectors]``.
    n_iter_ : int
        Steps.

    >>> model = hr.learn.SVR(kernel="linear", C=100.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[3.0]]).round(2).tolist()
    [2.8]
    """

    _tags: ClassVar[Mapping[str, Any]] = {"estimator_type": "regressor"}
    n_iter_: int
    n_support_: Numbers

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit targets `y`, ``[samples]``, by rows of `X`, ``[samples, features]``."""
        if not (is_number(self.epsilon) and self.epsilon >= 0):
            refuse(self, "epsilon", "a number from 0 on")
        rows = self._check_data(X)
        targets = check_targets(self, check_labels(self, y, len(rows)), len(rows))
        most = self._most(sample_weight, len(rows))
        mine = np.flatnonzero(most > 0)
        places, goals, high = (frozen(each)._node for each in (mine, targets[mine], most[mine]))
        mark("svm_numbers")
        found, offset, self.n_iter_, converged = _core.svm_numbers(
            rows._node, places, goals, high, float(self.epsilon), self._words, *self._limits
        )
        coefficients = np.zeros((1, len(rows)))
        coefficients[0, mine] = np.asarray(Array(found))
        self._keep(rows, np.flatnonzero(coefficients[0]), coefficients, [-offset])
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self._warn(converged)
        return self

    def predict(self, X: Any) -> Any:
        """The sums of kernels: float64 ``[samples]``."""
        return _like(X, self._own_sums(self._rows_of(X), slice(None))[:, 0] + self.intercept_)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination of the prediction."""
        from headrace.learn.metrics import r2_score

        return r2_score(y, self.predict(X), sample_weight=sample_weight)
