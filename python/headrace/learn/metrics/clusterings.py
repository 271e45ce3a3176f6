# SPDX-License-Identifier: Apache-2.0
"""Scores of how alike two clusterings are."""

from __future__ import annotations

from typing import Any

import numpy as np

from headrace.errors import InvalidArgumentError
from headrace.learn.metrics.classification import check_lengths, labels_of

Numbers = np.ndarray[Any, Any]


def _pairs(labels_true: Any, labels_pred: Any) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Rows by pair of clusters: the two clusters and the count of each pair; and the totals."""
    both = labels_of(labels_true, "labels_true"), labels_of(labels_pred, "labels_pred")
    check_lengths(len(both[0].series), len(both[1].series))
    one, other = (each.numbers(each.levels()).to_numpy().astype(np.int64) for each in both)
    width = int(other.max(initial=0)) + 1
    pairs, counts = np.unique(one * width + other, return_counts=True)
    return pairs // width, pairs % width, counts, np.array([len(one)])


def adjusted_rand_score(labels_true: Any, labels_pred: Any) -> float:
    """The share of pairs of rows on which two clusterings agree, 0 for chance and 1 at best.

    >>> hr.learn.metrics.adjusted_rand_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    one, other, counts, (rows,) = _pairs(labels_true, labels_pred)
    squares = int((counts.astype(object) ** 2).sum())
    of_one = int((np.bincount(one, counts).astype(np.int64).astype(object) ** 2).sum())
    of_other = int((np.bincount(other, counts).astype(np.int64).astype(object) ** 2).sum())
    rows = int(rows)
    together = squares - rows  # pairs that are together in both, in one, in the other
    only_one, only_other = of_one - squares, of_other - squares
    apart = rows * rows - of_one - of_other + squares
    if not only_one and not only_other:
        return 1.0
    above = 2.0 * (together * apart - only_one * only_other)
    return above / (
        (together + only_one) * (only_one + apart) + (together + only_other) * (only_other + apart)
    )


def normalized_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic"
) -> float:
    """The information that two clusterings share, as a share of the mean of theirs.

    Parameters
    ----------
    labels_true, labels_pred : array_like
    average_method : {"arithmetic", "geometric", "min", "max"}
        The mean of the two entropies.

    >>> hr.learn.metrics.normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    means: dict[str, Any] = {
        "arithmetic": np.mean,
        "geometric": lambda each: np.sqrt(each[0] * each[1]),
        "min": min,
        "max": max,
    }
    if average_method not in means:
        raise InvalidArgumentError(
            f"normalized_mutual_info_score: no such mean: average_method={average_method!r}; use "
            f"{', '.join(map(repr, means))}"
        )
    one, other, counts, (rows,) = _pairs(labels_true, labels_pred)
    of_one, of_other = np.bincount(one, counts), np.bincount(other, counts)
    if len(of_one) == len(of_other) <= 1:
        return 1.0
    if len(of_one) == 1 or len(of_other) == 1:
        return 0.0
    shared = (
        counts
        / rows
        * (np.log(counts) - np.log(of_one[one]) - np.log(of_other[other]) + np.log(rows))
    )
    mutual = float(np.clip(shared.sum(), 0.0, None))
    if mutual <= np.finfo(float).eps:
        return 0.0
    entropies = [-float((c / rows * np.log(c / rows)).sum()) for c in (of_one, of_other)]
    return float(mutual / means[average_method](entropies))
