# SPDX-License-Identifier: Apache-2.0
"""Ridge whose penalty is chosen: by leaving out each row, or by folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace import linalg
from headrace.array.construct import asarray
from headrace.errors import UnsupportedError
from headrace.learn.base import refuse
from headrace.learn.linear.least_squares import Centred, Ridge, _LeastSquares
from headrace.learn.parameters import check_numbers

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]

_BLOCK = 1 << 15  # rows at a time
#: Products of columns keep the digits of penalties above this part of their largest one.
_LEAST_PENALTY = 1e-9


class _LeftOut:
    """Errors of rows that are left out, for any penalty, from one factorization."""

    def __init__(self, made: Centred, least: float, intercept: bool) -> None:
        self.rows, self.columns = made.rows, made.columns
        samples, features = made.rows.shape
        self.wide = samples < features
        self.constant = np.zeros(samples)  # what the mean takes of each row
        if intercept:
            shares = np.ones(samples) if made.weights is None else made.weights
            self.constant = shares / shares.sum()
        products = np.asarray(self.rows @ self.rows.T if self.wide else self.rows.T @ self.rows)
        # No product has a part along the roots of the weights: there, a known one is put, so that
        # little is taken away for the mean.
        self.moved = float(products.trace()) if self.wide and intercept else 0.0
        roots = np.sqrt(self.constant)
        if self.moved:
            products = products + self.moved * np.outer(roots, roots)
        values, vectors = map(np.asarray, linalg.eigh(asarray(products)))
        if least < _LEAST_PENALTY * values[-1]:
            tall = asarray(np.ascontiguousarray(self.rows.T)) if self.wide else self.rows
            triangle = linalg.qr(tall, mode="r")
            _, found, turned = linalg.svd(triangle, full_matrices=False)
            values, vectors, self.moved = np.asarray(found) ** 2, np.asarray(turned).T, 0.0
        self.values = values.clip(0.0, None)
        self.vectors = asarray(np.ascontiguousarray(vectors))
        columns = asarray(np.ascontiguousarray(self.columns))
        along = columns if self.wide else self.rows.T @ columns
        self.along = np.asarray(self.vectors.T @ along)

    def errors(self, alpha: float) -> Numbers:
        """How far each row's target is from what the others say of it, ``[samples, outputs]``."""
        inverse = 1.0 / (self.values + alpha).reshape(-1, 1)
        turned, made = asarray(inverse * self.along), np.empty_like(self.columns)
        constant = self.constant * (alpha / (alpha + self.moved))
        for first in range(0, len(made), _BLOCK):
            part = slice(first, first + _BLOCK)
            base = self.vectors[part] if self.wide else self.rows[part] @ self.vectors
            found, own = np.asarray(base @ turned), np.asarray(base * base @ asarray(inverse))
            if self.wide:
                residuals, left = alpha * found, alpha * own
            else:
                residuals, left = self.columns[part] - found, 1.0 - own
            made[part] = residuals / (left - constant[part].reshape(-1, 1))
        return made

    def coefficients(self, alpha: float) -> Numbers:
        """The fit to all rows, ``[outputs, features]``."""
        found = self.vectors @ asarray(self.along / (self.values + alpha).reshape(-1, 1))
        return np.asarray(self.rows.T @ found if self.wide else found).T


class _Same:
    """An estimator that predicts what it is given."""

    def predict(self, X: Any) -> Any:
        return X


class RidgeCV(_LeastSquares):
    """`Ridge` whose penalty is the best of some.

    By default of the errors of each row when it is left out, for all penalties from one
    factorization of the products of the columns (of the rows where these are fewer); with `cv` by
    folds, as `GridSearchCV`. The same bits for any number of threads.

    Parameters
    ----------
    alphas : array_like, default (0.1, 1.0, 10.0)
        Penalties that are tried, above 0.
    fit_intercept : bool, default True
        Add a constant, without penalty, to the sum of the columns.
    scoring : str or function, optional
        What judges the predictions; by default the mean squared error (with `cv`, R²).
    cv : int, splitter or list of splits, optional
        By default each row is left out.
    store_cv_results : bool, default False
        Keep `cv_results_`.
    alpha_per_target : bool, default False
        Choose a penalty for each column of targets.
    gcv_mode
        Accepted and not used.

    Attributes
    ----------
    alpha_ : float or numpy.ndarray
    best_score_ : float or numpy.ndarray
    coef_, intercept_
        As those of `LinearRegression`.
    cv_results_ : numpy.ndarray
        ``[samples, alphas]`` or ``[samples, outputs, alphas]``: squared errors, or predictions
        where `scoring` is given.

    >>> model = hr.learn.RidgeCV([0.01, 100.0]).fit([[0.0], [1.0], [2.0], [3.0]], [1, 3, 5, 7])
    >>> model.alpha_, model.coef_.round(2).tolist()
    (0.01, [2.0])
    """

    alpha_: Any
    best_score_: Any
    coef_: Any
    cv_results_: Numbers

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty for `y`, ``[samples]`` or ``[samples, outputs]``."""
        alphas = np.atleast_1d(check_numbers(self, "alphas"))
        if alphas.size == 0 or not (alphas >= (0 if self.cv is not None else 1e-300)).all():
            refuse(self, "alphas", "numbers above 0")
        if self.gcv_mode not in (None, "auto", "svd", "eigen"):
            refuse(self, "gcv_mode", "None: all modes give the same answer")
        if self.cv is not None:
            return self._choose_by_folds(X, y, sample_weight, alphas)
        if sample_weight is not None and self.scoring is not None:
            raise UnsupportedError(
                f"RidgeCV: weights of rows are for the mean squared error only: "
                f"scoring={self.scoring!r}; leave scoring out, or give cv"
            )
        made = self._centred(*self._data(X, y, sample_weight))
        trial = _LeftOut(made, float(alphas.min()), bool(self.fit_intercept))
        apart = self.alpha_per_target and not made.alone
        scores, stored = [], []
        for alpha in alphas.tolist():
            errors = trial.errors(alpha)
            if self.scoring is None:
                kept = errors**2
                found = -kept.mean(axis=0)
                scores.append(found if apart else np.full(len(found), -kept.mean()))
            else:
                kept = made.columns - errors + made.level
                scores.append(self._judge(kept, made.columns + made.level, apart))
            if self.store_cv_results:
                stored.append(kept[:, 0] if made.alone else kept)
        best = np.array(scores).argmax(axis=0)  # [outputs], the first of equal ones
        coefficients = np.empty((made.columns.shape[1], made.rows.shape[1]))
        for place in np.unique(best):
            found = trial.coefficients(float(alphas[place]))
            coefficients[best == place] = found[best == place]
        self._keep(coefficients, made.centre, made.level, made.alone, made.dtype)
        chosen = np.array(scores)[best, np.arange(len(best))]
        self.alpha_ = alphas[best] if apart else float(alphas[best[0]])
        self.best_score_ = chosen if apart else float(chosen[0])
        if self.store_cv_results:
            self.cv_results_ = np.stack(stored, axis=-1).astype(made.dtype)
        if len(self.coef_) == 1 and not made.alone:
            self.coef_ = self.coef_.reshape(-1)  # of one column of targets too, as scikit-learn's
        return self

    def _judge(self, predicted: Numbers, targets: Numbers, apart: bool) -> Numbers:
        """The scores of each column of targets."""
        from headrace.learn.metrics import scorer

        judge, outputs = scorer(self.scoring), targets.shape[1]
        if apart:
            return np.array(
                [judge(_Same(), predicted[:, k], targets[:, k]) for k in range(outputs)]
            )
        if outputs == 1:
            predicted, targets = predicted[:, 0], targets[:, 0]
        return np.full(outputs, float(judge(_Same(), predicted, targets)))

    def _choose_by_folds(self, X: Any, y: Any, sample_weight: Any, alphas: Numbers) -> Self:
        from headrace.learn.selection.search import GridSearchCV

        if self.store_cv_results or self.alpha_per_target:
            raise UnsupportedError(
                f"RidgeCV: store_cv_results and alpha_per_target are for leaving out rows: "
                f"cv={self.cv!r}; leave cv out"
            )
        search = GridSearchCV(
            Ridge(fit_intercept=self.fit_intercept),
            {"alpha": alphas.tolist()},
            cv=self.cv,
            scoring=self.scoring,
        )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        best = search.fit(X, y, **weights).best_estimator_
        self.alpha_, self.best_score_ = best.alpha, search.best_score_
        for name in ("coef_", "intercept_", "n_features_in_", "feature_names_in_"):
            if name in vars(best):
                setattr(self, name, getattr(best, name))
        return self
