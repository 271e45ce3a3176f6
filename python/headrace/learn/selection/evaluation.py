# SPDX-License-Identifier: Apache-2.0
"""Fits and scores over folds, which share what they can; rows are taken where they are needed."""

from __future__ import annotations

import functools
import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.display.progress import Progress
from headrace.errors import (
    InvalidArgumentError,
    OutOfMemoryError,
    TypeMismatchError,
    UnsupportedError,
)
from headrace.learn.base import Estimator, clone, kind_of
from headrace.learn.selection.splits import check_cv, count_rows, rows_at, split_places

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


def of_fold(values: Any, places: Any, size: int) -> Any:
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
        self, candidates: list[Candidate], splits: list[tuple[Any, Any]], params: dict[str, Any]
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
                given = {name: of_fold(each, fold.train, size) for name, each in params.items()}
                judged = (
                    {} if weights is None else {"sample_weight": of_fold(weights, fold.test, size)}
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


def refuse_verbose(name: str, verbose: int) -> None:
    """Raise for reports while a fit runs."""
    if verbose:
        raise UnsupportedError(f"{name}: not supported: verbose={verbose}; leave it out")


def evaluation_of(
    estimator: Any, X: Any, y: Any, scoring: Any, error_score: Any, train_score: bool
) -> Evaluation:
    """An evaluation of checked rows."""
    X, y = with_rows(X), with_rows(y)  # noqa: N806
    count_rows(X, *(() if y is None else (y,)))
    return Evaluation(estimator, X, y, scoring, error_score, train_score)


def splits_of(estimator: Any, X: Any, y: Any, cv: Any, groups: Any) -> list[tuple[Any, Any]]:
    """The rows of each fold, for training and for testing."""
    splitter = check_cv(cv, y, classifier=kind_of(estimator) == "classifier")
    return split_places(splitter, X, y, groups)
