# SPDX-License-Identifier: Apache-2.0
"""Logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.learn.base import answer, is_number, refuse
from headrace.learn.decomposition.singular import kind_of_result
from headrace.learn.labels import class_weights, log_shares
from headrace.learn.linear.classifier import (
    LinearClassifier,
    check_numbers,
    minimize,
    weighed,
    without_negative,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
_SHARES = {"l1": 1.0, "l2": 0.0, None: 0.0}


class LogisticRegression(LinearClassifier):
    """Logistic regression of two classes, and multinomial of more, on dense or sparse rows.

    Every solver of scikit-learn finds the least of one function; ours finds it by L-BFGS, whatever
    `solver` says (with ``l1``: OWL-QN, Andrew and Gao, ICML 2007), with about the second
    derivatives as its metric, so that columns need not be scaled. An evaluation reads the rows
    once. Sums are float64; the same bits for any number of threads.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, optional
        The older word for `l1_ratio` and ``C=inf``.
    C : float, default 1.0
        One over the weight of the penalty; ``inf``: no penalty.
    l1_ratio : float, default 0.0
        The part of absolute values in the penalty, 0 to 1; the rest is of squares.
    tol : float, default 1e-4
        Ends when no element of the gradient of the mean loss is larger.
    fit_intercept : bool, default True
        Add a constant to the scores, without penalty but for ``solver="liblinear"``.
    intercept_scaling : float, default 1.0
        With ``"liblinear"`` the constant is a coefficient of a column of this value.
    class_weight : {"balanced"} or dict, optional
        What rows of a class weigh; ``"balanced"``: all classes weigh the same.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}
        Only ``"liblinear"`` differs: two classes, a penalty on the constant.
    max_iter : int, default 100
        The most iterations; a `ConvergenceWarning` names a column that is far larger than others.
    warm_start : bool, default False
        Begin with the coefficients of the last fit.
    dual, random_state, verbose, n_jobs
        Accepted and not used.

    Attributes
    ----------
    classes_ : numpy.ndarray
    coef_, intercept_ : numpy.ndarray
        ``[1, features]`` and ``[1]`` for two classes, else ``[classes, features]`` and
        ``[classes]``; in the dtype of the rows.
    n_iter_ : numpy.ndarray
        int32 ``[1]``.

    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> model = hr.learn.LogisticRegression().fit(rows, labels)
    >>> model.predict([[0.4], [2.6]]).tolist(), model.predict_proba([[1.5]]).round(3).tolist()
    (['no', 'yes'], [[0.5, 0.5]])
    """

    n_iter_: np.ndarray[Any, Any]

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs

    def _all_tags(self) -> Mapping[str, Any]:
        multi = {"classifier_tags": {"multi_class": False}} if self.solver == "liblinear" else {}
        return {**self._tags, **multi}

    def _penalty(self) -> float:
        """The part of absolute values."""
        check_numbers(self)
        if self.solver not in _SOLVERS:
            refuse(self, "solver", f"one of {list(_SOLVERS)}")
        if self.penalty not in ("deprecated", "elasticnet", *_SHARES):
            refuse(self, "penalty", "'l1', 'l2', 'elasticnet' or None, or l1_ratio and C instead")
        share = 0.0 if self.l1_ratio is None else self.l1_ratio
        if not (is_number(share) and 0 <= share <= 1):
            refuse(self, "l1_ratio", "a number from 0 to 1")
        return float(_SHARES.get(self.penalty, share))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array_like or sparse matrix
            ``[samples, features]``, float32 or float64 (other numbers become that), without NaN.
        y : array_like
            ``[samples]``, labels of any kind.
        sample_weight : array_like, optional
            The weight of each row.
        """
        share = self._penalty()
        rows, codes, weights = self._check_data(X, y, sample_weight, as_array=True)
        shares = class_weights(self, codes, weights, self.class_weight)
        weights = weighed(weights, None if shares is None else shares[np.asarray(codes)])
        classes, liblinear = len(self.classes_), self.solver == "liblinear"
        if liblinear:
            weights = without_negative(weights)
        if liblinear and classes > 2:
            raise InvalidArgumentError(
                "LogisticRegression: The 'liblinear' solver does not support multiclass "
                f"classification (n_classes >= 3): classes={classes}; use another solver"
            )
        outputs, start = 1 if classes == 2 else classes, None
        if self.warm_start and hasattr(self, "coef_"):
            start = np.column_stack([self.coef_, self.intercept_])
            if start.shape != (outputs, rows.shape[1] + 1):
                start = None
        found, iterations = minimize(
            self,
            rows,
            codes,
            weights,
            start,
            loss="logistic" if classes == 2 else "multinomial",
            outputs=outputs,
            strength=np.inf if self.penalty is None else self.C,
            l1_share=share,
            intercept_scaling=float(self.intercept_scaling) if liblinear else 0.0,
        )
        self._keep(rows, found)
        self.n_iter_ = np.array([iterations], dtype=np.int32)
        return self

    def _log_shares(self, X: Any) -> Array:
        self._check_fitted()
        return log_shares(asarray(self._scores(X)))

    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes: ``[samples, classes]``."""
        return answer(kind_of_result(X), np.exp(self._log_shares(X)))

    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`, finite where it is too small for a float."""
        return answer(kind_of_result(X), self._log_shares(X))
