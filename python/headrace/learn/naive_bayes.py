# SPDX-License-Identifier: Apache-2.0
"""Naive Bayes: classes by the moments or counts of their columns."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.lazy.handle import mark
from headrace.learn.base import (
    Estimator,
    answer,
    check_labels,
    check_rows,
    check_weights,
    engine_weights,
    float_node,
    frozen,
    is_number,
    is_ours,
    refuse,
)
from headrace.learn.decomposition.singular import dense_or_sparse, kind_of_result, matrix_node
from headrace.learn.few_rows import few_rows
from headrace.learn.labels import check_classes, log_shares
from headrace.learn.parameters import check_numbers
from headrace.tensor.sparse import csr_matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    Numbers = np.ndarray[Any, Any]


def _by_class(rows: Any, codes: Numbers, weights: Array | None, classes: int) -> list[Numbers]:
    """Weight, sum and (of dense rows) squared deviations of each class, in one pass."""
    mark("class_moments")
    count = _core.class_sums if isinstance(rows, csr_matrix) else _core.class_moments
    made = count(matrix_node(rows), frozen(codes)._node, engine_weights(weights)._node, classes)
    return [Array(node).to_numpy() for node in made]


class _NaiveBayes(Estimator):
    """What all of them do: a score of each class for each row, and what follows from it."""

    _fitted_as = "class_count_"
    classes_: Numbers
    class_count_: Numbers

    def _check(self, X: Any, *, fit: bool) -> Any:
        raise NotImplementedError

    def _scores(self, rows: Any) -> Array:
        """Log of the joint probability of rows and classes."""
        raise NotImplementedError

    def _add(self, rows: Any, codes: Numbers, weights: Array | None) -> None:
        """Add rows to what is known, and make the attributes of it."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Count `X`, ``[samples, features]``, by the labels `y`; weights multiply the counts."""
        rows = self._check(X, fit=True)
        self.classes_, codes = check_classes(self, check_labels(self, y, rows.shape[0]))
        self.__dict__.pop("class_count_", None)
        self._add(rows, codes, check_weights(self, sample_weight, rows.shape[0], negative=True))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those before; the first call names all `classes` that may come."""
        name, first = type(self).__name__, not self.__sklearn_is_fitted__()
        if first and classes is None:
            raise InvalidArgumentError(
                f"{name}: classes must be passed on the first call to partial_fit."
            )
        known = self.classes_ if classes is None else np.unique(np.asarray(classes))
        if not first and not np.array_equal(known, self.classes_):
            raise InvalidArgumentError(
                f"{name}: classes={known.tolist()} is not the same as on last call to partial_fit, "
                f"was: {self.classes_.tolist()}"
            )
        rows = self._check(X, fit=first)
        found, codes = check_classes(self, check_labels(self, y, rows.shape[0]))
        new = found[~np.isin(found, known)]
        if len(new):
            raise InvalidArgumentError(
                f"{name}: The target label(s) {new.tolist()} in y do not exist in the initial "
                f"classes {known.tolist()}"
            )
        self.classes_ = known
        weights = check_weights(self, sample_weight, rows.shape[0], negative=True)
        self._add(rows, np.searchsorted(known, found)[codes], weights)
        return self

    def _joint(self, X: Any) -> Any:
        self._check_fitted()
        return self._scores(self._check(X, fit=False))

    def _log_proba(self, X: Any) -> Any:
        return log_shares(self._joint(X))

    def predict_joint_log_proba(self, X: Any) -> Any:
        """Logarithms of P(row, class): float64 ``[samples, classes]``."""
        return answer(kind_of_result(X), self._joint(X))

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithms of `predict_proba`."""
        return answer(kind_of_result(X), self._log_proba(X))

    def predict_proba(self, X: Any) -> Any:
        """P(class | row): float64 ``[samples, classes]``."""
        return answer(kind_of_result(X), np.exp(self._log_proba(X)))

    @few_rows
    def predict(self, X: Any) -> Any:
        """The most likely class of each row, the first of equal ones: ``[samples]``."""
        best = self._joint(X).to_numpy().argmax(axis=1)
        labels = self.classes_.take(best)
        ours = is_ours(kind_of_result(X)) and labels.dtype.kind in "biuf"
        return asarray(labels) if ours else labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted."""
        from headrace.learn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def _priors(self, given: Any) -> Numbers:
        """Priors of the classes that the user gave."""
        priors = np.asarray(given, dtype=np.float64)
        if priors.shape != self.classes_.shape:
            raise InvalidArgumentError(
                f"{type(self).__name__}: Number of priors must match number of classes: "
                f"priors={priors.size}, classes={len(self.classes_)}"
            )
        return priors


class GaussianNB(_NaiveBayes):
    """Naive Bayes with a normal distribution of each column in each class.

    Means and variances come from one pass over the rows, blocks around their own means that are
    joined in order (Chan, Golub and LeVeque 1979): offsets of 1e8 cost no digits, and the bits are
    the same for any number of threads. float64 inside, whatever the rows are.

    Parameters
    ----------
    priors : array_like, optional
        Probability of each class; by default its share of the rows.
    var_smoothing : float, default 1e-9
        What is added to all variances, as a share of the largest variance of a column.

    Attributes
    ----------
    classes_, class_count_, class_prior_ : NumPy array
        ``[classes]``
    theta_, var_ : NumPy array of float64
        Means and variances, ``[classes, features]``.
    epsilon_ : float
        What was added to the variances.

    >>> rows, labels = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    >>> hr.learn.GaussianNB().fit(rows, labels).predict([[1.2], [7.0]]).tolist()
    ['low', 'high']
    """

    _tags: ClassVar[Mapping[str, Any]] = {"estimator_type": "classifier"}
    class_count_: Numbers
    theta_: Numbers
    var_: Numbers
    class_prior_: Numbers
    epsilon_: float
    _squares: Numbers

    def __init__(self, *, priors: Any = None, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _check(self, X: Any, *, fit: bool) -> Array:
        if not (is_number(self.var_smoothing) and self.var_smoothing >= 0):
            refuse(self, "var_smoothing", "a number from 0 on")
        return check_rows(self, X, fit=fit)

    def _add(self, rows: Array, codes: Numbers, weights: Array | None) -> None:
        classes = len(self.classes_)
        priors = self._checked_priors()
        count, sums, squares = _by_class(rows, codes, weights, classes)
        whole: Any = (count, sums, squares)
        if weights is not None:  # the smoothing is a share of a variance without weights
            whole = _by_class(rows, np.zeros_like(codes), None, 1)
        epsilon = float(self.var_smoothing * _variance(*whole).max())
        if self.__sklearn_is_fitted__():
            before, means = self.class_count_, self.theta_
            # As in scikit-learn, what the last call added is not what this one takes away.
            apart = self._squares + before[:, None] * (self.epsilon_ - epsilon)
            total = before + count
            change = _ratio(sums, count) - means
            share = _ratio(count[:, None], total)
            means = np.where(before[:, None] > 0, means + change * share, _ratio(sums, count))
            squares = apart + squares + change**2 * before[:, None] * share
            count = total
        else:
            means = _ratio(sums, count)
        self._squares, self.theta_, self.class_count_ = squares, means, count
        self.epsilon_, self.var_ = epsilon, _ratio(squares, count) + epsilon
        self.class_prior_ = count / count.sum() if priors is None else priors

    def _checked_priors(self) -> Numbers | None:
        if self.priors is None:
            return None
        priors = self._priors(self.priors)
        if not np.isclose(priors.sum(), 1.0):
            raise InvalidArgumentError(
                f"GaussianNB: The sum of the priors should be 1: sum={priors.sum()}"
            )
        if (priors < 0).any():
            raise InvalidArgumentError(f"GaussianNB: Priors must be non-negative: {priors}")
        return priors

    def _scores(self, rows: Array) -> Array:
        parts = self.theta_, self.var_, self.class_prior_
        mark("gaussian_scores")
        return Array(_core.gaussian_scores(rows._node, *(float_node(part) for part in parts)))


def _ratio(sums: Numbers, counts: Numbers) -> Numbers:
    """Sums over counts of classes, 0 for those without rows."""
    counts = counts.reshape(len(counts), 1)
    return np.divide(sums, counts, out=np.zeros(np.broadcast(sums, counts).shape), where=counts > 0)


def _variance(count: Numbers, sums: Numbers, squares: Numbers) -> Numbers:
    """The variance of each column over all classes."""
    mean = sums.sum(axis=0) / count.sum()
    between = count[:, None] * np.where(count[:, None] > 0, _ratio(sums, count) - mean, 0.0) ** 2
    return (squares + between).sum(axis=0) / count.sum()


class MultinomialNB(_NaiveBayes):
    """Naive Bayes of counts, of words in documents for example, dense or sparse.

    Parameters
    ----------
    alpha : float or array_like, default 1.0
        What is added to each count, or to those of each column.
    force_alpha : bool, default True
        Take an `alpha` below 1e-10 as it is.
    fit_prior : bool, default True
        Learn how likely classes are; else all are alike.
    class_prior : array_like, optional
        Probability of each class.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : NumPy array
        ``[classes]``
    feature_count_, feature_log_prob_ : NumPy array of float64
        ``[classes, features]``; counts are exact where `X` holds integers.

    >>> counts = hr.tensor.csr_matrix([[2, 0, 1], [0, 3, 0], [1, 0, 2]])
    >>> hr.learn.MultinomialNB().fit(counts, [0, 1, 0]).predict([[0, 2, 1]]).tolist()
    [1]
    """

    _tags: ClassVar[Mapping[str, Any]] = {
        "estimator_type": "classifier",
        "classifier_tags": {"poor_score": True},
        "input_tags": {"sparse": True, "positive_only": True},
    }
    class_count_: Numbers
    class_log_prior_: Numbers
    feature_count_: Numbers
    feature_log_prob_: Numbers

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _check(self, X: Any, *, fit: bool) -> Any:
        return dense_or_sparse(self, X, fit=fit, non_negative=fit)

    def _add(self, rows: Any, codes: Numbers, weights: Array | None) -> None:
        classes, alpha = len(self.classes_), self._checked_alpha()
        priors = None if self.class_prior is None else self._priors(self.class_prior)
        count, sums, *_ = _by_class(rows, codes, weights, classes)
        if self.__sklearn_is_fitted__():
            count, sums = self.class_count_ + count, self.feature_count_ + sums
        self.class_count_, self.feature_count_ = count, sums
        smoothed = sums + alpha
        with np.errstate(divide="ignore"):
            self.feature_log_prob_ = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
            if priors is None:
                priors = count / count.sum() if self.fit_prior else np.full(classes, 1 / classes)
            self.class_log_prior_ = np.log(priors)

    def _checked_alpha(self) -> Numbers:
        alpha = check_numbers(self, "alpha")
        if alpha.shape not in ((), (self.n_features_in_,)):
            raise InvalidArgumentError(
                "MultinomialNB: When alpha is an array, it should contains `n_features`. Got "
                f"{alpha.size} elements instead of {self.n_features_in_}."
            )
        if not alpha.min() >= 0:
            refuse(self, "alpha", "a number from 0 on, or one for each column")
        if alpha.min() < 1e-10 and not self.force_alpha:
            warnings.warn(
                "alpha too small will result in numeric errors, setting alpha = 1.0e-10. Use "
                "`force_alpha=True` to keep alpha unchanged.",
                stacklevel=4,
            )
            alpha = np.maximum(alpha, 1e-10)
        return alpha

    def _scores(self, rows: Any) -> Array:
        made = rows.astype("float64") @ frozen(np.ascontiguousarray(self.feature_log_prob_.T))
        return made + frozen(self.class_log_prior_)
