# SPDX-License-Identifier: Apache-2.0
"""Which unusual beats to show: no artefacts, and one of those that look alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]

#: A beat is noise if it is as many times rougher than the median beat.
_ROUGH = 6.0
#: Beats look alike from this correlation on.
_ALIKE = 0.9
#: The most beats that are compared.
_MOST = 2000


class Unusual(NamedTuple):
    """Beats to show, the most unusual first, and how many look like each."""

    rows: list[int]
    alike: list[int]
    artefacts: int  #: beats of higher or equal score that are left out as noise


def roughness(beats: Numbers) -> Numbers:
    """Of each row the energy of its second differences, as a share of its own.

    Noise has much of it (6 if it is white), a QRS complex little: its slopes take many samples.
    """
    centered = beats - beats.mean(axis=1, keepdims=True)
    energy = (centered**2).sum(axis=1)
    return (np.diff(centered, 2, axis=1) ** 2).sum(axis=1) / np.where(energy > 0, energy, 1)


def is_noise(beats: Numbers, usual: Numbers) -> Numbers:
    """Which rows are much rougher than the usual ones."""
    return roughness(beats) > _ROUGH * float(np.median(roughness(usual)))


def most_unusual(beats: Numbers, score: Numbers, noise: Numbers, shown: int) -> Unusual:
    """One beat of each shape, those with the highest scores first.

    A beat joins the first beat that it correlates with by 0.9 or more, else it begins a shape.
    """
    order = np.argsort(-score, kind="stable")
    order = order[np.isfinite(score[order])]
    clean = order[~noise[order]][:_MOST]
    shapes = beats[clean].astype(np.float64)
    shapes -= shapes.mean(axis=1, keepdims=True)
    shapes /= np.maximum(np.sqrt((shapes**2).sum(axis=1, keepdims=True)), 1e-12)
    leaders: list[int] = []
    alike: list[int] = []
    for place, shape in enumerate(shapes):
        near = shapes[leaders] @ shape if leaders else np.zeros(0)
        close = np.flatnonzero(near >= _ALIKE)
        if len(close):
            alike[close[0]] += 1
        elif len(leaders) < shown:
            leaders.append(place)
            alike.append(0)
    rows = clean[leaders].tolist()
    least = score[rows[-1]] if rows else np.inf
    return Unusual(rows, alike, int((noise & (score >= least)).sum()))
