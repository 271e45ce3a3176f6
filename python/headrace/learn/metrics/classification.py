# SPDX-License-Identifier: Apache-2.0
"""Scores of predicted classes and of their probabilities."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from headrace.errors import InvalidArgumentError, TypeMismatchError, UnsupportedError
from headrace.learn.base import is_ours
from headrace.learn.preparation.levels import Values

Numbers = np.ndarray[Any, Any]


def labels_of(y: Any, name: str = "y") -> Values:
    """One column of labels."""
    values = y if is_ours(y) else np.asarray(y, _dtype(y))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.reshape(-1) if not hasattr(values, "columns") else values[values.columns[0]]
    if values.ndim != 1:
        raise UnsupportedError(
            f"metrics: only one label a row is supported: {name}.shape={tuple(values.shape)}"
        )
    return Values("metrics", values)


def _dtype(y: Any) -> Any:
    if hasattr(y, "dtype"):
        return None
    return object if np.asarray(y).dtype.kind in "US" else None


def weights_of(sample_weight: Any, rows: int) -> Numbers | None:
    """Weights as float64, of as many rows."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    check_lengths(rows, len(weights))
    return weights


def check_lengths(*sizes: int) -> None:
    """Raise where numbers of rows differ."""
    if len(set(sizes)) > 1:
        raise InvalidArgumentError(
            f"Found input variables with inconsistent numbers of samples: {list(sizes)}"
        )


def joint_levels(*columns: Values) -> Numbers:
    """The distinct labels of all columns, in order."""
    levels = [column.levels() for column in columns]
    if len({each.dtype.kind in "biuf" for each in levels if len(each)}) > 1:
        raise TypeMismatchError("metrics: labels are strings in one column and numbers in another")
    filled = [each for each in levels if len(each)] or levels[:1]
    return np.unique(np.concatenate(filled))


def numbered(y_true: Any, y_pred: Any, labels: Any = None) -> tuple[Numbers, Numbers, Numbers]:
    """Both columns as places in the labels, and the labels; -1 where one is not there."""
    true, predicted = labels_of(y_true, "y_true"), labels_of(y_pred, "y_pred")
    check_lengths(len(true.series), len(predicted.series))
    levels = joint_levels(true, predicted)
    places = [column.numbers(levels).to_numpy().astype(np.int64) for column in (true, predicted)]
    if labels is None:
        return places[0], places[1], levels
    wanted = np.asarray(labels)
    to = np.full(len(levels) + 1, -1)
    for place, label in enumerate(wanted.tolist()):
        to[:-1][levels == label] = place
    return to[places[0]], to[places[1]], wanted


def contingency(rows: Numbers, columns: Numbers, shape: tuple[int, int], weights: Any) -> Numbers:
    """Counts, or sums of weights, of pairs of places."""
    known = (rows >= 0) & (columns >= 0)
    pairs = rows[known] * shape[1] + columns[known]
    made = np.bincount(
        pairs, None if weights is None else weights[known], minlength=shape[0] * shape[1]
    )
    return made.reshape(shape)


def accuracy_score(
    y_true: Any, y_pred: Any, *, normalize: bool = True, sample_weight: Any = None
) -> float:
    """The share (or, without `normalize`, the number) of right predictions.

    >>> hr.learn.metrics.accuracy_score([0, 1, 1, 0], [0, 1, 0, 0])
    0.75
    """
    true, predicted, _ = numbered(y_true, y_pred)
    weights = weights_of(sample_weight, len(true))
    right = true == predicted
    if weights is not None:
        total = float(weights[right].sum())
        return total / float(weights.sum()) if normalize else total
    return float(right.mean()) if normalize else float(right.sum())


def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    sample_weight: Any = None,
    normalize: str | None = None,
) -> Numbers:
    """Counts of rows by true label (down) and predicted label (across), as a NumPy array.

    Parameters
    ----------
    y_true, y_pred : array_like
    labels : array_like, optional
        The labels and their order; all in order by default.
    sample_weight : array_like, optional
    normalize : {"true", "pred", "all"}, optional
        Divide by the sums of rows, of columns, or of all.

    >>> hr.learn.metrics.confusion_matrix(["a", "b", "b"], ["a", "b", "a"]).tolist()
    [[1, 0], [1, 1]]
    """
    true, predicted, levels = numbered(y_true, y_pred, labels)
    if labels is not None and len(true) and (true < 0).all():
        raise InvalidArgumentError("At least one label specified must be in y_true")
    made = contingency(true, predicted, (len(levels),) * 2, weights_of(sample_weight, len(true)))
    if normalize is None:
        return made
    if normalize not in ("true", "pred", "all"):
        raise InvalidArgumentError(
            f"confusion_matrix: no such way: normalize={normalize!r}; use 'true', 'pred' or 'all'"
        )
    axis = {"true": 1, "pred": 0, "all": None}[normalize]
    with np.errstate(all="ignore"):
        return np.nan_to_num(made / made.sum(axis=axis, keepdims=True))


def _scores(
    y_true: Any,
    y_pred: Any,
    labels: Any,
    pos_label: Any,
    average: str | None,
    sample_weight: Any,
    zero_division: Any,
    kind: str,
) -> Any:
    true, predicted, levels = numbered(y_true, y_pred)
    weights = weights_of(sample_weight, len(true))
    table = contingency(true, predicted, (len(levels),) * 2, weights)
    hits, predictions, truths = table.diagonal(), table.sum(axis=0), table.sum(axis=1)
    if average == "binary":
        if len(levels) > 2:
            raise InvalidArgumentError(
                "Target is multiclass but average='binary'. Please choose another average setting, "
                "one of [None, 'micro', 'macro', 'weighted']."
            )
        if pos_label not in levels.tolist() and len(levels) >= 2:
            raise InvalidArgumentError(
                f"pos_label={pos_label} is not a valid label. It should be one of {levels.tolist()}"
            )
        labels = [pos_label]
    elif average not in (None, "micro", "macro", "weighted"):
        raise InvalidArgumentError(
            f"{kind}_score: no such average: average={average!r}; use 'binary', 'micro', 'macro', "
            "'weighted' or None"
        )
    if labels is not None:
        places = {label: place for place, label in enumerate(levels.tolist())}
        at = np.array([places.get(label, len(levels)) for label in np.asarray(labels).tolist()])
        hits, predictions, truths = (np.append(each, 0)[at] for each in (hits, predictions, truths))
    support = truths
    if average == "micro":
        hits, predictions, truths = (np.array([each.sum()]) for each in (hits, predictions, truths))
    if kind == "precision":
        above, below = hits, predictions
    elif kind == "recall":
        above, below = hits, truths
    else:
        above, below = 2 * hits, predictions + truths
    none = 0.0 if zero_division == "warn" else float(zero_division)
    if (below == 0).any() and zero_division == "warn":
        warnings.warn(
            f"{kind} is ill-defined and set to 0.0 where there are no samples; use zero_division "
            "to control this",
            stacklevel=3,
        )
    with np.errstate(all="ignore"):
        found = np.where(below == 0, none, above / below)
    if average is None:
        return found
    known = ~np.isnan(found)
    weights = support[known] if average == "weighted" else None
    if not known.any() or (weights is not None and not weights.sum()):
        return none
    return float(np.average(found[known], weights=weights))


def precision_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """The share of predictions of a class that are right.

    Parameters
    ----------
    y_true, y_pred : array_like
    labels : array_like, optional
        The classes that count, where `average` is not "binary".
    pos_label : default 1
        The class, where `average` is "binary".
    average : {"binary", "micro", "macro", "weighted"} or None
        One class, all rows together, the mean of classes, or that by their rows; None gives an
        array, one value a class.
    sample_weight : array_like, optional
    zero_division : "warn", 0.0, 1.0 or NaN
        The value of a class that was never predicted; "warn" is 0.0 with a warning.

    >>> hr.learn.metrics.precision_score([0, 1, 1, 0], [0, 1, 1, 1])
    0.6666666666666666
    """
    options = labels, pos_label, average, sample_weight, zero_division
    return _scores(y_true, y_pred, *options, "precision")


def recall_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """The share of the rows of a class that are predicted so; see `precision_score`.

    >>> hr.learn.metrics.recall_score([0, 1, 1, 0], [0, 1, 0, 1])
    0.5
    """
    options = labels, pos_label, average, sample_weight, zero_division
    return _scores(y_true, y_pred, *options, "recall")


def f1_score(
    y_true: Any,
    y_pred: Any,
    *,
    labels: Any = None,
    pos_label: Any = 1,
    average: str | None = "binary",
    sample_weight: Any = None,
    zero_division: Any = "warn",
) -> Any:
    """The harmonic mean of precision and recall; see `precision_score`.

    >>> hr.learn.metrics.f1_score([0, 1, 1, 0], [0, 1, 1, 1])
    0.8
    """
    options = labels, pos_label, average, sample_weight, zero_division
    return _scores(y_true, y_pred, *options, "f1")


def log_loss(
    y_true: Any,
    y_proba: Any = None,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    y_pred: Any = "deprecated",
) -> float:
    """The mean of the negative logarithms of the probabilities of the true labels.

    Parameters
    ----------
    y_true : array_like
        Labels.
    y_proba : array_like
        ``[samples, classes]``, classes in order; or the probability of the second of two classes.
    normalize : bool, default True
        The mean rather than the sum.
    sample_weight : array_like, optional
    labels : array_like, optional
        All labels, where `y_true` has not got all.

    >>> round(hr.learn.metrics.log_loss([0, 1], [[0.9, 0.1], [0.2, 0.8]]), 6)
    0.164252
    """
    if not (isinstance(y_pred, str) and y_pred == "deprecated"):
        raise UnsupportedError("log_loss: y_pred was renamed: use y_proba")
    chances = np.asarray(y_proba)
    if chances.dtype.kind != "f":
        chances = chances.astype(np.float64)
    if chances.ndim == 1:
        chances = np.stack([1 - chances, chances], axis=1)
    true = labels_of(y_true, "y_true")
    levels = true.levels() if labels is None else np.unique(np.asarray(labels))
    if len(levels) < 2:
        raise InvalidArgumentError(
            f"y_true contains only one label ({levels.tolist()}). Please provide the list of all "
            "expected class labels explicitly through the labels argument."
        )
    places = true.numbers(levels).to_numpy()
    check_lengths(len(places), len(chances))
    if len(levels) != chances.shape[1]:
        raise InvalidArgumentError(
            f"log_loss: the labels and the columns of y_proba differ: labels={levels.tolist()}, "
            f"columns={chances.shape[1]}"
        )
    if len(places) and places.min() < 0:
        raise InvalidArgumentError(
            f"y_true contains values {true.at(true.numbers(levels) < 0)} not belonging to the "
            f"passed labels {levels.tolist()}."
        )
    if chances.size and not (chances.min() >= 0 and chances.max() <= 1):
        raise InvalidArgumentError(
            f"y_proba contains values outside 0 to 1: minimum={chances.min()}, "
            f"maximum={chances.max()}"
        )
    if not np.allclose(chances.sum(axis=1), 1, rtol=np.sqrt(np.finfo(chances.dtype).eps)):
        warnings.warn("The y_proba values do not sum to one.", stacklevel=2)
    edge = np.finfo(chances.dtype).eps
    losses = -np.log(np.clip(chances[np.arange(len(places)), places], edge, 1 - edge))
    weights = weights_of(sample_weight, len(places))
    if normalize:
        return float(np.average(losses, weights=weights))
    return float(losses.sum() if weights is None else losses @ weights)
