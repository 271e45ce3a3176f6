# SPDX-License-Identifier: Apache-2.0
"""Least squares by coordinates, and by sums of products of rows and of their folds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import check_labels, check_targets, clone, float_node
from headrace.learn.decomposition.singular import dense_or_sparse, matrix_node
from headrace.learn.selection.splits import rows_at

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = np.ndarray[Any, Any]

#: Products of all pairs of columns are computed for at most this many columns, and fewer than rows.
MOST_PRODUCTS = 4000


def column_means(rows: Any, weights: Numbers | None) -> Numbers:
    """The weighted means of dense or sparse columns."""
    samples = rows.shape[0]
    part = np.full(samples, 1.0 / samples) if weights is None else weights / weights.sum()
    found = _core.column_products(matrix_node(rows), float_node(None), float_node(part))
    return np.asarray(Array(found))


class Design(NamedTuple):
    """Centred rows as coordinates see them: their products, or their columns."""

    rows: Any
    root: Numbers | None
    weights: Numbers | None
    shift: Numbers
    values: Any
    products: bool


def design(rows: Any, weights: Numbers | None, center: bool) -> Design:
    """Rows times the roots of their weights, less their weighted means if `center`."""
    samples, features = rows.shape
    mark("fit_elastic_net")
    given = matrix_node(rows)
    shift = column_means(rows, weights) if center else np.zeros(features)
    root = None if weights is None else np.sqrt(weights)
    products = samples > features and features <= MOST_PRODUCTS
    make, scale = (_core.centered_gram, weights) if products else (_core.centered_columns, root)
    values = make(given, float_node(shift), float_node(scale))
    return Design(given, root, weights, shift, values, products)


class Descent(NamedTuple):
    """Centred targets, and what a fit of them needs of a design."""

    design: Design
    targets: Any
    square: float

    def products(self) -> Numbers:
        """X^T y."""
        if self.design.products:
            return np.asarray(Array(self.targets))
        return np.asarray(Array(self.design.values)) @ np.asarray(Array(self.targets))

    def fit(
        self, start: Numbers, l1: float, l2: float, *, positive: bool, tol: float, max_iter: int
    ) -> tuple[Numbers, float, int, bool]:
        """Coefficients, the duality gap, sweeps and whether the gap is in the tolerance."""
        made, gap, sweeps, converged = _core.fit_elastic_net(
            self.design.values,
            self.targets,
            self.square,
            self.design.products,
            float_node(start),
            l1,
            l2,
            positive,
            tol * self.square,
            max_iter,
        )
        return np.asarray(Array(made)), gap, sweeps, converged


def descent(made: Design, targets: Numbers) -> Descent:
    """The descent of centred targets."""
    weighed = targets if made.weights is None else targets * made.weights
    square = float(weighed @ targets)
    if made.products:
        node = _core.column_products(made.rows, float_node(made.shift), float_node(weighed))
    else:
        node = float_node(targets if made.root is None else targets * made.root)
    return Descent(made, node, square)


# ---- sums of folds -------------------------------------------------------------------------------
class Sums(NamedTuple):
    """Weighted sums of rows ``[x, y]`` less one origin: all that fits and errors need of them."""

    weight: float
    first: Numbers  # [features]
    gram: Numbers  # [features, features]
    products: Numbers  # [features]
    level: float
    square: float

    def plus(self, other: Sums) -> Sums:
        """The sums of both."""
        pairs: Any = zip(self, other, strict=True)
        return Sums._make(mine + its for mine, its in pairs)

    def descent(self, center: bool) -> Descent:
        """The descent of these rows, less their own means if `center`."""
        gram, products = self.centred(center)
        square = self.square - (self.level**2 / self.weight if center else 0.0)
        made = Design(None, None, None, self.first, float_node(gram), True)
        return Descent(made, float_node(products), max(square, 0.0))

    def centred(self, center: bool) -> tuple[Numbers, Numbers]:
        """X^T X and X^T y of these rows, less their own means if `center`."""
        if not center:
            return self.gram, self.products
        share = 1.0 / self.weight
        gram = self.gram - np.outer(self.first, self.first) * share
        return gram, self.products - self.first * (self.level * share)

    def constants(self, coefficients: Numbers, center: bool) -> Numbers:
        """The constant that goes with each row of coefficients."""
        if not center:
            return np.zeros(len(coefficients))
        return (self.level - coefficients @ self.first) / self.weight

    def errors(self, coefficients: Numbers, constants: Numbers) -> Numbers:
        """Mean squared errors of each row of coefficients on these rows."""
        squares = np.einsum("ij,ij->i", coefficients @ self.gram, coefficients)
        crossed = 2.0 * constants * (coefficients @ self.first - self.level)
        total = self.square - 2.0 * (coefficients @ self.products) + squares + crossed
        return (total + self.weight * constants**2) / self.weight


def sums_of(rows: Any, targets: Numbers, weights: Numbers | None, origin: Numbers) -> Sums:
    """The sums of these rows less `origin`; `targets` have lost theirs."""
    given = matrix_node(rows)
    shift, scale = float_node(origin), np.ones(len(targets)) if weights is None else weights
    weighed = targets * scale
    return Sums(
        float(scale.sum()),
        np.asarray(Array(_core.column_products(given, shift, float_node(scale)))),
        np.asarray(Array(_core.centered_gram(given, shift, float_node(weights)))),
        np.asarray(Array(_core.column_products(given, shift, float_node(weighed)))),
        float(weighed.sum()),
        float(weighed @ targets),
    )


def rows_between(rows: Any, places: Numbers) -> Any:
    """Rows by place, without a copy where they are contiguous."""
    first, last = int(places[0]), int(places[-1])
    beside = last - first + 1 == len(places) and bool((np.diff(places) == 1).all())
    return rows[first : last + 1] if beside else rows_at(rows, places)


class Part(NamedTuple):
    """The sums of rows less an origin of their own: their means, or zeros."""

    origin: Numbers
    base: float
    sums: Sums

    @np.errstate(over="ignore", invalid="ignore")  # `fit` finds out
    def joined(self, other: Part | None) -> Part:
        """The sums of both; nothing is taken away (Chan, Golub and LeVeque, 1979)."""
        if other is None or other.sums.weight == 0:
            return self
        weight = self.sums.weight + other.sums.weight
        share = other.sums.weight / weight
        apart, rise = other.origin - self.origin, other.base - self.base
        both, scale = self.sums.plus(other.sums), self.sums.weight * share
        sums = both._replace(
            gram=both.gram + np.outer(apart, apart) * scale,
            products=both.products + apart * (rise * scale),
            square=both.square + rise**2 * scale,
        )
        return Part(self.origin + apart * share, self.base + rise * share, sums)

    def constants(self, coefficients: Numbers, center: bool) -> Numbers:
        """The constant that goes with each row of coefficients."""
        found = self.sums.constants(coefficients, center)
        return found + self.base - coefficients @ self.origin

    def errors(self, coefficients: Numbers, constants: Numbers) -> Numbers:
        """Mean squared errors of each row of coefficients on these rows."""
        inside = constants - self.base + coefficients @ self.origin
        return self.sums.errors(coefficients, inside).clip(0.0, None)


def part_of(
    rows: Any, targets: Numbers, weights: Numbers | None, places: Numbers, center: bool
) -> Part:
    """The sums of some rows, less their own means if `center`."""
    rows, targets = rows_between(rows, places), targets[places]
    weights = None if weights is None else weights[places]
    if not center or (weights is not None and not weights.any()):
        origin = np.zeros(rows.shape[1])
        return Part(origin, 0.0, sums_of(rows, targets, weights, origin))
    origin, base = column_means(rows, weights), float(np.average(targets, weights=weights))
    sums = sums_of(rows, targets - base, weights, origin)
    return Part(origin, base, sums._replace(first=np.zeros_like(origin), level=0.0))


def are_parts(folds: list[tuple[Numbers, Numbers]], samples: int, features: int) -> bool:
    """Whether each fold trains on the test rows of all others, and sums are few next to rows."""
    once = np.ones(samples, np.int64)

    def all_once(*places: Numbers) -> bool:
        return np.array_equal(np.bincount(np.concatenate(places), None, samples), once)

    tests = [test for _, test in folds]
    few = len(folds) > 1 and len(folds) * features <= 2 * samples
    return few and all(map(len, tests)) and all_once(*tests) and all(all_once(*f) for f in folds)


def without_each(parts: list[Part]) -> list[Part]:
    """The sums of all parts but one, for each."""
    after: list[Part | None] = [None]  # of the parts behind each
    for part in parts[:0:-1]:
        after.append(part.joined(after[-1]))
    made: list[Any] = []
    before: Part | None = None
    for part in parts:
        behind = after.pop()
        made.append(before.joined(behind) if before else behind)
        before = before.joined(part) if before else part
    return made


class SharedSums:
    """Sums of test rows, joined to those of each fold's training rows; see `_fit_folds`.

    Folds whose test rows are no partition of all rows sum their training rows by themselves. A
    model makes coefficients of them by its `_of_sums`, or says None: equal within rounding to those
    of `fit`.
    """

    def __init__(self, model: Any, X: Any, y: Any) -> None:
        seen = clone(model)
        self.rows: Any = dense_or_sparse(seen, X, fit=True)
        samples, features = self.rows.shape
        if np.ndim(y) != 1 or features > MOST_PRODUCTS or samples < 8 * features:
            raise InvalidArgumentError("several targets, or too few rows to sum their products")
        self.targets: Any = check_targets(seen, check_labels(seen, y, samples), samples)
        self._seen = {name: value for name, value in vars(seen).items() if name[-4:] == "_in_"}
        self._tests: list[Numbers] | None = None
        self._trains: dict[bool, list[Part]] = {}

    def see(self, folds: list[Any]) -> None:
        """Look at all folds before the first of them is fitted."""
        parts = are_parts([(fold.train, fold.test) for fold in folds], *self.rows.shape)
        self._tests, self._trains = [fold.test for fold in folds] if parts else None, {}

    def _part(self, places: Numbers, center: bool) -> Part:
        return part_of(self.rows, self.targets, None, places, center)

    def _train(self, fold: Any, center: bool) -> Part:
        """The sums of the training rows."""
        if self._tests is None:
            return self._part(fold.train, center)
        if center not in self._trains:
            self._trains[center] = without_each([self._part(t, center) for t in self._tests])
        return self._trains[center][fold.number]

    def fold(self, fold: Any, candidates: Any) -> Callable[[Any, Any], bool]:
        """See `Estimator._fit_folds`."""
        made: dict[bool, Part] = {}

        def fit(model: Any, candidate: Any) -> bool:
            center = bool(model.fit_intercept)
            if center not in made:
                made[center] = self._train(fold, center)
            part, sums = made[center], made[center].sums
            if not (np.isfinite(sums.gram).all() and np.isfinite(sums.square)):
                return False
            found = model._of_sums(sums)
            if found is None:
                return False
            dtype = np.dtype(str(self.rows.dtype))
            constant = part.constants(found[None, :], center)[0]
            vars(model).update(self._seen)
            model.coef_ = found.astype(dtype)
            model.intercept_ = dtype.type(constant) if center else 0.0
            return True

        return fit
