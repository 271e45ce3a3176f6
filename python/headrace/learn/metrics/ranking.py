# SPDX-License-Identifier: Apache-2.0
"""Scores of how values rank rows: areas under curves."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.learn.metrics.classification import check_lengths, labels_of, weights_of

Numbers = np.ndarray[Any, Any]


def curve_of(
    positive: Numbers, scores: Numbers, weights: Numbers | None = None
) -> tuple[Numbers, Numbers]:
    """Sums of weights of negative and positive rows from the highest score down, at each score."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    each = np.ones(len(scores)) if weights is None else weights[order]
    last = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    hits, misses = np.cumsum(each * positive), np.cumsum(each * ~positive)
    return misses[last], hits[last]


def area_of(misses: Numbers, hits: Numbers) -> float:
    """The area under a curve of `curve_of`, as parts of all rows."""
    return _under(np.append(0.0, hits / hits[-1]), np.append(0.0, misses / misses[-1]))


def _under(y: Numbers, x: Numbers) -> float:
    """The area under a curve of straight lines."""
    return float((np.diff(x) * (y[1:] + y[:-1])).sum() / 2)


def _area(positive: Numbers, scores: Numbers, weights: Any, max_fpr: float | None) -> float:
    if positive.all() or not positive.any():
        warnings.warn(
            "Only one class is present in y_true. ROC AUC score is not defined in that case.",
            stacklevel=4,
        )
        return np.nan
    misses, hits = curve_of(positive, scores, weights)
    if max_fpr is None or max_fpr == 1:
        return area_of(misses, hits)
    false, true = np.append(0.0, misses / misses[-1]), np.append(0.0, hits / hits[-1])
    if not 0 < max_fpr <= 1:
        raise InvalidArgumentError(f"Expected max_fpr in range (0, 1], got: {max_fpr!r}")
    stop = np.searchsorted(false, max_fpr, "right")
    true = np.append(
        true[:stop], np.interp(max_fpr, false[stop - 1 : stop + 1], true[stop - 1 : stop + 1])
    )
    false = np.append(false[:stop], max_fpr)
    least = 0.5 * max_fpr**2  # McClish's correction: 0.5 for scores that say nothing
    return float(0.5 * (1 + (_under(true, false) - least) / (max_fpr - least)))


def finite_scores(y_score: Any, rows: int) -> Numbers:
    """Scores as float64, one or more for each row."""
    scores = np.asarray(y_score, dtype=np.float64)
    check_lengths(rows, len(scores))
    if not np.isfinite(scores).all():
        raise InvalidArgumentError("metrics: Input y_score contains NaN or infinity")
    return scores


def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
) -> Any:
    """The area under the curve of true against false positives.

    Parameters
    ----------
    y_true : array_like
        Labels; the second of two is the positive one.
    y_score : array_like
        One value for each row; for more classes their probabilities, ``[samples, classes]``.
    average : {"macro", "weighted"} or None
        Of more classes; None gives an array.
    sample_weight : array_like, optional
    max_fpr : float, optional
        The part of the curve up to here, scaled so that 0.5 says nothing.
    multi_class : {"raise", "ovr", "ovo"}
        Each class against the rest, or against each other.
    labels : array_like, optional
        All labels, where `y_true` has not got all.

    >>> hr.learn.metrics.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    true = labels_of(y_true, "y_true")
    levels = true.levels() if labels is None else np.unique(np.asarray(labels))
    places = true.numbers(levels).to_numpy()
    scores = finite_scores(y_score, len(places))
    weights = weights_of(sample_weight, len(places))
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim == 1:
        if len(levels) > 2:
            raise InvalidArgumentError("roc_auc_score: y_score needs a column for each class")
        return _area(
            places == len(levels) - 1 if len(levels) < 2 else places == 1, scores, weights, max_fpr
        )
    if multi_class not in ("ovr", "ovo"):
        raise InvalidArgumentError("multi_class must be in ('ovo', 'ovr')")
    if max_fpr not in (None, 1):
        raise InvalidArgumentError(
            f"Partial AUC computation not available in multiclass setting: max_fpr={max_fpr}"
        )
    if len(levels) != scores.shape[1]:
        raise InvalidArgumentError(
            "Number of classes in y_true not equal to the number of columns in 'y_score': "
            f"classes={len(levels)}, columns={scores.shape[1]}"
        )
    if not np.allclose(scores.sum(axis=1), 1):
        raise InvalidArgumentError(
            "Target scores need to be probabilities for multiclass roc_auc, i.e. they should sum "
            "up to 1.0 over classes"
        )
    if multi_class == "ovr":
        each = [
            _area(places == place, scores[:, place], weights, None) for place in range(len(levels))
        ]
        support = np.bincount(places, weights, minlength=len(levels))
        return _averaged(np.array(each), average, support)
    if weights is not None:
        raise InvalidArgumentError(
            "sample_weight is not supported for multiclass one-vs-one ROC AUC, 'sample_weight' "
            "must be None in this case."
        )
    found, shares = [], []
    for one, other in itertools.combinations(range(len(levels)), 2):
        of_both = (places == one) | (places == other)
        is_one = places[of_both] == one
        shares.append(of_both.mean())
        found.append(
            (
                _area(is_one, scores[of_both, one], None, None)
                + _area(~is_one, scores[of_both, other], None, None)
            )
            / 2
        )
    return _averaged(np.array(found), average, np.array(shares))


def _averaged(found: Numbers, average: str | None, weights: Numbers) -> Any:
    if average is None:
        return found
    if average not in ("macro", "weighted"):
        raise InvalidArgumentError(
            f"metrics: no such average: average={average!r}; use 'macro', 'weighted' or None"
        )
    return float(np.average(found, weights=weights if average == "weighted" else None))


def average_precision_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    pos_label: Any = 1,
    sample_weight: Any = None,
) -> Any:
    """The mean of precisions at each score, weighted by the gain of recall there.

    Parameters
    ----------
    y_true : array_like
        Labels.
    y_score : array_like
        One value for each row; for more than two classes a column for each.
    average : {"macro", "weighted"} or None
        Of more classes; None gives an array.
    pos_label : default 1
        The positive label of two.
    sample_weight : array_like, optional

    >>> round(hr.learn.metrics.average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 6)
    0.833333
    """
    true = labels_of(y_true, "y_true")
    levels = true.levels()
    places = true.numbers(levels).to_numpy()
    scores = finite_scores(y_score, len(places))
    weights = weights_of(sample_weight, len(places))
    if scores.ndim == 2 and scores.shape[1] > 1:
        each = [
            _precision(places == place, scores[:, place], weights) for place in range(len(levels))
        ]
        support = np.bincount(places, weights, minlength=len(levels))
        return _averaged(np.array(each), average, support)
    if len(levels) == 2 and pos_label not in levels.tolist():
        raise InvalidArgumentError(
            f"pos_label={pos_label} is not a valid label. It should be one of {levels.tolist()}"
        )
    return _precision(levels[places] == pos_label, scores.reshape(-1), weights)


def _precision(positive: Numbers, scores: Numbers, weights: Numbers | None) -> float:
    if not positive.any():
        warnings.warn("No positive class found in y_true", stacklevel=4)
        return 0.0
    misses, hits = curve_of(positive, scores, weights)
    with np.errstate(all="ignore"):
        precision = np.where(hits + misses > 0, hits / (hits + misses), 0.0)
    return float((np.diff(hits, prepend=0.0) / hits[-1]) @ precision)
