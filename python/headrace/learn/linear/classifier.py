# SPDX-License-Identifier: Apache-2.0
"""What linear models have in common that search: losses, weights of classes, scores, labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    beside,
    check_labels,
    check_weights,
    float_node,
    is_number,
    is_on_device,
    is_ours,
    refuse,
    refuse_not_finite,
    warn_not_converged,
)
from headrace.learn.decomposition.singular import dense_or_sparse, kind_of_result, matrix_node
from headrace.learn.few_rows import few_rows
from headrace.learn.labels import check_classes, of_largest
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


def weighed(weights: Numbers | None, shares: Numbers | None) -> Numbers | None:
    """Weights of rows times other ones."""
    return shares if weights is None else weights if shares is None else weights * shares


def without_negative(weights: Any) -> Numbers | None:
    """Weights with which liblinear goes on: it leaves out rows of negative ones."""
    return None if weights is None else np.maximum(np.asarray(weights), 0.0)


def check_numbers(model: Any) -> None:
    """Raise unless the numbers among the parameters are what they must be."""
    if not (is_number(model.C) and model.C > 0):
        refuse(model, "C", "a positive number")
    if not (is_number(model.tol) and model.tol >= 0):
        refuse(model, "tol", "a number from 0 on")
    if not (is_number(model.max_iter, integer=True) and model.max_iter >= 0):
        refuse(model, "max_iter", "an integer from 0 on")
    if not (is_number(model.intercept_scaling) and model.intercept_scaling > 0):
        refuse(model, "intercept_scaling", "a positive number")


def minimize(
    model: Any,
    rows: Any,
    targets: Numbers,
    weights: Numbers | None,
    start: Numbers | None,
    *,
    loss: str,
    outputs: int,
    strength: float,
    l1_share: float,
    intercept_scaling: float,
    epsilon: float = 0.0,
) -> tuple[Numbers, int]:
    """Coefficients with the constants behind them, and iterations."""
    total = float(len(targets) if weights is None else weights.sum())
    penalty = 1.0 / (strength * total)
    problem = _core.linear_problem(
        loss,
        outputs,
        penalty * l1_share,
        penalty * (1.0 - l1_share),
        epsilon,
        bool(model.fit_intercept),
        intercept_scaling,
        float(model.tol),
        int(model.max_iter),
    )
    mark("fit_linear")
    nodes = float_node(targets), float_node(weights), float_node(start)
    try:
        found = _core.fit_linear(matrix_node(rows), *nodes, problem)
    except InvalidArgumentError:
        if not isinstance(rows, csr_matrix):
            refuse_not_finite(model, rows)
        raise
    made, scales, iterations, gradient, converged = found
    if not converged:
        _warn(model, np.asarray(Array(scales)), gradient)
    return np.asarray(Array(made)), iterations


def _warn(model: Any, scales: Numbers, gradient: float) -> None:
    name, column = type(model).__name__, int(scales.argmax())
    middle = float(np.median(scales))
    known = getattr(model, "feature_names_in_", None)
    label = column if known is None else known[column]
    larger = scales[column] > 100 * middle > 0
    advice = f"; column {label!r} is {scales[column] / middle:.1e} times as large as the middle "
    warn_not_converged(
        f"{name}: failed to converge (status=1) after max_iter={model.max_iter} iterations: "
        f"gradient={gradient:.1e}, tol={model.tol}; increase max_iter"
        + (advice + "one: scale the data with hr.learn.StandardScaler" if larger else ""),
        stacklevel=5,
    )


class LinearClassifier(Estimator):
    """A class by the largest of linear scores; a subclass has `fit`."""

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "classifier",
        "input_tags": {"sparse": True},
    }
    _fitted_as = "coef_"
    class_weight: Any
    C: float
    tol: float
    max_iter: int
    fit_intercept: bool
    intercept_scaling: float
    coef_: Any
    intercept_: Any
    classes_: Numbers

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, *, as_array: bool = False
    ) -> tuple[Any, Any, Numbers | None]:
        """Rows, the place of each label in `classes_` (see `check_classes`), weights of rows."""
        rows = dense_or_sparse(self, X, fit=True, allow_nan="inf")  # the fit finds them
        labels = check_labels(self, y, rows.shape[0])
        weights = check_weights(self, sample_weight, rows.shape[0], negative=True)
        self.classes_, codes = check_classes(self, labels, as_array=as_array)
        if len(self.classes_) < 2:
            raise InvalidArgumentError(
                f"{type(self).__name__}: This solver needs samples of at least 2 classes in the "
                f"data, but the data contains only one class: {self.classes_.tolist()[0]!r}"
            )
        return rows, codes, None if weights is None else np.asarray(weights)

    def _keep(self, rows: Any, found: Numbers) -> None:
        """Set `coef_` and `intercept_` in the dtype of the rows."""
        found = found.astype(str(rows.dtype))
        self.coef_ = np.ascontiguousarray(found[:, :-1])
        self.intercept_ = np.ascontiguousarray(found[:, -1])

    def decision_function(self, X: Any) -> Any:
        """Scores: ``[samples, classes]``, of two classes ``[samples]``: above 0 for the second."""
        self._check_fitted()
        return answer(kind_of_result(X), self._scores(X))

    def _scores(self, X: Any) -> Any:
        rows = dense_or_sparse(self, X)
        turned = np.ascontiguousarray(self.coef_.T.astype(str(rows.dtype)))
        constants = self.intercept_.astype(str(rows.dtype))
        if isinstance(rows, csr_matrix):
            made = rows @ asarray(turned) + constants
        else:
            made = rows @ beside(rows, turned) + beside(rows, constants)
        return made[:, 0] if len(self.coef_) == 1 else made

    @few_rows
    def predict(self, X: Any) -> Any:
        """The class of the largest score: ``[samples]``."""
        self._check_fitted()
        scores = self._scores(X)
        if is_on_device(scores) and self.classes_.dtype.kind in "biuf":
            if scores.ndim == 1:
                return np.where(scores > 0, self.classes_[1], self.classes_[0])
            return of_largest(self.classes_, scores)
        scores = np.asarray(scores)
        codes = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return self._like(X, self.classes_.take(codes))

    def _like(self, X: Any, made: Numbers) -> Any:
        """Numbers as an array where `X` is ours, on its device."""
        ours = is_ours(kind_of_result(X)) and made.dtype.kind in "biuf"
        return beside(X, made) if ours else made

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        from headrace.learn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)
