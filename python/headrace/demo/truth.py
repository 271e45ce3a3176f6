# SPDX-License-Identifier: Apache-2.0
"""Quality of the results: beats found, and outliers separated from the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Integers = npt.NDArray[np.int64]

#: Seconds between a beat and its mark.
TOLERANCE = 0.075


def match(found: Integers, beats: Integers, reach: float) -> Integers:
    """For each detection the index of its beat, or -1; each beat is used once.

    Both inputs are ascending. A pair is at most `reach` apart; the earlier of two candidates wins.
    """
    import numpy as np

    pairs = np.full(len(found), -1, dtype=np.int64)
    places, marks = found.tolist(), beats.tolist()
    i = j = 0
    while i < len(places) and j < len(marks):
        if abs(places[i] - marks[j]) <= reach:
            pairs[i] = j
            i, j = i + 1, j + 1
        elif places[i] < marks[j]:
            i += 1
        else:
            j += 1
    return pairs


def area(score: npt.NDArray[np.floating], positive: npt.NDArray[np.bool_]) -> float:
    """The area under the ROC curve: the probability that a positive row scores above a negative.

    NaN without positive or without negative rows.
    """
    import numpy as np

    ordered = np.sort(score[~positive])
    wins = np.searchsorted(ordered, score[positive], "left").sum(dtype=np.float64)
    ties = np.searchsorted(ordered, score[positive], "right").sum(dtype=np.float64) - wins
    pairs = len(ordered) * int(positive.sum())
    return float((wins + ties / 2) / pairs) if pairs else float("nan")
