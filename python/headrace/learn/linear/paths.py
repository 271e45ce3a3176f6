# SPDX-License-Identifier: Apache-2.0
"""Elastic nets of many penalties: paths, and the penalty that folds choose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.learn.base import (
    check_labels,
    check_targets,
    check_weights,
    is_number,
    refuse,
    warn_not_converged,
)
from headrace.learn.decomposition.singular import dense_or_sparse
from headrace.learn.linear.descent import (
    MOST_PRODUCTS,
    Descent,
    Part,
    are_parts,
    descent,
    design,
    part_of,
    rows_between,
    without_each,
)
from headrace.learn.linear.elastic_net import ElasticNet
from headrace.learn.selection.splits import check_cv, split_places

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]


def alpha_grid(
    products: Numbers, weight: float, l1_ratio: float, eps: float, count: int, positive: bool
) -> Numbers:
    """Penalties from the least that makes all coefficients zero down to `eps` of it."""
    if l1_ratio == 0:
        raise InvalidArgumentError(
            "Automatic alpha grid generation is not supported for l1_ratio=0. Please supply a grid "
            "by providing your estimator with the appropriate `alphas=` argument."
        )
    largest = max(0.0, products.max()) if positive else np.abs(products).max()
    first = largest / (weight * l1_ratio)
    least = float(np.finfo(np.float64).resolution)
    if first <= least:
        return np.full(count, least)
    return np.geomspace(first, first * eps, num=count)


def _walk(
    target: Descent,
    alphas: Numbers,
    weight: float,
    l1_ratio: float,
    start: Numbers | None = None,
    **options: Any,
) -> tuple[Numbers, list[float], list[int]]:
    """Coefficients of each penalty, ``[alphas, features]``, gaps and sweeps."""
    made = np.empty((len(alphas), len(target.products())))
    at, gaps, sweeps = np.zeros(made.shape[1]) if start is None else start, [], []
    for place, alpha in enumerate(alphas):
        l1, l2 = alpha * l1_ratio * weight, alpha * (1.0 - l1_ratio) * weight
        at, gap, count, _ = target.fit(at, float(l1), float(l2), **options)
        made[place] = at
        gaps.append(gap / weight)
        sweeps.append(count)
    return made, gaps, sweeps


def enet_path(
    X: Any,
    y: Any,
    *,
    l1_ratio: float = 0.5,
    eps: float = 1e-3,
    n_alphas: Any = "deprecated",
    alphas: Any = 100,
    precompute: Any = "auto",
    Xy: Any = None,
    copy_X: bool = True,
    coef_init: Any = None,
    verbose: bool = False,
    return_n_iter: bool = False,
    positive: bool = False,
    check_input: bool = True,
    **params: Any,
) -> tuple[Any, ...]:
    """Coefficients of an elastic net without a constant for many penalties, largest first.

    Each begins where the one before it ended; the products of the columns are made once, where
    rows are more than columns and these at most 4,000.

    Parameters
    ----------
    X : array_like
        ``[samples, features]``, dense or sparse, without NaN.
    y : array_like
        ``[samples]``; several columns raise UnsupportedError.
    l1_ratio : float, default 0.5
        The part of absolute values in the penalty.
    eps : float, default 1e-3
        The least penalty, as a part of the least one that makes all coefficients zero.
    alphas : int or array_like, default 100
        How many penalties, or these; `n_alphas` is scikit-learn's older name of the number.
    coef_init : array_like, optional
        Where the largest penalty begins, by default at zero.
    return_n_iter : bool, default False
        Return sweeps too.
    positive : bool, default False
        No coefficient is below zero.
    precompute, Xy, copy_X, verbose, check_input
        Accepted and not used.
    **params
        `max_iter` and `tol` of `ElasticNet`.

    Returns
    -------
    alphas : numpy.ndarray
        ``[alphas]``, falling.
    coefs : numpy.ndarray
        ``[features, alphas]``
    dual_gaps : numpy.ndarray
        ``[alphas]``
    n_iters : list of int
        With `return_n_iter`.

    >>> alphas, coefs, gaps = hr.learn.enet_path([[1.0], [2.0]], [2.0, 4.0], alphas=[1.0, 0.1])
    >>> coefs.round(3).tolist()
    [[1.5, 1.941]]
    """
    model = ElasticNet(l1_ratio=l1_ratio, positive=positive, **params)
    model._check_params()
    rows = dense_or_sparse(model, X, fit=True)
    samples, features = rows.shape
    targets = check_targets(model, y, samples)
    if targets.ndim > 1:
        raise UnsupportedError(
            f"enet_path: only one column of targets is supported: y.shape={targets.shape}; call it "
            "for each"
        )
    target = descent(design(rows, None, False), targets)
    count = alphas if n_alphas == "deprecated" else n_alphas
    if is_number(count, integer=True):
        grid = alpha_grid(target.products(), float(samples), l1_ratio, eps, int(count), positive)
    else:
        grid = np.sort(np.asarray(count, dtype=float))[::-1]
    start = np.zeros(features) if coef_init is None else np.asarray(coef_init, dtype=float)
    options: dict[str, Any] = {
        "positive": bool(positive),
        "tol": float(model.tol),
        "max_iter": model.max_iter,
    }
    made, gaps, sweeps = _walk(target, grid, float(samples), l1_ratio, start, **options)
    worst = max(gaps) * samples
    if worst > model.tol * target.square:
        warn_not_converged(
            f"enet_path: the sweeps did not converge: gap={worst:.3e}, max_iter={model.max_iter}, "
            f"tol={model.tol}; increase max_iter, or scale the features"
        )
    found = np.ascontiguousarray(made.T.astype(str(rows.dtype)))
    return (grid, found, np.array(gaps), *([sweeps] if return_n_iter else []))


def lasso_path(X: Any, y: Any, **params: Any) -> tuple[Any, ...]:
    """Coefficients of a lasso for many penalties: `enet_path` with ``l1_ratio=1``.

    >>> alphas, coefs, gaps = hr.learn.lasso_path([[1.0], [2.0]], [2.0, 4.0], alphas=[1.0, 0.1])
    >>> coefs.round(3).tolist()
    [[1.6, 1.96]]
    """
    return enet_path(X, y, l1_ratio=1.0, **params)


# ---- penalties by folds --------------------------------------------------------------------------
class _Folds:
    """What the trials of penalties ask of rows and their folds."""

    def __init__(
        self, model: _NetCV, rows: Any, targets: Numbers, weights: Numbers | None, folds: Any
    ) -> None:
        self.rows, self.targets, self.weights, self.folds = rows, targets, weights, folds
        self.center = bool(model.fit_intercept)
        self.options: dict[str, Any] = {
            "positive": bool(model.positive),
            "tol": float(model.tol),
            "max_iter": int(model.max_iter),
        }
        self.weight = float(len(targets)) if weights is None else float(weights.sum())

    def part(self, places: Numbers) -> tuple[Any, Numbers, Numbers | None]:
        weights = None if self.weights is None else self.weights[places]
        return rows_between(self.rows, places), self.targets[places], weights


class _Products(_Folds):
    """Folds by sums of products: each row is read once, whatever the folds and penalties."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.tests = [self.sums(test) for _, test in self.folds]
        parts = are_parts(self.folds, *self.rows.shape)
        self.trains = without_each(self.tests) if parts else None
        self.all = (
            self.tests[0].joined(self.trains[0])
            if self.trains
            else self.sums(np.arange(len(self.targets)))
        )

    def sums(self, places: Numbers) -> Part:
        return part_of(self.rows, self.targets, self.weights, places, self.center)

    def whole(self) -> Descent:
        return self.all.sums.descent(self.center)

    def finish(self, found: Numbers) -> float:
        return float(self.all.constants(found[None, :], self.center)[0])

    def errors(self, fold: int, alphas: Numbers, l1_ratio: float) -> Numbers:
        train = self.trains[fold] if self.trains else self.sums(self.folds[fold][0])
        sums = train.sums
        made, _, _ = _walk(sums.descent(self.center), alphas, sums.weight, l1_ratio, **self.options)
        return self.tests[fold].errors(made, train.constants(made, self.center))


class _Columns(_Folds):
    """Folds by copies of their columns, where these are many."""

    def _descent(
        self, rows: Any, targets: Numbers, weights: Numbers | None
    ) -> tuple[Descent, float]:
        level = float(np.average(targets, weights=weights)) if self.center else 0.0
        return descent(design(rows, weights, self.center), targets - level), level

    def whole(self) -> Descent:
        self.all, self.level = self._descent(self.rows, self.targets, self.weights)
        return self.all

    def finish(self, found: Numbers) -> float:
        return float(self.level - found @ self.all.design.shift)

    def errors(self, fold: int, alphas: Numbers, l1_ratio: float) -> Numbers:
        train, test = (self.part(places) for places in self.folds[fold])
        target, level = self._descent(*train)
        weight = float(len(train[1])) if train[2] is None else float(train[2].sum())
        made, _, _ = _walk(target, alphas, weight, l1_ratio, **self.options)
        turned = np.ascontiguousarray(made.T.astype(str(test[0].dtype)))
        predicted = np.asarray(test[0] @ turned) + (level - made @ target.design.shift)
        return np.average((predicted - test[1][:, None]) ** 2, axis=0, weights=test[2])


class _NetCV(ElasticNet):
    """What chooses a penalty by folds."""

    alphas: Any
    eps: float
    cv: Any
    alpha_: float
    alphas_: Numbers
    mse_path_: Numbers

    def _all_tags(self) -> Any:
        return {**self._tags, "target_tags": {"multi_output": False}}

    def _fit_folds(self, X: Any, y: Any) -> None:
        return None  # it makes folds of its own

    def _check_params(self) -> None:
        self._check_limits()
        if not (is_number(self.eps) and self.eps > 0):
            refuse(self, "eps", "a positive number")
        if is_number(self.alphas, integer=True):
            if self.alphas < 1:
                refuse(self, "alphas", "an integer from 1 on, or numbers")
        elif not (np.ndim(self.alphas) == 1 and (np.asarray(self.alphas) >= 0).all()):
            refuse(self, "alphas", "an integer from 1 on, or numbers that are not negative")
        ratios = np.atleast_1d(self.l1_ratio)
        if ratios.dtype.kind not in "fiu" or not ((ratios >= 0) & (ratios <= 1)).all():
            refuse(self, "l1_ratio", "numbers from 0 to 1")

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, **params: Any
    ) -> Self:
        """Choose the penalty by the errors on the folds, and fit all rows with it.

        `X` is ``[samples, features]``, dense or sparse, without NaN; `y` is ``[samples]``.
        """
        self._check_params()
        rows = dense_or_sparse(self, X, fit=True)
        samples, features = rows.shape
        targets = check_targets(self, check_labels(self, y, samples), samples)
        weighed = check_weights(self, sample_weight, samples)
        weights = None if weighed is None else np.asarray(weighed)
        splitter = check_cv(self.cv, targets, classifier=False)
        folds = split_places(splitter, rows, targets, **params)
        for number, fold in enumerate(folds):
            if not all(
                len(rest if weights is None else weights[rest].nonzero()[0]) for rest in fold
            ):
                raise InvalidArgumentError(
                    f"{type(self).__name__}: no row to train or to test with has a weight: "
                    f"fold={number}, train={len(fold[0])}, test={len(fold[1])}; choose other folds"
                )
        kind = _Products if features <= MOST_PRODUCTS and samples >= 8 * features else _Columns
        trial = kind(self, rows, targets, weights, folds)
        whole, ratios = trial.whole(), np.atleast_1d(self.l1_ratio).astype(float)
        grids, errors = [], []
        for ratio in ratios:
            if is_number(self.alphas, integer=True):
                grid = alpha_grid(
                    whole.products(), trial.weight, ratio, self.eps, self.alphas, self.positive
                )
            else:
                grid = np.sort(np.asarray(self.alphas, dtype=float))[::-1]
            grids.append(grid)
            errors.append([trial.errors(k, grid, float(ratio)) for k in range(len(folds))])
        self.mse_path_ = np.squeeze(np.moveaxis(np.array(errors), 2, 1))
        means = np.array(errors).mean(axis=1)
        place, best = np.unravel_index(means.argmin(), means.shape)
        self.alpha_, ratio = float(grids[place][best]), float(ratios[place])
        several = len(grids) > 1 and is_number(self.alphas, integer=True)
        self.alphas_ = np.array(grids) if several else grids[0]
        if "l1_ratio" in self._get_param_names():
            self.l1_ratio_ = ratio
        made, gaps, sweeps = _walk(
            whole, np.array([self.alpha_]), trial.weight, ratio, **trial.options
        )
        dtype = np.dtype(str(rows.dtype))
        self.coef_, self.dual_gap_, self.n_iter_ = made[0].astype(dtype), gaps[0], sweeps[0]
        self.intercept_ = dtype.type(trial.finish(made[0])) if self.fit_intercept else 0.0
        return self


class ElasticNetCV(_NetCV):
    """`ElasticNet` whose penalty is the one of the least mean squared error on folds.

    The products of each fold are made once; those of the other folds are joined from them, and
    errors follow from the products: each row is read once, whatever the folds and penalties (where
    rows are at least eight times the features, and these at most 4,000; else from copies of the
    columns). The same bits for any number of threads.

    Parameters
    ----------
    l1_ratio : float or list of float, default 0.5
        Parts of absolute values in the penalty that are tried.
    eps : float, default 1e-3
        The least penalty that is tried, as a part of the largest.
    alphas : int or array_like, default 100
        How many penalties are tried, from the least that makes all coefficients zero on; or these.
    cv : int, splitter or list of splits, optional
        How rows are split, by default in 5 folds of contiguous rows.
    fit_intercept, max_iter, tol, positive, precompute, copy_X, random_state, selection
        As in `ElasticNet`.
    verbose, n_jobs
        Accepted and not used.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        What was chosen.
    alphas_ : numpy.ndarray
        ``[alphas]``, or ``[ratios, alphas]``: what was tried.
    mse_path_ : numpy.ndarray
        ``[alphas, folds]``, or ``[ratios, alphas, folds]``.
    coef_, intercept_, dual_gap_, n_iter_
        As those of `ElasticNet`, of all rows.

    >>> rows = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = hr.learn.ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(rows, rows[:, 0] * 3)
    >>> bool(np.abs(model.coef_ - [3, 0, 0, 0, 0]).max() < 0.02), model.mse_path_.shape
    (True, (2, 100, 5))
    """

    l1_ratio_: float

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection


class LassoCV(_NetCV):
    """`Lasso` whose penalty is the one of the least mean squared error on folds.

    Parameters
    ----------
    eps, alphas, cv, fit_intercept, max_iter, tol, positive, precompute, copy_X, verbose, n_jobs, \
random_state, selection
        As in `ElasticNetCV`.

    Attributes
    ----------
    alpha_, alphas_, mse_path_, coef_, intercept_, dual_gap_, n_iter_
        As those of `ElasticNetCV`.

    >>> rows = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = hr.learn.LassoCV().fit(rows, rows[:, 0] * 3)
    >>> bool(np.abs(model.coef_ - [3, 0, 0, 0, 0]).max() < 0.02)
    True
    """

    l1_ratio: Any = 1.0

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
