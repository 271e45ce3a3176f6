# SPDX-License-Identifier: Apache-2.0
"""Candidates of a search: the grid of all combinations of parameters, and random ones."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace.errors import InvalidArgumentError, TypeMismatchError
from headrace.random.generator import seed_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    Candidate = dict[str, Any]


def _grids(given: Any, name: str, *, distributions: bool = False) -> list[Mapping[str, Any]]:
    if not isinstance(given, Mapping | Iterable) or isinstance(given, str):
        raise TypeMismatchError(f"Parameter {name} should be a dict or a list, got: {given!r}")
    grids: list[Any] = [given] if isinstance(given, Mapping) else list(given)
    for grid in grids:
        if not isinstance(grid, Mapping):
            raise TypeMismatchError(f"Parameter {name} is not a dict ({grid!r})")
        for key, values in grid.items():
            if distributions and hasattr(values, "rvs"):
                continue
            if isinstance(values, str) or not hasattr(values, "__len__"):
                raise TypeMismatchError(
                    f"Parameter {name} for parameter {key!r} needs to be a list or a numpy array, "
                    f"but got {values!r} (of type {type(values).__name__}) instead. Single values "
                    "need to be wrapped in a list with one element."
                )
            if len(values) == 0:
                raise InvalidArgumentError(
                    f"Parameter {name} for parameter {key!r} need a non-empty sequence, got: "
                    f"{values!r}"
                )
    return grids


class ParameterGrid:
    """All combinations of values, in scikit-learn's order; a list of grids is one after another.

    >>> list(hr.learn.ParameterGrid({"b": [1, 2], "a": [True]}))
    [{'a': True, 'b': 1}, {'a': True, 'b': 2}]
    """

    param_grid: Any

    def __init__(self, param_grid: Any) -> None:
        self.param_grid = _grids(param_grid, "grid")

    def __iter__(self) -> Iterator[Candidate]:
        for grid in self.param_grid:
            names = sorted(grid)
            for values in itertools.product(*[grid[name] for name in names]):
                yield dict(zip(names, values, strict=True))

    def __len__(self) -> int:
        return sum(math.prod(map(len, grid.values())) for grid in self.param_grid)

    def __getitem__(self, place: int) -> Candidate:
        for grid in self.param_grid:
            total = math.prod(map(len, grid.values()))
            if place < total:
                made = {}
                for name in sorted(grid, reverse=True):
                    place, at = divmod(place, len(grid[name]))
                    made[name] = grid[name][at]
                return made
            place -= total
        raise IndexError("ParameterGrid index out of range")


def numpy_random(state: Any) -> np.random.RandomState:
    """NumPy's generator that scikit-learn and SciPy's distributions draw from."""
    if isinstance(state, np.random.RandomState):
        return state
    if state is not None and not isinstance(state, int | np.integer):
        state = seed_from(state) % 2**32
    return np.random.RandomState(state)


class ParameterSampler:
    """Combinations drawn at random: from lists without repetition, else from distributions.

    A distribution has ``rvs(random_state=)``, as those of SciPy. A seed draws what it draws in
    scikit-learn, but for lists where `n_iter` is below a hundredth of all combinations.

    >>> len(list(hr.learn.ParameterSampler({"a": range(10)}, 3, random_state=0)))
    3
    """

    param_distributions: Any

    def __init__(self, param_distributions: Any, n_iter: int, *, random_state: Any = None) -> None:
        self.param_distributions = _grids(param_distributions, "distribution", distributions=True)
        self.n_iter = n_iter
        self.random_state = random_state

    def _grid(self) -> ParameterGrid | None:
        drawn = (hasattr(v, "rvs") for each in self.param_distributions for v in each.values())
        return None if any(drawn) else ParameterGrid(self.param_distributions)

    def __len__(self) -> int:
        grid = self._grid()
        return self.n_iter if grid is None else min(self.n_iter, len(grid))

    def __iter__(self) -> Iterator[Candidate]:
        rng, grid = numpy_random(self.random_state), self._grid()
        if grid is None:
            for _ in range(self.n_iter):
                values = self.param_distributions[rng.randint(len(self.param_distributions))]
                yield {
                    name: each.rvs(random_state=rng)
                    if hasattr(each, "rvs")
                    else each[rng.randint(len(each))]
                    for name, each in sorted(values.items())
                }
            return
        total = len(grid)
        if total < self.n_iter:
            warnings.warn(
                f"The total space of parameters {total} is smaller than n_iter={self.n_iter}. "
                f"Running {total} iterations. For exhaustive searches, use GridSearchCV.",
                stacklevel=2,
            )
        for place in (
            range(total) if total <= self.n_iter else rng.permutation(total)[: self.n_iter]
        ):
            yield grid[int(place)]
