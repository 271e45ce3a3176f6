# SPDX-License-Identifier: Apache-2.0
"""Classes of labels, and what they weigh."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from headrace import _core
from headrace.array.array import Array
from headrace.array.construct import asarray
from headrace.errors import InvalidArgumentError
from headrace.learn.base import beside, frozen, is_on_device, refuse

if TYPE_CHECKING:
    from headrace.learn.base import Estimator

#: So many labels that NumPy's sort of them would not go unseen in memory.
_MANY_LABELS = 1 << 14


def check_classes(
    estimator: Estimator, labels: Any, *, as_array: bool = False
) -> tuple[np.ndarray[Any, Any], Any]:
    """The classes of checked labels, ascending, and the place of each among them, int64 of NumPy.

    With `as_array`, the places of numbers on a device, and of many integers, are an int32 array
    where the labels are, within the budget.
    """
    there = as_array and is_on_device(labels) and np.dtype(labels.dtype).kind in "biuf"
    made: Any = asarray(labels) if there else np.asarray(labels)
    dtype = np.dtype(made.dtype)
    if dtype.kind == "f" and bool((made != np.floor(made)).any()):
        raise InvalidArgumentError(
            f"{type(estimator).__name__}: Unknown label type: continuous: y.dtype={dtype}; a "
            "classifier needs labels, use a regressor for numbers"
        )
    integers = dtype.kind in "biu" and dtype != np.uint64 and made.size >= _MANY_LABELS
    if not there and not (as_array and integers):
        return np.unique(made, return_inverse=True)
    whole = asarray(made).astype("int64")
    levels = Array(_core.distinct_integers(whole._node))
    return levels.to_numpy().astype(dtype), Array(_core.level_places(whole._node, levels._node))


def class_weights(
    estimator: Any, codes: np.ndarray[Any, Any], weights: np.ndarray[Any, Any] | None, given: Any
) -> np.ndarray[Any, Any] | None:
    """What rows of each of `classes_` weigh by `given`, a `class_weight`; None for ones.

    `codes` are the places of the rows' labels in `classes_`. A class that a dictionary does not
    name weighs 1, if all that it names are classes of the data.
    """
    labels = estimator.classes_.tolist()
    if given is None:
        return None
    codes = np.asarray(codes)
    if isinstance(given, str):
        if given != "balanced":
            refuse(estimator, "class_weight", "'balanced', a dictionary or None")
        sums = np.bincount(codes, weights, len(labels))
        return sums.sum() / (len(sums) * np.where(sums > 0, sums, 1.0))
    if not isinstance(given, Mapping):
        refuse(estimator, "class_weight", "'balanced', a dictionary or None")
    left_out = [label for label in labels if label not in given]
    if left_out and len(labels) - len(left_out) != len(given):
        raise InvalidArgumentError(
            f"{type(estimator).__name__}: The classes, {left_out}, are not in class_weight: "
            f"{given!r}"
        )
    return np.array([float(given.get(label, 1.0)) for label in labels])


def of_largest(classes: np.ndarray[Any, Any], scores: Array) -> Any:
    """The class of the largest of the scores of each row, the first of equal ones; lazy."""
    best, made = scores[:, 0], np.where(scores[:, 0] > np.inf, classes[0], classes[0])
    for place in range(1, len(classes)):
        larger = scores[:, place] > best
        made = np.where(larger, classes[place], made)
        best = np.where(larger, scores[:, place], best)  # type: ignore[assignment]
    return made


def log_shares(scores: Array) -> Array:
    """Logarithms of the probabilities that scores stand for, ``[samples, classes]``; lazy.

    One score a row is that of the second of two classes.
    """
    if not is_on_device(scores):
        return Array(_core.log_shares(scores._node))
    if scores.ndim == 1:
        scores = scores.reshape(-1, 1) * beside(scores, frozen(np.array([1, -1], scores.dtype)))
        losses: Any = np.maximum(scores, 0) + np.log1p(np.exp(-abs(scores)))
        return -losses
    columns = [scores[:, place] for place in range(scores.shape[1])]
    largest: Any = np.maximum
    most = functools.reduce(largest, columns)
    total = functools.reduce(operator.add, [np.exp(column - most) for column in columns])
    return scores - most.reshape(-1, 1) - np.log(total).reshape(-1, 1)
