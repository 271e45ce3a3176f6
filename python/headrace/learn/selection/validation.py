# SPDX-License-Identifier: Apache-2.0
"""Scores and predictions of clones that were fitted to other rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.learn.base import clone, is_ours
from headrace.learn.labels import check_classes
from headrace.learn.selection.evaluation import (
    Evaluation,
    Fold,
    evaluation_of,
    of_fold,
    refuse_verbose,
    splits_of,
    with_rows,
)
from headrace.learn.selection.splits import count_rows


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: Any = np.nan,
) -> dict[str, Any]:
    """Times and scores of fits over folds, by name: ``fit_time``, ``score_time``, ``test_score``.

    As `cross_val_score`, with several scores (``test_NAME``) and those of the training rows;
    `params` are parameters of `fit`, with the rows of the fold where they have one for each row.

    >>> made = hr.learn.cross_validate(hr.learn.KMeans(1), [[0.0], [1.0], [3.0], [3.0]], cv=2)
    >>> sorted(made)
    ['fit_time', 'score_time', 'test_score']
    """
    refuse_verbose("cross_validate", verbose)
    run = evaluation_of(estimator, X, y, scoring, error_score, return_train_score)
    splits = splits_of(estimator, run.X, run.y, cv, groups)
    run.models = [] if return_estimator else None
    (table,) = run.run([{}], splits, params or {})
    made: dict[str, Any] = {
        name: np.array([each[name] for each in table]) for name in table[0] if name != "failed"
    }
    if return_estimator:
        made["estimator"] = run.models
    if return_indices:
        made["indices"] = {
            name: [split[place] for split in splits] for place, name in enumerate(("train", "test"))
        }
    return made


def cross_val_score(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    error_score: Any = np.nan,
) -> np.ndarray[Any, Any]:
    """The score on each fold of a clone that was fitted to the other folds.

    Parameters
    ----------
    estimator : estimator
        Ours or scikit-learn's.
    X, y : array_like
        Frames, arrays or lists: each fold gets rows of the same kind.
    groups : array_like, optional
        For `cv`.
    scoring : str or function, optional
        A name of `hr.learn.metrics` (``"accuracy"``, ``"neg_mean_squared_error"``, ...), a function
        ``(estimator, X, y)``, or the estimator's `score`.
    cv : int, splitter or list of (train, test), default 5
        An int is stratified for classifiers.
    n_jobs, pre_dispatch : optional
        Without effect: each fit uses all threads.
    verbose : 0
        Not supported.
    params : dict, optional
        Parameters of `fit`, with the rows of the fold where they have one for each row.
    error_score : "raise" or number, default NaN
        The score where a fit raises, with a warning; if all do, an error with the first one.
        OutOfMemoryError is always raised: scores do not depend on the limit.

    >>> class Mean(hr.learn.PCA):
    ...     def score(self, X, y=None):
    ...         return len(X)
    >>> hr.learn.cross_val_score(Mean(1), [[0.0], [1.0], [2.0], [3.0]], cv=2).tolist()
    [2.0, 2.0]
    """
    made = cross_validate(
        estimator,
        X,
        y,
        groups=groups,
        scoring=scoring,
        cv=cv,
        verbose=verbose,
        params=params,
        error_score=error_score,
    )
    return made["test_score"]


def cross_val_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    cv: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    params: dict[str, Any] | None = None,
    pre_dispatch: Any = "2*n_jobs",
    method: str = "predict",
) -> Any:
    """What a clone that was fitted to the other folds says of each row.

    Parameters
    ----------
    estimator, X, y, groups, cv, params
        As in `cross_val_score`; each row must be in the test rows of one fold.
    n_jobs, pre_dispatch
        Without effect: each fit uses all threads.
    verbose : 0
        Not supported.
    method : str, default "predict"
        ``"predict_proba"``, ``"predict_log_proba"`` and ``"decision_function"`` have a column for
        each class of `y`, in ascending order. A fold without a class gives 0, and the least float
        for logarithms and decisions.

    >>> rows, labels = [[0.0], [0.1], [1.0], [1.1]], [0, 0, 1, 1]
    >>> hr.learn.cross_val_predict(hr.learn.KNeighborsClassifier(1), rows, labels, cv=2).tolist()
    [0, 0, 1, 1]
    """
    refuse_verbose("cross_val_predict", verbose)
    X, y = with_rows(X), with_rows(y)  # noqa: N806
    size = count_rows(X, *(() if y is None else (y,)))
    splits = splits_of(estimator, X, y, cv, groups)
    order = np.concatenate([test for _, test in splits])
    if not np.array_equal(np.sort(order), np.arange(size)):
        raise InvalidArgumentError("cross_val_predict only works for partitions")
    labels = None
    if y is not None and method in ("predict_proba", "predict_log_proba", "decision_function"):
        labels, y = check_classes(estimator, y if is_ours(y) else np.asarray(y))
    run = Evaluation(estimator, X, y, lambda *_: 0.0, "raise", False)
    found = []
    for number, split in enumerate(splits):
        fold, model = Fold(number, *split, run._rows), clone(estimator)
        given = {name: of_fold(each, fold.train, size) for name, each in (params or {}).items()}
        model.fit(*fold.train_rows, **given)
        made = np.asarray(getattr(model, method)(fold.test_rows[0]))
        found.append(made if labels is None else _all_classes(made, model, method, len(labels)))
    joined = np.concatenate(found)
    made = np.empty_like(joined)
    made[order] = joined
    return asarray(made) if is_ours(X) and made.dtype.kind in "biuf" else made


def _all_classes(made: Any, model: Any, method: str, classes: int) -> Any:
    """The columns of a fold's classes among those of all."""
    if len(model.classes_) == classes:
        return made
    if method == "decision_function":
        shape = made.shape[1:] or (1,)
        if len(model.classes_) <= 2 or shape[0] != len(model.classes_):
            raise InvalidArgumentError(
                f"cross_val_predict: decisions of a fold without all classes have no columns to "
                f"stand in: classes={classes}, fold={len(model.classes_)}; use "
                "StratifiedKFold(n_splits=...) with fewer folds"
            )
    least = 0.0 if method == "predict_proba" else np.finfo(made.dtype).min
    found = np.full((len(made), classes), least, made.dtype)
    found[:, np.asarray(model.classes_)] = made
    return found
