# SPDX-License-Identifier: Apache-2.0
"""Linear support vector machines of classes and of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.lazy.handle import mark
from headrace.learn.base import (
    check_labels,
    check_targets,
    check_weights,
    float_node,
    is_number,
    refuse,
    warn_not_converged,
)
from headrace.learn.decomposition.singular import dense_or_sparse, matrix_node
from headrace.learn.labels import class_weights
from headrace.learn.linear.classifier import (
    LinearClassifier,
    check_numbers,
    minimize,
    weighed,
    without_negative,
)
from headrace.learn.linear.elastic_net import LinearRegressor
from headrace.random.generator import seed_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


def _by_dual(
    model: LinearSVC | LinearSVR,
    rows: Any,
    targets: Numbers,
    costs: Numbers,
    *,
    margin: bool,
    epsilon: float = 0.0,
) -> tuple[Numbers, int]:
    """Coefficients with the constants behind them, ``[outputs, features + 1]``, and rounds."""
    unit = float(model.intercept_scaling) if model.fit_intercept else 0.0
    problem = _core.DualProblem(
        margin,
        epsilon,
        unit,
        float(model.tol),
        int(model.max_iter),
        seed_from(model.random_state),
    )
    mark("fit_dual")
    nodes = float_node(targets), float_node(costs)
    found, rounds, violation, converged = _core.fit_dual(matrix_node(rows), *nodes, problem)
    if not converged:
        warn_not_converged(
            f"{type(model).__name__}: failed to converge after max_iter={model.max_iter} rounds: "
            f"violation={violation:.1e}, tol={model.tol}; scale the data with "
            "hr.learn.StandardScaler, or increase max_iter",
            stacklevel=4,
        )
    return np.asarray(Array(found)), rounds


class LinearSVC(LinearClassifier):
    """A linear support vector machine, one class against the others, on dense or sparse rows.

    Lowers ``|w|^2 / 2 + C sum(max(0, 1 - y (x w + b))^2)``, where `b` belongs to `w` (see
    `intercept_scaling`), by the search of `LogisticRegression`; the hinge without the square by
    descent along the duals of the rows (Hsieh and others, ICML 2008), for which dense rows are
    copied as float64. The same bits for any number of threads.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default "l2"
        Squares or absolute values of the coefficients; ``"l1"`` only of squared hinges.
    loss : {"squared_hinge", "hinge"}, default "squared_hinge"
        What a row costs.
    tol : float, default 1e-4
        Ends when no element of the gradient of the mean loss is larger; for ``"hinge"``, no slope
        of a dual.
    C : float, default 1.0
        Weight of the losses.
    multi_class : {"ovr"}
        ``"crammer_singer"`` is not supported.
    fit_intercept : bool, default True
        Add a constant to the scores, a coefficient of a column of `intercept_scaling`.
    intercept_scaling : float, default 1.0
        The larger, the less the constant costs.
    class_weight : {"balanced"} or dict, optional
        What rows of a class weigh; of more than two classes, against all others with weight 1.
    max_iter : int, default 1000
        The most iterations for a class.
    random_state : int, Generator or None
        Order of the rows for ``"hinge"``.
    dual, verbose
        Accepted and not used.

    Attributes
    ----------
    classes_ : numpy.ndarray
    coef_, intercept_ : numpy.ndarray
        As those of `LogisticRegression`; without an intercept 0.0.
    n_iter_ : int
        The most iterations of a class.

    >>> model = hr.learn.LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [2.6]]).tolist()
    [0, 1]
    """

    n_iter_: int

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients; parameters as those of `LogisticRegression.fit`."""
        check_numbers(self)
        if self.penalty not in ("l1", "l2"):
            refuse(self, "penalty", "'l2' or 'l1'")
        if self.loss not in ("squared_hinge", "hinge"):
            refuse(self, "loss", "'squared_hinge' or 'hinge'")
        if self.loss == "hinge" and self.penalty != "l2":
            refuse(self, "penalty", "'l2' with loss='hinge'")
        self._refuse_params(multi_class="ovr")
        rows, codes, weights = self._check_data(X, y, sample_weight)
        count, shares = len(self.classes_), class_weights(self, codes, weights, self.class_weight)
        tasks, weights = [], without_negative(weights)
        for place in range(count) if count > 2 else [1]:
            own, share = codes == place, None
            if shares is not None:  # of more classes, liblinear weighs the one and not the others
                share = np.where(own, shares[place], shares[0] if count == 2 else 1.0)
            tasks.append((own, weighed(weights, share)))
        if self.loss == "hinge":
            targets = np.array([np.where(own, 1.0, -1.0) for own, _ in tasks])
            costs = [np.ones(len(codes)) if share is None else share for _, share in tasks]
            made, self.n_iter_ = _by_dual(
                self, rows, targets, self.C * np.array(costs), margin=True
            )
            self._keep(rows, made)
            return self
        found, self.n_iter_ = [], 0
        for own, share in tasks:
            made, iterations = minimize(
                self,
                rows,
                own,
                share,
                None,
                loss="squared_hinge",
                outputs=1,
                strength=self.C,
                l1_share=float(self.penalty == "l1"),
                intercept_scaling=float(self.intercept_scaling),
            )
            found.append(made)
            self.n_iter_ = max(self.n_iter_, iterations)
        self._keep(rows, np.concatenate(found))
        return self


class LinearSVR(LinearRegressor):
    """A linear support vector machine of numbers, on dense or sparse rows.

    Lowers ``|w|^2 / 2 + C sum(max(0, |y - x w - b| - epsilon))``, where `b` belongs to `w` (see
    `intercept_scaling`), by descent along the duals of the rows (Ho and Lin, JMLR 13, 2012), for
    which dense rows are copied as float64; squares by the search of `LogisticRegression`. The same
    bits for any number of threads.

    Parameters
    ----------
    epsilon : float, default 0.0
        Errors up to this cost nothing.
    tol : float, default 1e-4
        Ends when the slopes of the duals sum to no more, in parts of the first sum; for squares,
        when no element of the gradient of the mean loss is larger.
    C : float, default 1.0
        Weight of the losses.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
        What a row costs: its error, or the square of it.
    fit_intercept : bool, default True
        Add a constant to the scores, a coefficient of a column of `intercept_scaling`.
    intercept_scaling : float, default 1.0
        The larger, the less the constant costs.
    random_state : int, Generator or None
        Order of the rows.
    max_iter : int, default 1000
        The most rounds over the rows.
    dual, verbose
        Accepted and not used.

    Attributes
    ----------
    coef_ : numpy.ndarray
        ``[features]``
    intercept_ : numpy.ndarray or float
        ``[1]``; 0.0 without an intercept.
    n_iter_ : int

    >>> model = hr.learn.LinearSVR(C=100.0).fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(2).tolist()
    [7.0]
    """

    coef_: Any
    intercept_: Any

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "regressor",
        "input_tags": {"sparse": True},
    }
    n_iter_: int

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients of `y`, ``[samples]``; `sample_weight` are weights of the rows."""
        check_numbers(self)
        if self.loss not in ("epsilon_insensitive", "squared_epsilon_insensitive"):
            refuse(self, "loss", "'epsilon_insensitive' or 'squared_epsilon_insensitive'")
        if not (is_number(self.epsilon) and self.epsilon >= 0):
            refuse(self, "epsilon", "a number from 0 on")
        rows = dense_or_sparse(self, X, fit=True)
        samples = rows.shape[0]
        targets = check_targets(self, check_labels(self, y, samples), samples)
        weights = check_weights(self, sample_weight, samples, negative=True)
        given = without_negative(weights)
        if self.loss == "epsilon_insensitive":
            costs = self.C * (np.ones((1, samples)) if given is None else given[None, :])
            made, self.n_iter_ = _by_dual(
                self, rows, targets[None, :], costs, margin=False, epsilon=float(self.epsilon)
            )
        else:
            size = float(np.abs(targets).max()) or 1.0  # which the tolerance is a part of
            made, self.n_iter_ = minimize(
                self,
                rows,
                targets / size,
                given,
                None,
                loss="squared_distance",
                outputs=1,
                strength=self.C,
                l1_share=0.0,
                intercept_scaling=float(self.intercept_scaling),
                epsilon=self.epsilon / size,
            )
            made = made * size
        kept = made[0].astype(str(rows.dtype))
        self.coef_, self.intercept_ = kept[:-1].copy(), kept[-1:].copy()
        if not self.fit_intercept:
            self.intercept_ = 0.0
        return self
