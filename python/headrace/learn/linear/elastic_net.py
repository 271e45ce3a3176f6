# SPDX-License-Identifier: Apache-2.0
"""Least squares with a penalty on absolute values: the lasso and the elastic net."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.array.construct import asarray
from headrace.learn.base import (
    answer,
    check_targets,
    check_weights,
    is_number,
    refuse,
    warn_not_converged,
)
from headrace.learn.decomposition.singular import dense_or_sparse, kind_of_result
from headrace.learn.few_rows import few_rows
from headrace.learn.linear.descent import Descent, SharedSums, Sums, descent, design
from headrace.learn.linear.least_squares import _LeastSquares
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


class LinearRegressor(_LeastSquares):
    """What models of numbers do that take sparse rows."""

    @few_rows
    def predict(self, X: Any) -> Any:
        """Sums of the columns by `coef_`: ``[samples]`` or ``[samples, outputs]``."""
        self._check_fitted()
        rows = dense_or_sparse(self, X)
        turned = np.ascontiguousarray(self.coef_.T)
        if isinstance(rows, csr_matrix):
            turned = turned.astype(str(rows.dtype))
        return answer(kind_of_result(X), rows @ asarray(turned) + self.intercept_)


class ElasticNet(LinearRegressor):
    """Least squares with penalties on absolute values and squares, in float64 inside.

    Lowers ``|y - X w|^2 / (2 n) + alpha (l1_ratio |w|_1 + (1 - l1_ratio) |w|^2 / 2)`` by cyclic
    coordinate descent (Friedman, Hastie and Tibshirani, Journal of Statistical Software 33, 2010)
    on the products of the columns, made in one pass, or on a copy of them where there are more than
    4,000 or fewer rows than columns. Features that the duality gap proves to be zero are left out
    (Ndiaye and others, JMLR 18, 2017). The same bits for any number of threads.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the penalty.
    l1_ratio : float, default 0.5
        The part of absolute values in it, 0 to 1.
    fit_intercept : bool, default True
        Add a constant, without penalty, to the sum of the columns.
    max_iter : int, default 1000
        The most sweeps over the features.
    tol : float, default 1e-4
        Ends when the duality gap is at most this times ``|y|^2``.
    warm_start : bool, default False
        Begin with the coefficients of the last fit.
    positive : bool, default False
        No coefficient is below zero.
    precompute, copy_X, random_state, selection
        Accepted and not used: the order is cyclic, and `X` is never changed.

    Attributes
    ----------
    coef_, intercept_
        As those of `LinearRegression`.
    dual_gap_ : float or numpy.ndarray
        How far the value is from the least one at most, for each output.
    n_iter_ : int or list of int
        Sweeps, for each output.

    >>> model = hr.learn.ElasticNet(0.1).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
    >>> model.predict([[1.0, 1.0]]).round(6).tolist()
    [1.0]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        **_LeastSquares._tags,
        "input_tags": {"sparse": True},
    }
    l1_ratio: float
    coef_: Any
    intercept_: Any
    dual_gap_: Any
    n_iter_: Any

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    def _check_params(self) -> None:
        self._check_limits()
        for name, most in (("alpha", np.inf), ("l1_ratio", 1)):
            value = getattr(self, name)
            if not (is_number(value) and 0 <= value <= most and np.isfinite(value)):
                refuse(self, name, f"a number from 0 to {most}")

    def _check_limits(self) -> None:
        if not (is_number(self.tol) and self.tol >= 0):
            refuse(self, "tol", "a number from 0 on")
        if not (is_number(self.max_iter, integer=True) and self.max_iter > 0):
            refuse(self, "max_iter", "an integer from 1 on")
        if self.selection not in ("cyclic", "random"):
            refuse(self, "selection", "'cyclic' or 'random'")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Find the coefficients of ``y``, ``[samples]`` or ``[samples, outputs]``.

        `X` is ``[samples, features]``, dense or sparse, without NaN; `check_input` is not used.
        """
        self._check_params()
        rows = dense_or_sparse(self, X, fit=True)
        samples, features = rows.shape
        targets = check_targets(self, y, samples)
        weighed = check_weights(self, sample_weight, samples)
        weights = (
            None if weighed is None else np.asarray(weighed) * (samples / float(weighed.sum()))
        )
        columns = targets.reshape(samples, -1)
        made = design(rows, weights, self.fit_intercept)
        level = np.zeros(columns.shape[1])
        if self.fit_intercept:
            level = np.average(columns, axis=0, weights=weights)
        start = np.zeros((columns.shape[1], features))
        if self.warm_start and np.size(getattr(self, "coef_", ())) == start.size:
            start = np.reshape(self.coef_, start.shape)
        found, gaps, sweeps = np.empty_like(start), [], []
        for place in range(columns.shape[1]):
            target = descent(made, columns[:, place] - level[place])
            found[place], gap, count = self._walk(target, start[place], float(samples))
            gaps.append(gap)
            sweeps.append(count)
        dtype = np.dtype(str(rows.dtype))
        intercept = (level - found @ made.shift).astype(dtype)
        alone = columns.shape[1] == 1
        self.coef_ = (found[0] if alone else found).astype(dtype)
        self.dual_gap_ = gaps[0] if alone else np.array(gaps)
        self.n_iter_ = sweeps[0] if alone else sweeps
        self.intercept_ = (
            (intercept[0] if targets.ndim == 1 else intercept) if self.fit_intercept else 0.0
        )
        return self

    def _walk(self, target: Descent, start: Numbers, weight: float) -> tuple[Numbers, float, int]:
        """Coefficients, how far they may be from the best, and sweeps."""
        found, gap, count, converged = target.fit(
            start,
            float(self.alpha) * self.l1_ratio * weight,
            float(self.alpha) * (1.0 - self.l1_ratio) * weight,
            positive=bool(self.positive),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )
        if not converged:
            warn_not_converged(
                f"{type(self).__name__}: the sweeps did not converge: gap={gap:.3e}, max_iter="
                f"{self.max_iter}, tol={self.tol}; increase max_iter or alpha, or scale the "
                "features with hr.learn.StandardScaler",
                stacklevel=4,
            )
        return found, gap / weight, count

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return SharedSums(self, X, y)

    def _of_sums(self, sums: Sums) -> Numbers:
        self._check_params()
        target = sums.descent(bool(self.fit_intercept))
        found, self.dual_gap_, self.n_iter_ = self._walk(
            target, np.zeros(len(sums.first)), sums.weight
        )
        return found

    @property
    def sparse_coef_(self) -> csr_matrix:
        """`coef_` as a sparse matrix, ``[outputs, features]``."""
        return csr_matrix(np.atleast_2d(self.coef_))


class Lasso(ElasticNet):
    """Least squares with a penalty on absolute values: `ElasticNet` with ``l1_ratio=1``.

    Parameters
    ----------
    alpha : float, default 1.0
        Weight of the penalty: lowers ``|y - X w|^2 / (2 n) + alpha |w|_1``.
    fit_intercept, max_iter, tol, warm_start, positive, precompute, copy_X, random_state, selection
        As in `ElasticNet`.

    Attributes
    ----------
    coef_, intercept_, dual_gap_, n_iter_
        As those of `ElasticNet`.

    >>> model = hr.learn.Lasso(0.1).fit([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0])
    >>> model.coef_.round(6).tolist(), round(float(model.intercept_), 6)
    ([0.85, 0.0], 0.15)
    """

    l1_ratio: float = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
