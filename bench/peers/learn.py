# SPDX-License-Identifier: Apache-2.0
"""hr.learn compared with scikit-learn: ./dev bench learn [--rows N]."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import Bench, Rival, close_to, run, shared
from sklearn import model_selection, preprocessing

import headrace as hr

PACKAGES = ["numpy", "scikit-learn"]
LEVELS = 1000


def scaled(bench: Bench, rows: int) -> None:
    """Fit and transform four columns, and read the result."""
    x = np.random.default_rng(1).normal(5.0, 3.0, (rows, 4))
    frame = hr.DataFrame({name: np.ascontiguousarray(x[:, i]) for i, name in enumerate("abcd")})
    theirs = Rival("scikit-learn", lambda: preprocessing.StandardScaler().fit_transform(x), 8)
    for label, data in (("array", shared(x)), ("frame", frame)):
        bench.step(
            f"StandardScaler 4 columns, {label}",
            lambda d=data: hr.learn.StandardScaler().fit_transform(d).to_numpy(),
            [theirs],
            close_to(1e-12),
            3 * x.nbytes,
            rows,
        )


def nonzeros(made: object) -> np.ndarray:
    """The columns of the ones, as both keep them."""
    return np.asarray(made.indices)  # type: ignore[attr-defined]


def same_ones(ours: object, theirs: object) -> str:
    """Compare sparse matrices of ones by the places of these."""
    np.testing.assert_array_equal(nonzeros(ours), nonzeros(theirs))
    np.testing.assert_array_equal(np.asarray(ours.indptr), np.asarray(theirs.indptr))  # type: ignore[attr-defined]
    return "equal"


def encoded(bench: Bench, rows: int) -> None:
    """Levels of one column of integers and one of strings, and their targets."""
    rng = np.random.default_rng(2)
    codes = rng.integers(0, LEVELS, rows)
    words = np.array([f"level {number}" for number in range(LEVELS)], dtype=object)[codes]
    columns = {"integers": codes.reshape(-1, 1), "strings": words.reshape(-1, 1)}
    frames = {name: hr.DataFrame({"x": column.ravel()}) for name, column in columns.items()}
    hr.eval(*frames.values())
    for name, column in columns.items():
        bench.step(
            f"OneHotEncoder {name}",
            lambda f=frames[name]: hr.learn.OneHotEncoder().fit_transform(f),
            [
                Rival(
                    "scikit-learn",
                    lambda c=column: preprocessing.OneHotEncoder().fit_transform(c),
                    8,
                )
            ],
            same_ones,
            20 * rows,
            rows,
        )
    y, folds = rng.normal(size=rows), model_selection.KFold(5)
    bench.step(
        "TargetEncoder integers, 5 folds",
        lambda: hr.learn.TargetEncoder(cv=folds).fit_transform(frames["integers"], y).to_numpy(),
        [
            Rival(
                "scikit-learn",
                lambda: preprocessing.TargetEncoder(cv=folds).fit_transform(columns["integers"], y),
                4,
            )
        ],
        close_to(1e-9),
        24 * rows,
        rows,
    )


def steps(bench: Bench, rows: int) -> None:
    """Preparation of data."""
    scaled(bench, rows)
    encoded(bench, rows)


if __name__ == "__main__":
    sys.exit(run("learn", __doc__, PACKAGES, steps))
