# SPDX-License-Identifier: Apache-2.0
"""Linear support vector machines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from headrace.learn.base import class_weights, refuse
from headrace.learn.linear.classifier import LinearClassifier, weighed


class LinearSVC(LinearClassifier):
    """A linear support vector machine, one class against the others, on dense or sparse rows.

    Lowers ``|w|^2 / 2 + C sum(max(0, 1 - y (x w + b))^2)``, where `b` belongs to `w` (see
    `intercept_scaling`), by the search of `LogisticRegression`. The same bits for any number of
    threads.

    Parameters
    ----------
    penalty : {"l2", "l1"}, default "l2"
        Squares or absolute values of the coefficients.
    loss : {"squared_hinge"}
        ``"hinge"`` is not supported: use `SVC` with ``kernel="linear"``.
    tol : float, default 1e-4
        Ends when no element of the gradient of the mean loss is larger.
    C : float, default 1.0
        Weight of the losses.
    multi_class : {"ovr"}
        ``"crammer_singer"`` is not supported.
    fit_intercept : bool, default True
        Add a constant to the scores, a coefficient of a column of `intercept_scaling`.
    intercept_scaling : float, default 1.0
        The larger, the less the constant costs.
    class_weight : {"balanced"} or dict, optional
        What rows of a class weigh; of more than two classes, against all others with weight 1.
    max_iter : int, default 1000
        The most iterations for a class.
    dual, random_state, verbose
        Accepted and not used.

    Attributes
    ----------
    classes_ : numpy.ndarray
    coef_, intercept_ : numpy.ndarray
        As those of `LogisticRegression`; without an intercept 0.0.
    n_iter_ : int
        The most iterations of a class.

    >>> model = hr.learn.LinearSVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> model.predict([[0.4], [2.6]]).tolist()
    [0, 1]
    """

    n_iter_: int

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients; parameters as those of `LogisticRegression.fit`."""
        self._check_numbers()
        if self.penalty not in ("l1", "l2"):
            refuse(self, "penalty", "'l2' or 'l1'")
        if self.loss not in ("squared_hinge", "hinge"):
            refuse(self, "loss", "'squared_hinge'")
        self._refuse_params(loss="squared_hinge", multi_class="ovr")
        rows, codes, weights = self._check_data(X, y, sample_weight)
        count, shares = len(self.classes_), class_weights(self, codes, weights)
        found, self.n_iter_ = [], 0
        for place in range(count) if count > 2 else [1]:
            own, share = codes == place, None
            if shares is not None:  # of more classes, liblinear weighs the one and not the others
                share = np.where(own, shares[place], shares[0] if count == 2 else 1.0)
            made, iterations = self._minimize(
                rows,
                own,
                weighed(weights, share),
                None,
                loss="squared_hinge",
                outputs=1,
                strength=self.C,
                l1_share=float(self.penalty == "l1"),
                intercept_scaling=float(self.intercept_scaling),
            )
            found.append(made)
            self.n_iter_ = max(self.n_iter_, iterations)
        self._keep(rows, np.concatenate(found))
        return self
