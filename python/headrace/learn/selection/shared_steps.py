# SPDX-License-Identifier: Apache-2.0
"""What fits of pipelines to folds share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.learn.base import Estimator
from headrace.learn.selection.splits import count_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.learn.pipeline import Pipeline


class SharedSteps:
    """Steps before the last one, fitted once a fold for candidates that only differ in the last."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._last = f"{pipeline.steps[-1][0]}__"

    def _key(self, candidate: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(
            (name, id(value))
            for name, value in sorted(candidate.items())
            if not name.startswith(self._last)
        )

    def order(self, candidates: list[dict[str, Any]]) -> list[int]:
        """Places of the candidates: those with the same steps after each other."""
        keys = [self._key(each) for each in candidates]
        return sorted(range(len(keys)), key=lambda place: keys.index(keys[place]))

    def fold(self, fold: Any, candidates: list[dict[str, Any]]) -> Callable[[Any, Any], bool]:
        """See `Estimator._fit_folds`."""
        inside = [self._of_last(each) for each in candidates]
        made: dict[tuple[Any, ...], tuple[Any, ...]] = {}

        def fit(model: Pipeline, candidate: dict[str, Any]) -> bool:
            model._check_steps()
            key, last = self._key(candidate), model._final
            if isinstance(last, str | None):
                return False
            X, *y = fold.train_rows  # noqa: N806
            if key not in made:
                made.clear()  # one at a time
                before = model._fit_before(X, y[0] if y else None, model._params_of_steps({}))
                after = model._through(fold.test_rows[0])
                shared = last._fit_folds(before, *y) if isinstance(last, Estimator) and y else None
                part = SimpleNamespace(
                    train=np.arange(count_rows(before)),
                    test=np.arange(0),
                    train_rows=(before, *y),
                    test_rows=(after, *fold.test_rows[1:]),
                )
                through = None if shared is None else shared.fold(part, inside)
                made[key] = model.steps[:-1], before, after, through
            steps, before, after, through = made[key]
            model.steps = [*steps, model.steps[-1]]
            if through is None or not through(last, self._of_last(candidate)):
                last.fit(before, *y)
            model._known = fold.test_rows[0], after
            return True

        return fit

    def _of_last(self, candidate: dict[str, Any]) -> dict[str, Any]:
        size = len(self._last)
        return {
            name[size:]: value for name, value in candidate.items() if name.startswith(self._last)
        }
