# SPDX-License-Identifier: Apache-2.0
"""Scores by the value of a parameter, and by the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace.errors import InvalidArgumentError, UnsupportedError
from headrace.learn.selection.candidates import numpy_random
from headrace.learn.selection.evaluation import evaluation_of, refuse_verbose, splits_of


def validation_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    param_name: str,
    param_range: Any,
    groups: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    error_score: Any = np.nan,
    params: dict[str, Any] | None = None,
) -> tuple[np.ndarray[Any, Any], ...]:
    """Scores of the training and the test rows for values of a parameter, ``[values, folds]``.

    Other parameters are those of `cross_val_score`; fits share what those of `GridSearchCV` share.

    >>> rows, targets = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> train, test = hr.learn.validation_curve(
    ...     hr.learn.Ridge(), rows, targets, param_name="alpha", param_range=[0.0, 1.0], cv=2
    ... )
    >>> train.round(2).tolist()
    [[1.0, 1.0], [0.56, 0.56]]
    """
    refuse_verbose("validation_curve", verbose)
    candidates = [{param_name: value} for value in param_range]
    run = evaluation_of(estimator, X, y, scoring, error_score, True)
    splits = splits_of(estimator, run.X, run.y, cv, groups)
    return _scores_of(run.run(candidates, splits, params or {}))


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: dict[str, Any] | None = None,
) -> tuple[np.ndarray[Any, Any], ...]:
    """Scores for more and more training rows: their numbers, and ``[sizes, folds]`` of each.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, error_score, params
        As in `cross_val_score`.
    train_sizes : array_like
        Numbers of rows, or shares of the first fold's training rows; equal ones count once.
    shuffle : bool, default False
        Draw the rows by `random_state`; else they are the fold's first.
    exploit_incremental_learning : False
        True is not supported.
    return_times : bool, default False
        Return seconds of fits and scores too.
    n_jobs, pre_dispatch
        Without effect: each fit uses all threads.
    verbose : 0
        Not supported.

    Returns
    -------
    sizes, train_scores, test_scores : numpy.ndarray
        And ``fit_times, score_times`` with `return_times`.

    >>> rows, targets = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> sizes, train, test = hr.learn.learning_curve(
    ...     hr.learn.Ridge(0.0), rows, targets, train_sizes=[0.7, 1.0], cv=3
    ... )
    >>> sizes.tolist(), test.shape
    ([2, 4], (2, 3))
    """
    refuse_verbose("learning_curve", verbose)
    if exploit_incremental_learning:
        raise UnsupportedError(
            "learning_curve: not supported: exploit_incremental_learning=True; leave it out"
        )
    run = evaluation_of(estimator, X, y, scoring, error_score, True)
    splits = splits_of(estimator, run.X, run.y, cv, groups)
    sizes = _sizes(np.asarray(train_sizes), len(splits[0][0]))
    if shuffle:
        draws = numpy_random(random_state)
        splits = [(draws.permutation(train), test) for train, test in splits]
    tables = [
        run.run([{}], [(train[:size], test) for train, test in splits], params or {})[0]
        for size in sizes
    ]
    return (sizes, *_scores_of(tables, times=return_times))


def _scores_of(
    table: list[list[dict[str, float]]], *, times: bool = False
) -> tuple[np.ndarray[Any, Any], ...]:
    names = ("train_score", "test_score", *(("fit_time", "score_time") if times else ()))
    return tuple(np.array([[fold[name] for fold in row] for row in table]) for name in names)


def _sizes(given: np.ndarray[Any, Any], most: int) -> np.ndarray[Any, Any]:
    """Numbers of training rows, each once."""
    found = given
    if given.dtype.kind == "f":
        found = (given * most).astype(np.int64).clip(1, most)
        wrong = bool(given.min() <= 0 or given.max() > 1)
    else:
        wrong = bool(given.min() <= 0 or given.max() > most)
    if wrong:
        raise InvalidArgumentError(
            f"learning_curve: train_sizes are out of range: least={given.min()}, largest="
            f"{given.max()}; use shares in (0, 1] or numbers from 1 to {most}"
        )
    return np.unique(found)
