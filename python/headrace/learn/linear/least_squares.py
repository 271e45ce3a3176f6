# SPDX-License-Identifier: Apache-2.0
"""Linear models of numbers: least squares and ridge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from headrace import _core, linalg
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import UnsupportedError
from headrace.learn.base import (
    Estimator,
    answer,
    beside,
    check_rows,
    check_targets,
    check_weights,
    engine_weights,
    is_number,
    is_on_device,
    on_host,
    refuse,
    refuse_not_finite,
)
from headrace.learn.few_rows import few_rows
from headrace.learn.linear.descent import SharedSums, Sums
from headrace.learn.parameters import check_numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]

#: Normal equations lose twice the digits of the condition; beyond this one, rows are factored.
_MOST_CONDITION = 1e5
_SOLVERS = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")


def _shortest(rows: Array, targets: Array) -> tuple[Any, int, Any]:
    """`_by_rows` without a penalty, from the triangle of QR.

    The eigenvectors of ``[[0, A], [A.T, 0]]`` are the singular vectors of A above each other, for
    any rank of A, and keep its digits: A is not squared.
    """
    wide = rows.shape[0] < rows.shape[1]
    base, triangle = linalg.qr(asarray(np.ascontiguousarray(rows.T)) if wide else rows)
    middle = np.asarray(triangle.T if wide else triangle)
    size = len(middle)
    nothing = np.zeros((size, size))
    found, vectors = map(
        np.asarray, linalg.eigh(np.block([[nothing, middle], [middle.T, nothing]]))
    )
    values = found[::-1][:size].clip(0.0, None)
    rank = int((values > values[0] * np.finfo(np.float64).eps * max(rows.shape)).sum())
    kept = np.ascontiguousarray(vectors[:, ::-1][:, :rank]) * np.sqrt(2.0)
    left, right = asarray(kept[:size]), asarray(kept[size:])
    along = left.T @ (targets if wide else base.T @ targets)
    made = right @ (along / asarray(values[:rank].reshape(-1, 1)))
    return np.asarray(base @ made if wide else made), rank, values


def _by_products(gram: Any, products: Any, alpha: float) -> tuple[Any, Any] | None:
    """Coefficients and singular values from X^T X and X^T y, unless they lose too many digits."""
    gram = gram + np.eye(len(gram)) * alpha
    values = np.asarray(linalg.eigvalsh(gram))
    if values[0] * _MOST_CONDITION <= values[-1]:
        return None
    return np.asarray(linalg.solve(gram, products)), np.sqrt(values[::-1])


def _by_rows(rows: Array, targets: Numbers, alpha: float) -> tuple[Any, int, Any]:
    """The shortest ``w`` of least ``|rows w - targets|^2 + alpha |w|^2``, rank, singular values."""
    if alpha > 0:
        features = rows.shape[1]
        rows = asarray(np.concatenate([np.asarray(rows), np.eye(features) * np.sqrt(alpha)]))
        targets = np.concatenate([targets, np.zeros((features, targets.shape[1]))])
    return _shortest(rows, asarray(np.ascontiguousarray(targets)))


class Centred(NamedTuple):
    """Rows and targets less their means, times the roots of their weights, as float64."""

    rows: Array
    columns: np.ndarray[Any, Any]  # [samples, outputs]
    weights: np.ndarray[Any, Any] | None
    centre: np.ndarray[Any, Any]  # [features]
    level: np.ndarray[Any, Any]  # [outputs]
    alone: bool  # targets have one dimension
    dtype: np.dtype[Any]  # of the rows that were given


class _LeastSquares(Estimator):
    """What models do that say a weighted sum of the columns."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "regressor",
        "target_tags": {"multi_output": True, "single_output": True},
    }
    _fitted_as = "coef_"
    fit_intercept: bool
    positive: bool
    coef_: Any
    intercept_: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, alphas: Any) -> list[tuple[int, Any]]:
        """Set `coef_` and `intercept_`; the rank and singular values for each penalty."""
        if self.positive:
            raise UnsupportedError(
                f"{type(self).__name__}: positive coefficients are not supported: positive=True; "
                "leave positive=False"
            )
        data = given, targets, weights = self._data(X, y, sample_weight, allow_nan="inf")
        columns = targets.reshape(len(given), -1)
        features, outputs = given.shape[1], columns.shape[1]
        penalties = np.broadcast_to(np.asarray(alphas, dtype=np.float64), (outputs,))
        made: Centred | None = None
        products = None
        if len(given) >= features or (penalties > 0).all():  # else the rows are fewer numbers
            nodes = asarray(columns)._node, engine_weights(weights)._node
            found = _core.second_moments(given._node, *nodes, bool(self.fit_intercept))
            means, products = (np.asarray(Array(node)) for node in found[:2])
        # NaN and infinite values show in the sums, which saves a pass over the rows.
        sums = None if products is None else means if self.fit_intercept else products.diagonal()
        if sums is None or not np.isfinite(sums[:features]).all():
            refuse_not_finite(self, given)
        coefficients, solved = np.empty((outputs, features)), []
        for alpha in np.unique(penalties):
            mine, one = penalties == alpha, None
            if products is not None:
                along = np.ascontiguousarray(products[:features, features:][:, mine])
                one = _by_products(products[:features, :features], along, float(alpha))
            if one is None:
                made = made or self._centred(*data)
                found, *rest = _by_rows(made.rows, made.columns[:, mine], float(alpha))
            else:
                found, rest = one[0], [features, one[1]]
            coefficients[mine] = found.T
            solved.append(tuple(rest))
        centre, level = (
            (made.centre, made.level)  # type: ignore[union-attr]
            if products is None
            else (means[:features], means[features:])
        )
        self._keep(coefficients, centre, level, targets.ndim == 1, np.dtype(str(given.dtype)))
        return solved

    def _data(
        self, X: Any, y: Any, sample_weight: Any, *, allow_nan: bool | str = False
    ) -> tuple[Array, Any, Array | None]:
        """Checked rows, targets and weights."""
        given = check_rows(self, X, fit=True, allow_nan=allow_nan)
        targets = check_targets(self, y, len(given))
        return given, targets, check_weights(self, sample_weight, len(given))

    def _centred(self, given: Array, targets: Any, weights: Array | None) -> Centred:
        rows, columns = on_host(given).astype("float64"), np.asarray(targets)
        columns = columns.reshape(len(columns), -1)
        scale = None if weights is None else np.asarray(weights)
        centre, level = np.zeros(rows.shape[1]), np.zeros(columns.shape[1])
        if self.fit_intercept:
            total = float(len(rows)) if scale is None else float(scale.sum())
            across = np.ones((1, len(rows))) if scale is None else scale.reshape(1, -1)
            centre = np.asarray(asarray(across) @ rows)[0] / total
            level = (columns if scale is None else columns * scale[:, None]).sum(axis=0) / total
            rows, columns = rows - asarray(centre), columns - level
        if scale is not None:
            root = np.sqrt(scale).reshape(-1, 1)
            rows, columns = rows * asarray(root), columns * root
        dtype = np.dtype(str(given.dtype))
        return Centred(rows, columns, scale, centre, level, targets.ndim == 1, dtype)

    def _keep(
        self, coefficients: Numbers, centre: Numbers, level: Numbers, alone: bool, dtype: Any
    ) -> None:
        """Set `coef_` and `intercept_`, ``[outputs, features]`` and the constants that follow."""
        constants = level - (coefficients * centre).sum(axis=1)
        intercept, coefficients = constants.astype(dtype), coefficients.astype(dtype)
        self.coef_ = coefficients[0] if alone else coefficients
        self.intercept_ = (intercept[0] if alone else intercept) if self.fit_intercept else 0.0

    def _from(self, sums: Sums, alpha: float) -> tuple[Any, Any] | None:
        gram, products = sums.centred(bool(self.fit_intercept))
        made = _by_products(gram, products.reshape(-1, 1), alpha)
        return None if made is None else (made[0][:, 0], made[1])

    @few_rows
    def predict(self, X: Any) -> Any:
        """Sums of the columns by `coef_`: ``[samples]`` or ``[samples, outputs]``."""
        self._check_fitted()
        rows = check_rows(self, X)
        made = rows @ beside(rows, np.ascontiguousarray(self.coef_.T))
        return answer(X, made + beside(rows, self.intercept_))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination of the prediction."""
        from headrace.learn.metrics import r2_score

        return r2_score(y, self.predict(X), sample_weight=sample_weight)


class LinearRegression(_LeastSquares):
    """Least squares, in float64 inside; the same bits for any number of threads.

    Columns that depend on each other share the shortest coefficients.

    Parameters
    ----------
    fit_intercept : bool, default True
        Add a constant to the sum of the columns.
    copy_X, tol, n_jobs
        Accepted and not used: `X` is never changed.
    positive : bool, default False
        True is not supported.

    Attributes
    ----------
    coef_ : numpy.ndarray
        ``[features]``, or ``[outputs, features]`` for targets in columns.
    intercept_ : float or numpy.ndarray
        0.0 without an intercept, else one for each output.
    rank_ : int
    singular_ : numpy.ndarray
        Singular values of the centred rows, largest first.

    >>> model = hr.learn.LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> model.predict([[3.0]]).round(6).tolist()
    [7.0]
    """

    rank_: int
    singular_: Any

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return SharedSums(self, X, y)

    def _of_sums(self, sums: Sums) -> Any:
        found = None if self.positive else self._from(sums, 0.0)
        if found is None:
            return None
        self.rank_, self.singular_ = len(sums.first), found[1]
        return found[0]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients of ``y``, ``[samples]`` or ``[samples, outputs]``."""
        [(self.rank_, self.singular_)] = self._fit(X, y, sample_weight, 0.0)
        return self


class Ridge(_LeastSquares):
    """Least squares with a penalty on squared coefficients, in float64 inside.

    Every solver of scikit-learn finds this minimum; ours finds it directly, whatever `solver` says.

    Parameters
    ----------
    alpha : float or array_like of shape [outputs], default 1.0
        Weight of the penalty.
    fit_intercept : bool, default True
        Add a constant, without penalty, to the sum of the columns.
    copy_X, max_iter, tol, solver, random_state
        Accepted and not used: the solution is direct, and `X` is never changed.
    positive : bool, default False
        True is not supported.

    Attributes
    ----------
    coef_, intercept_
        As those of `LinearRegression`.
    n_iter_ : None
    solver_ : str
        ``"cholesky"``

    >>> model = hr.learn.Ridge(1.0).fit([[-1.0], [1.0]], [-3.0, 3.0])
    >>> model.coef_.round(6).tolist()
    [2.0]
    """

    coef_: Any

    n_iter_: None
    solver_: str

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state

    def _fit_folds(self, X: Any, y: Any) -> Any:
        return SharedSums(self, X, y)

    def _of_sums(self, sums: Sums) -> Any:
        fits = not self.positive and is_number(self.alpha) and self.alpha >= 0
        if not fits or self.solver not in _SOLVERS or self.solver == "lbfgs":
            return None  # `fit` says what is wrong
        found = self._from(sums, float(self.alpha))
        if found is None:
            return None
        self.n_iter_, self.solver_ = None, "cholesky"
        return found[0]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients of ``y``, ``[samples]`` or ``[samples, outputs]``."""
        if self.solver not in _SOLVERS or self.solver == "lbfgs":
            refuse(self, "solver", "a solver of scikit-learn that takes both signs")
        alphas = check_numbers(self, "alpha")
        if not (np.isfinite(alphas).all() and (alphas >= 0).all()):
            refuse(self, "alpha", "a number that is not negative, or one for each output")
        shape = () if y is None else (y if is_on_device(y) else np.asarray(y)).shape
        outputs = shape[1] if len(shape) == 2 else 1
        if alphas.ndim and alphas.shape != (outputs,):
            refuse(self, "alpha", f"one number, or one for each of {outputs} outputs")
        self._fit(X, y, sample_weight, alphas)
        if outputs == 1:
            self.coef_ = self.coef_.reshape(-1)  # of one column of targets too
        self.n_iter_, self.solver_ = None, "cholesky"
        return self
