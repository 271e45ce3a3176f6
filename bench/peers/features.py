# SPDX-License-Identifier: Apache-2.0
"""Features for recommenders: scikit-learn's encoders, pandas. ./dev bench features [--rows N]."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from measure import Bench, Rival, close_to, equal, run
from sklearn import preprocessing

import headrace as hr

PACKAGES = ["numpy", "pandas", "scikit-learn"]


def visits(rows: int) -> pd.DataFrame:
    """Words as skewed as those of advertisements, users, times and an amount."""
    rng = np.random.default_rng(11)
    levels = np.array([f"{k * 2654435761 % 2**32:08x}" for k in range(100_000)], object)
    return pd.DataFrame(
        {
            "word": levels[(rng.pareto(0.8, rows) * 20).astype(np.int64) % len(levels)],
            "user": rng.integers(0, max(rows // 20, 1), rows),
            "time": rng.permutation(rows),
            "spent": rng.normal(size=rows),
        }
    )


def same_partition(ours: Any, theirs: Any) -> str:
    """Codes of either side tell the same rows apart; ours are by frequency, theirs in order."""
    pairs = pd.DataFrame({"ours": np.asarray(ours).ravel(), "theirs": np.asarray(theirs).ravel()})
    counts = pairs.value_counts()
    assert pairs["ours"].nunique() == pairs["theirs"].nunique() == len(counts)
    by_code = counts.groupby(level="ours").sum().to_numpy()
    assert (np.diff(by_code) <= 0).all()
    return "equal partitions, ours by frequency"


def near_folds(ours: Any, theirs: Any) -> str:
    """Folds are drawn by each side: encodings agree as means of random rows do."""
    ours, theirs = np.asarray(ours).ravel(), np.asarray(theirs).ravel()
    assert abs(ours.mean() - theirs.mean()) < 1e-3 and abs(ours.std() - theirs.std()) < 1e-3
    assert np.abs(ours - theirs).mean() < 0.02
    return "equal up to the folds that are drawn"


def steps(bench: Bench, rows: int) -> None:
    """Fit and transform; the data are where each side has them."""
    theirs = visits(rows)
    ours = hr.DataFrame(theirs)
    hr.eval(ours)
    bench.step(
        "category encoding, strings",
        lambda: hr.learn.CategoryEncoder().fit_transform(ours[["word"]]).to_numpy(),
        [
            Rival(
                "scikit-learn",
                lambda: preprocessing.OrdinalEncoder().fit_transform(theirs[["word"]]),
                5,
            )
        ],
        same_partition,
        20 * rows,
        rows,
    )
    bench.step(
        "ordinal encoding, strings",
        lambda: hr.learn.OrdinalEncoder().fit_transform(ours[["word"]]).to_numpy(),
        [
            Rival(
                "scikit-learn",
                lambda: preprocessing.OrdinalEncoder().fit_transform(theirs[["word"]]),
            )
        ],
        equal,
        24 * rows,
        rows,
    )
    clicked = np.random.default_rng(3).random(rows) < 0.2
    label = hr.Series(clicked)
    hr.eval(label)
    settings = {"target_type": "binary", "smooth": 20.0, "cv": 5}
    bench.step(
        "target encoding out of fold, strings",
        lambda: hr.learn.TargetEncoder(**settings).fit_transform(ours[["word"]], label).to_numpy(),
        [
            Rival(
                "scikit-learn",
                lambda: preprocessing.TargetEncoder(**settings).fit_transform(
                    theirs[["word"]], clicked
                ),
                4,
            )
        ],
        near_folds,
        20 * rows,
        rows,
    )
    groups = hr.learn.GroupStatistics("user", "spent", ["count", "mean", "std"])
    names = list(groups._named())

    def joined() -> Any:
        table = theirs.groupby("user")["spent"].agg(["count", "mean", "std"])
        return theirs[["user"]].merge(table, on="user", how="left")[["count", "mean", "std"]]

    bench.step(
        "group statistics",
        lambda: groups.fit_transform(ours)[:, : len(names)].to_numpy(),
        [Rival("pandas", joined)],
        close_to(1e-9),
        40 * rows,
        rows,
    )
    bench.step(
        "lags 1 and 2",
        lambda: hr.learn.Lag("user", "time", [1, 2], "spent").fit_transform(ours).to_numpy(),
        [
            Rival(
                "pandas",
                lambda: pd.DataFrame(
                    {
                        lag: theirs.sort_values("time").groupby("user")["spent"].shift(lag)
                        for lag in (1, 2)
                    }
                ).sort_index(),
            )
        ],
        equal,
        40 * rows,
        rows,
    )


if __name__ == "__main__":
    sys.exit(run("features", __doc__, PACKAGES, steps))
