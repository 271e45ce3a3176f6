# SPDX-License-Identifier: Apache-2.0
"""Fits and scores over folds, which share what they can; rows are taken where they are needed."""

from __future__ import annotations

import functools
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.array.construct import asarray
from headrace.errors import (
    InvalidArgumentError,
    OutOfMemoryError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.learn.base import Estimator, clone, is_ours, kind_of
from headrace.learn.labels import check_classes
from headrace.learn.selection.candidates import numpy_random
from headrace.learn.selection.splits import check_cv, count_rows, rows_at, split_places
from headrace.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable

    Candidate = dict[str, Any]


def scorers(estimator: Any, scoring: Any) -> Callable[..., dict[str, float]]:
    """A function ``(estimator, X, y)`` that gives scores by name; a single one is ``"score"``."""
    from headrace.learn.metrics import scorer

    if scoring is None and not hasattr(estimator, "score"):
        raise TypeMismatchError(
            "If no scoring is specified, the estimator passed should have a 'score' method. The "
            f"estimator {estimator!r} does not."
        )
    several = isinstance(scoring, list | tuple | set | dict)
    if several and not scoring:
        raise InvalidArgumentError(f"Empty list of scores was given: scoring={scoring!r}")
    named = (
        scoring
        if isinstance(scoring, dict)
        else {name: name for name in scoring}
        if several
        else {}
    )
    scores = {name: scorer(each) for name, each in named.items()}
    single = None if several else scorer(scoring)

    def judge(model: Any, X: Any, *y: Any, **weights: Any) -> dict[str, float]:
        if single is None:
            return {name: float(each(model, X, *y, **weights)) for name, each in scores.items()}
        made = single(model, X, *y, **weights)
        if isinstance(made, dict):
            return {name: float(each) for name, each in made.items()}
        return {"score": float(made)}

    return judge


def is_pairwise(estimator: Any) -> bool:
    """Whether `X` holds a number for each pair of rows."""
    if isinstance(estimator, Estimator):
        return bool(estimator._all_tags().get("input_tags", {}).get("pairwise"))
    tags = getattr(estimator, "__sklearn_tags__", None)
    return tags is not None and tags().input_tags.pairwise


def with_rows(values: Any) -> Any:
    """Values whose rows can be taken: other forms of sparse matrices in compressed rows."""
    if hasattr(values, "tocsr") and getattr(values, "format", "csr") != "csr":
        return values.tocsr()
    known = values is None or hasattr(values, "shape") or hasattr(values, "__len__")
    return values if known else np.asarray(values)


def _part(values: Any, places: Any, size: int) -> Any:
    """Rows of a parameter of `fit`, if it has one for each of `size` rows."""
    return rows_at(values, places) if np.ndim(values) and len(values) == size else values


class Fold:
    """The rows of a split, taken when they are asked for: what shares work may not need them.

    What `Estimator._fit_folds` gives has a method ``fold(fold, candidates)``: a function of a model
    with the parameters of a candidate, and of the candidate, that fits the model to the fold's
    training rows and returns True; False, where the model must be fitted by itself. A method
    ``see(folds)``, if there is one, is called first.
    """

    def __init__(
        self, number: int, train: Any, test: Any, rows: Callable[[Any, Any], tuple[Any, ...]]
    ) -> None:
        self.number = number  # among the folds of a search
        self.train: Any = train
        self.test: Any = test
        self._rows = rows

    @functools.cached_property
    def train_rows(self) -> tuple[Any, ...]:
        """Rows to fit, and their targets if there are some."""
        return self._rows(self.train, self.train)

    @functools.cached_property
    def test_rows(self) -> tuple[Any, ...]:
        """Rows to judge by."""
        return self._rows(self.test, self.train)


def _forget(model: Any) -> None:
    """Drop what fits that share work left for the scores."""
    if isinstance(model, Estimator):
        vars(model).pop("_known", None)
        for _, step in getattr(model, "steps", ()):
            _forget(step)


class Evaluation:
    """Fits and scores of candidates on folds; with `weigh`, scores take the weights of `fit`."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        scoring: Any,
        error_score: Any,
        train_score: bool,
        weigh: bool = False,
    ) -> None:
        self.estimator: Any = estimator
        self.X, self._weigh = X, weigh
        self.y: Any = y
        self.judge: Callable[..., dict[str, float]] = scorers(estimator, scoring)
        self.scoring: Any = scoring
        self.error_score: Any = error_score
        self.train_score: bool = train_score
        self._pairwise = is_pairwise(estimator)
        self.models: list[Any] | None = None  # a list keeps them; most hold rows
        self._shared: Any = None

    def _rows(self, places: Any, columns: Any) -> tuple[Any, ...]:
        rows = rows_at(self.X, places)
        if self._pairwise:
            rows = rows[:, columns]
        return (rows,) if self.y is None else (rows, rows_at(self.y, places))

    def _weights(self, params: dict[str, Any]) -> Any:
        """The weights of rows that scores take."""
        from headrace.learn.metrics import takes_weights

        weights = params.get("sample_weight") if self._weigh else None
        if weights is None:
            return None
        several = isinstance(self.scoring, list | tuple | set | dict)
        named = self.scoring.values() if isinstance(self.scoring, dict) else self.scoring
        if all(takes_weights(each, self.estimator) for each in (named if several else [named])):
            return weights
        warnings.warn(
            f"The scoring {self.scoring} does not support sample_weight, which may lead to "
            f"statistically incorrect results when fitting {self.estimator} with sample_weight.",
            stacklevel=5,
        )
        return None

    def _share(self) -> Any:
        """What fits to folds of the rows have in common, or None."""
        if self._shared is None and isinstance(self.estimator, Estimator) and not self._pairwise:
            try:
                self._shared = self.estimator._fit_folds(self.X, self.y)
            except (TypeError, ValueError):  # which each fit will say
                self._shared = None
        return self._shared

    @staticmethod
    def _fit_of(shared: Any, fold: Fold, candidates: list[Candidate]) -> Any:
        """What fits a candidate to a fold with work of others, or None."""
        if shared is None:
            return None
        try:
            return shared.fold(fold, candidates)
        except (TypeError, ValueError, IndexError):  # which each fit will say
            return None

    def run(
        self, candidates: list[Candidate], splits: list[Any], params: dict[str, Any]
    ) -> list[list[dict[str, float]]]:
        """Scores and times by candidate and fold."""
        table: list[list[dict[str, float]]] = [[] for _ in candidates]
        errors: list[Exception] = []
        total, size = len(candidates) * len(splits), count_rows(self.X)
        weights, shared = self._weights(params), None if params else self._share()

        order: Any = range(len(candidates))
        if shared is not None and hasattr(shared, "order"):
            order = shared.order(candidates)
        folds = [Fold(number, *split, self._rows) for number, split in enumerate(splits)]
        if shared is not None and hasattr(shared, "see"):
            shared.see(folds)
        with Progress(total, wait=2.0) as bar:
            while folds:
                fold = folds.pop(0)  # whose rows are dropped with it
                fit = self._fit_of(shared, fold, candidates)
                given = {name: _part(each, fold.train, size) for name, each in params.items()}
                judged = (
                    {} if weights is None else {"sample_weight": _part(weights, fold.test, size)}
                )
                for place in order:
                    candidate = candidates[place]
                    bar.step(f"fit {sum(map(len, table)) + 1} of {total}")
                    model = clone(self.estimator).set_params(**cloned(candidate))
                    known = None if fit is None else functools.partial(fit, model, candidate)
                    table[place].append(self._one(model, known, fold, given, judged, errors))
                    _forget(model)
                    if self.models is not None:
                        self.models.append(model)
        failed = [each for row in table for each in row if "failed" in each]
        if failed and len(failed) == total:
            raise InvalidArgumentError(
                f"All the {total} fits failed; error_score='raise' shows where: {errors[0]!r}"
            ) from errors[0]
        if errors:
            warnings.warn(
                f"{len(errors)} fits out of {total} failed; their score is "
                f"{self.error_score}. The first error: {errors[0]!r}",
                stacklevel=4,
            )
        names = list(dict.fromkeys(n for row in table for e in row for n in e if n[:5] == "test_"))
        for each in (each for row in table for each in row):
            for name in names or ["test_score"]:
                each.setdefault(name, self.error_score)
                if self.train_score:
                    each.setdefault(f"train_{name[5:]}", self.error_score)
        return table

    def _one(
        self,
        model: Any,
        known: Callable[[], bool] | None,
        fold: Fold,
        params: dict[str, Any],
        weights: dict[str, Any],
        errors: list[Exception],
    ) -> dict[str, float]:
        begin, made = time.perf_counter(), {"fit_time": 0.0, "score_time": 0.0}
        try:
            if known is None or not known():
                model.fit(*fold.train_rows, **params)
        except Exception as error:
            # No score may depend on the memory limit.
            if self.error_score == "raise" or isinstance(error, OutOfMemoryError):
                raise
            errors.append(error)
            return made | {"failed": 1.0, "fit_time": time.perf_counter() - begin}
        fitted = time.perf_counter()
        made["fit_time"] = fitted - begin
        try:
            scores = self.judge(model, *fold.test_rows, **weights)
            made |= {f"test_{name}": value for name, value in scores.items()}
            made["score_time"] = time.perf_counter() - fitted
            if self.train_score:
                scores = self.judge(model, *fold.train_rows)
                made |= {f"train_{name}": value for name, value in scores.items()}
        except Exception as error:
            if self.error_score == "raise" or isinstance(error, OutOfMemoryError):
                raise
            errors.append(error)
        return made


def cloned(candidate: Candidate) -> Candidate:
    """A candidate whose estimators are its own."""
    return {name: clone(value) for name, value in candidate.items()}


def _refuse_verbose(name: str, verbose: int) -> None:
    if verbose:
        raise UnsupportedError(f"{name}: not supported: verbose={verbose}; leave it out")


def _evaluation(
    estimator: Any, X: Any, y: Any, scoring: Any, error_score: Any, train_score: bool
) -> Evaluation:
    X, y = with_rows(X), with_rows(y)  # noqa: N806
    count_rows(X, *(() if y is None else (y,)))
    return Evaluation(estimator, X, y, scoring, error_score, train_score)


def _splits(estimator: Any, X: Any, y: Any, cv: Any, groups: Any) -> list[Any]:
    splitter = check_cv(cv, y, classifier=kind_of(estimator) == "classifier")
    return split_places(splitter, X, y, groups)


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
    _refuse_verbose("cross_validate", verbose)
    run = _evaluation(estimator, X, y, scoring, error_score, return_train_score)
    splits = _splits(estimator, run.X, run.y, cv, groups)
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
    _refuse_verbose("cross_val_predict", verbose)
    X, y = with_rows(X), with_rows(y)  # noqa: N806
    size = count_rows(X, *(() if y is None else (y,)))
    splits = _splits(estimator, X, y, cv, groups)
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
        given = {name: _part(each, fold.train, size) for name, each in (params or {}).items()}
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
    _refuse_verbose("validation_curve", verbose)
    candidates = [{param_name: value} for value in param_range]
    run = _evaluation(estimator, X, y, scoring, error_score, True)
    splits = _splits(estimator, run.X, run.y, cv, groups)
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
    _refuse_verbose("learning_curve", verbose)
    if exploit_incremental_learning:
        raise UnsupportedError(
            "learning_curve: not supported: exploit_incremental_learning=True; leave it out"
        )
    run = _evaluation(estimator, X, y, scoring, error_score, True)
    splits = _splits(estimator, run.X, run.y, cv, groups)
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
