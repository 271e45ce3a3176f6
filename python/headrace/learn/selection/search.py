# SPDX-License-Identifier: Apache-2.0
"""Search for parameters over folds: the data is held once, and fits share what they can."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.learn.base import Estimator, clone, kind_of
from headrace.learn.selection.candidates import ParameterGrid, ParameterSampler, numpy_random
from headrace.learn.selection.evaluation import (
    Evaluation,
    cloned,
    is_pairwise,
    scorers,
    with_rows,
)
from headrace.learn.selection.splits import check_cv, class_numbers, count_rows, split_places

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Candidate = dict[str, Any]
    Scores = dict[str, np.ndarray[Any, Any]]


# ---- searches ------------------------------------------------------------------------------------
class _OfBest:
    """A method of the best estimator; a search has it where its estimator does."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        if not search.refit:
            raise AttributeError(
                f"This {type(search).__name__} instance was initialized with `refit=False`. "
                f"{self._name} is available only after refitting on the best parameters."
            )
        getattr(vars(search).get("best_estimator_", search.estimator), self._name)

        def call(X: Any, **params: Any) -> Any:
            search._check_fitted()
            return getattr(search.best_estimator_, self._name)(X, **params)

        call.__name__, call.__doc__ = self._name, f"`{self._name}` of the best estimator."
        return call


class _Search(Estimator):
    """What searches share; a subclass says which candidates it tries."""

    _fitted_as: ClassVar[str] = "cv_results_"

    predict = _OfBest()
    predict_proba = _OfBest()
    predict_log_proba = _OfBest()
    decision_function = _OfBest()
    score_samples = _OfBest()
    transform = _OfBest()
    inverse_transform = _OfBest()

    def _store(self, given: Mapping[str, Any]) -> None:
        for name, value in given.items():
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    def _all_tags(self) -> Mapping[str, Any]:
        return {
            "estimator_type": kind_of(self.estimator),
            "input_tags": {"pairwise": is_pairwise(self.estimator)},
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        theirs = self.estimator.__sklearn_tags__()
        tags.classifier_tags, tags.regressor_tags = theirs.classifier_tags, theirs.regressor_tags
        tags.input_tags.sparse = theirs.input_tags.sparse
        return tags

    @property
    def classes_(self) -> Any:
        """The classes of the best estimator."""
        self._check_fitted()
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Columns of the data of `fit`."""
        self._check_fitted()
        return self.best_estimator_.n_features_in_

    def _rounds(self, run: Callable[..., Scores], splitter: Any, X: Any, y: Any) -> None:
        run(list(self._candidates()), splitter)

    def _check_loaded(self) -> None:
        if self.refit and not hasattr(self, "best_estimator_"):
            raise ValueError(f"{type(self).__name__} lacks best_estimator_")

    def _best(self, name: str) -> int:
        if callable(self.refit):
            found = self.refit(self.cv_results_)
            if not isinstance(found, int | np.integer):
                raise TypeMismatchError("best_index_ returned is not an integer")
            if found not in range(len(self.cv_results_["params"])):
                raise IndexError("best_index_ index out of range")
            return int(found)
        return int(self.cv_results_[f"rank_test_{name}"].argmin())

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score all candidates on the folds, and fit the best to all rows.

        Parameters
        ----------
        X, y : array_like
            Frames, arrays or lists; each fold gets rows of the same kind.
        **params
            `groups` for the folds, others for the estimator's `fit` (with the rows of a fold
            where they have a value for each row).
        """
        self._refuse_params(verbose=0)
        estimator, groups = self.estimator, params.pop("groups", None)
        X, y = with_rows(X), with_rows(y)  # noqa: N806
        if y is not None:
            count_rows(X, y)
        evaluation = Evaluation(
            estimator, X, y, self.scoring, self.error_score, self.return_train_score, weigh=True
        )
        splitter = check_cv(self.cv, y, classifier=kind_of(estimator) == "classifier")
        self.multimetric_ = isinstance(self.scoring, list | tuple | set | dict)
        chosen = self.refit is False or callable(self.refit)
        if self.multimetric_ and not (chosen or self.refit in self.scoring):
            raise InvalidArgumentError(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a "
                f"callable, or to False: refit={self.refit!r}"
            )
        candidates: list[Candidate] = []
        table: list[list[dict[str, float]]] = []
        more: dict[str, list[Any]] = defaultdict(list)

        def run(tried: list[Candidate], split_by: Any, **columns: Any) -> dict[str, Any]:
            if not tried:
                raise InvalidArgumentError("No fits were performed: the grid has no candidate")
            splits = split_places(split_by, X, y, groups)
            self.n_splits_ = len(splits)
            candidates.extend(tried)
            table.extend(evaluation.run(tried, splits, params))
            for name, value in columns.items():
                more[name] += [value] * len(tried)
            return _results(candidates, table, more)

        self._rounds(run, splitter, X, y)
        results = _results(candidates, table, more)
        name = self.refit if self.multimetric_ else "score"
        if not self.multimetric_ and "mean_test_score" not in results:
            self.multimetric_, name = True, self.refit  # the function of `scoring` gave a dict
        self.cv_results_, self.scorer_ = results, self.scoring
        if self.refit or not self.multimetric_:
            self.best_index_ = self._best(name)
            self.best_params_ = results["params"][self.best_index_]
            if not callable(self.refit) or not self.multimetric_:
                self.best_score_ = results[f"mean_test_{name}"][self.best_index_]
        if self.refit:
            self.best_estimator_ = clone(estimator).set_params(**cloned(self.best_params_))
            begin = time.perf_counter()
            self.best_estimator_.fit(X, *(() if y is None else (y,)), **params)
            self.refit_time_ = time.perf_counter() - begin
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the best estimator, by `scoring` (by `refit` of several)."""
        if not self.refit:
            raise AttributeError(f"{type(self).__name__}: score needs refit=True")
        self._check_fitted()
        made = scorers(self.best_estimator_, self.scoring)(
            self.best_estimator_, X, *(() if y is None else (y,)), **params
        )
        return made[self.refit if self.multimetric_ else "score"]


def _results(
    candidates: list[Candidate], table: list[list[dict[str, float]]], more: Mapping[str, list[Any]]
) -> dict[str, Any]:
    """`cv_results_`: times, parameters and scores of candidates, column by column."""
    names = [name for name in table[0][0] if name != "failed"]
    values = {name: np.array([[fold[name] for fold in row] for row in table]) for name in names}
    made: dict[str, Any] = {name: np.array(column) for name, column in more.items()}
    for name in ("fit_time", "score_time"):
        made[f"mean_{name}"] = values[name].mean(axis=1)
        made[f"std_{name}"] = values[name].std(axis=1)
    for name in dict.fromkeys(name for candidate in candidates for name in candidate):
        made[f"param_{name}"] = _column(name, candidates)
    made["params"] = candidates
    for name in [each for each in names if each not in ("fit_time", "score_time")]:
        scores = values[name]
        made |= {f"split{fold}_{name}": scores[:, fold] for fold in range(scores.shape[1])}
        mean = made[f"mean_{name}"] = scores.mean(axis=1)
        made[f"std_{name}"] = scores.std(axis=1)
        if name.startswith("test_"):
            # Scores that are NaN rank last, all alike.
            ranked = -np.where(np.isnan(mean), -np.inf, mean)
            made[f"rank_{name}"] = (np.searchsorted(np.sort(ranked), ranked) + 1).astype(np.int32)
    return made


def _column(name: str, candidates: list[Candidate]) -> Any:
    """A parameter of all candidates, masked where one does not have it."""
    values = [each[name] for each in candidates if name in each]
    try:
        found = np.array(values)
        dtype = object if found.dtype.kind == "U" or found.ndim > 1 else found.dtype
    except ValueError:
        dtype = np.dtype(object)
    column = np.ma.MaskedArray(np.zeros(len(candidates), dtype), mask=True)
    for place, each in enumerate(candidates):
        if name in each:
            column[place] = each[name]
    return column


class GridSearchCV(_Search):
    """Try all combinations of parameters over folds; scikit-learn's, with the data held once.

    Fits share what they can, unless `fit` gets parameters: forests the bins of all rows (so that
    thresholds in columns of more than 255 values may differ from those of a fit alone), linear
    models of one column of numbers the sums of products of all rows, less those of the test rows
    (where rows are at least eight times the features; equal within rounding), voters the
    neighbours for the largest `n_neighbors`, and pipelines the steps before the last one.

    Parameters
    ----------
    estimator : estimator
        Ours or scikit-learn's.
    param_grid : dict of lists, or list of these
    scoring, cv, error_score : optional
        As in `cross_validate`; with several scores `refit` names the one that decides.
    refit : bool, str or function, default True
        Fit the best to all rows; a function of `cv_results_` gives its place.
    return_train_score : bool, default False
    n_jobs, pre_dispatch : optional
        Without effect: each fit uses all threads.
    verbose : 0
        Not supported.

    >>> rows, labels = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]], [0, 0, 0, 1, 1, 1]
    >>> model = hr.learn.KNeighborsClassifier()
    >>> search = hr.learn.GridSearchCV(model, {"n_neighbors": [4, 1]}, cv=3)
    >>> search.fit(rows, labels).best_params_, float(search.best_score_)
    ({'n_neighbors': 1}, 1.0)
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self._store(locals())

    def _candidates(self) -> Iterable[Candidate]:
        return ParameterGrid(self.param_grid)


class RandomizedSearchCV(_Search):
    """Try `n_iter` combinations of a `ParameterSampler` over folds; else as `GridSearchCV`.

    >>> search = hr.learn.RandomizedSearchCV(
    ...     hr.learn.KMeans(random_state=0), {"n_clusters": [1, 2]}, n_iter=2, cv=2
    ... )
    >>> search.fit([[0.0], [5.0], [0.0], [5.0]]).best_params_
    {'n_clusters': 2}
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self._store(locals())

    def _candidates(self) -> Iterable[Candidate]:
        return ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )


class _Part:
    """Splits of which a share of the rows is drawn."""

    def __init__(self, splitter: Any, share: float, random_state: Any) -> None:
        self._splitter, self._share, self._state = splitter, share, random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Any]:
        for split in split_places(self._splitter, X, y, groups):
            yield tuple(self._draw(each) for each in split)

    def _draw(self, places: Any) -> Any:
        order = np.arange(len(places))
        numpy_random(self._state).shuffle(order)
        return places[order[: int(self._share * len(places))]]


class HalvingGridSearchCV(_Search):
    """Try all combinations on few rows, and the best `1 / factor` of them on `factor` times more.

    Parameters and attributes are scikit-learn's; those of `GridSearchCV` mean the same.

    Parameters
    ----------
    factor : float, default 3
    resource : str, default "n_samples"
        What grows: the rows, or an integer parameter of the estimator.
    max_resources : int or "auto"
    min_resources : int, "smallest" or "exhaust"
    aggressive_elimination : bool, default False
        Repeat the first rounds until few enough candidates are left.
    """

    n_iterations_: int
    n_resources_: list[int]
    n_candidates_: list[int]
    min_resources_: int
    max_resources_: int
    n_required_iterations_: int
    n_possible_iterations_: int
    n_remaining_candidates_: int

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        factor: float = 3,
        resource: str = "n_samples",
        max_resources: Any = "auto",
        min_resources: Any = "exhaust",
        aggressive_elimination: bool = False,
        cv: Any = 5,
        scoring: Any = None,
        refit: Any = True,
        error_score: Any = np.nan,
        return_train_score: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def _limits(self, splitter: Any, X: Any, y: Any) -> tuple[int, int]:
        least, most = self.min_resources, self.max_resources
        rows = self.resource == "n_samples"
        if getattr(splitter, "shuffle", False) and not isinstance(splitter.random_state, int):
            raise InvalidArgumentError(
                "The cv parameter must yield consistent folds across calls to split(). Set its "
                "random_state to an int, or set shuffle=False."
            )
        if not rows and self.resource not in self.estimator.get_params():
            raise InvalidArgumentError(
                f"Cannot use resource={self.resource} which is not supported by estimator "
                f"{type(self.estimator).__name__}"
            )
        if least in ("smallest", "exhaust"):
            least = 2 * splitter.get_n_splits(X, y) if rows else 1
            if rows and kind_of(self.estimator) == "classifier":
                least *= len(class_numbers(y)[1])
        if most == "auto":
            if not rows:
                raise InvalidArgumentError(
                    "resource can only be 'n_samples' when max_resources='auto'"
                )
            most = count_rows(X)
        if least > most:
            raise InvalidArgumentError(
                f"min_resources_={least} is greater than max_resources_={most}."
            )
        return least, most

    def _rounds(self, run: Callable[..., Any], splitter: Any, X: Any, y: Any) -> None:
        factor, resource = self.factor, self.resource
        least, most = self._limits(splitter, X, y)
        candidates = list(ParameterGrid(self.param_grid))
        if any(resource in each for each in candidates):
            raise InvalidArgumentError(
                f"Cannot use parameter {resource} as the resource since it is part of the searched "
                "parameters."
            )
        required = 1 + math.floor(math.log(len(candidates), factor))
        if self.min_resources == "exhaust":
            least = max(least, int(most // factor ** (required - 1)))
        possible = 1 + math.floor(math.log(most // least, factor))
        patient = self.aggressive_elimination
        self.n_iterations_ = required if patient else min(possible, required)
        self.n_resources_, self.n_candidates_ = [], []
        for number in range(self.n_iterations_):
            power = max(0, number - required + possible) if patient else number
            amount = min(int(factor**power * least), most)
            self.n_resources_.append(amount)
            self.n_candidates_.append(len(candidates))
            if resource == "n_samples":
                split_by: Any = _Part(splitter, amount / count_rows(X), self.random_state)
            else:
                split_by, candidates = splitter, [each | {resource: amount} for each in candidates]
            results = run(candidates, split_by, iter=number, n_resources=amount)
            scores = results["mean_test_score"][-len(candidates) :]
            order = np.roll(np.argsort(scores), np.count_nonzero(np.isnan(scores)))
            candidates = [candidates[at] for at in order[-math.ceil(len(candidates) / factor) :]]
        self.min_resources_, self.max_resources_ = least, most
        self.n_required_iterations_, self.n_possible_iterations_ = required, possible
        self.n_remaining_candidates_ = len(candidates)

    def _best(self, name: str) -> int:
        last = np.flatnonzero(self.cv_results_["iter"] == self.n_iterations_ - 1)
        scores = self.cv_results_[f"mean_test_{name}"][last]
        return int(last[0 if np.isnan(scores).all() else np.nanargmax(scores)])
