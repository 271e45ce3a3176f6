#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of models in docs/pictures: `python tools/draw_models.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import headrace as hr

FOLDER = Path(__file__).resolve().parents[1] / "docs/pictures"
CENTERS = [(0, 0), (6, 1), (2, 6), (7, 7)]
SPREADS = [0.5, 0.7, 0.9, 1.2]


def main() -> None:
    """Draw them all from the same synthetic rows."""
    rng = hr.random.default_rng(0)
    group = rng.integers(0, 4, 1_000_000).to_numpy()
    noise = rng.standard_normal((1_000_000, 2)).to_numpy()
    points = np.array(CENTERS)[group] + noise * np.array(SPREADS)[group][:, None]
    names = np.array(["ant", "bee", "cricket", "dragonfly"])
    kinds = names[group]
    pictures = {"embedding": hr.plot.embedding(points, kinds, width=420, height=320)}

    wide = np.column_stack([points, points**2, np.prod(points, axis=1), noise])[:4000]
    features = ["x", "y", "x squared", "y squared", "x times y", "noise", "more noise"]
    table = hr.DataFrame({name: wide[:, at] for at, name in enumerate(features)})
    pca = hr.learn.PCA(7).fit(hr.learn.StandardScaler().fit_transform(table))
    pictures["explained-variance"] = hr.plot.explained_variance(pca, width=420, height=220)
    pictures["elbow"] = hr.plot.elbow(
        hr.learn.KMeans(random_state=0), points[:4000], range(1, 10), width=420, height=220
    )

    clusters = hr.learn.HDBSCAN(min_cluster_size=60, min_samples=10).fit(points[:4000])
    pictures["dendrogram"] = hr.plot.dendrogram(clusters, width=420, height=260)

    forest = hr.learn.RandomForestClassifier(20, max_depth=4, random_state=0)
    forest.fit(table[:2000], kinds[:2000])
    pictures["feature-importances"] = hr.plot.feature_importances(forest)
    few, wanted = table[["x", "more noise"]], kinds[2000:4000]  # too few to be sure
    forest.fit(few[:2000], kinds[:2000])
    pictures["confusion-matrix"] = hr.plot.confusion_matrix(wanted, forest.predict(few[2000:]))
    shares = forest.predict_proba(few[2000:])
    pictures["roc"] = hr.plot.roc(wanted, shares, width=260, height=260)
    for name, picture in pictures.items():
        picture.save(FOLDER / f"model-{name}.svg")


if __name__ == "__main__":
    main()
