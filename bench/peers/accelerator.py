# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's classes under hr.sklearn compared with themselves: ./dev bench accelerator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import importlib

import numpy as np
from headrace.sklearn.classes import TABLE, subclass
from measure import OURS, Bench, Rival, run

PACKAGES = ["numpy", "scikit-learn"]
THEIRS = "scikit-learn"
#: Times what scikit-learn needs: no call of less than 1 ms may take longer.
MOST = 1.05
SMALL = [(20, 4), (100, 10), (1000, 4), (300, 30)]


class Case(NamedTuple):
    """What is asked of a class: of values it makes rows, targets and a model."""

    parameters: dict[str, Any]
    targets: str = ""
    asked: str = ""
    large: tuple[int, int] = (100_000, 20)
    rows: str = "numbers"


CASES = {
    "KMeans": Case({"n_clusters": 5, "n_init": 1, "random_state": 0}, asked="predict"),
    "MiniBatchKMeans": Case({"n_clusters": 20, "n_init": 1, "random_state": 0}, asked="predict"),
    "DBSCAN": Case({"eps": 0.05}, large=(20_000, 2)),
    "PCA": Case({"n_components": 3}, asked="transform", large=(200_000, 64)),
    "NearestNeighbors": Case({}, asked="kneighbors", large=(5_000, 32)),
    "KNeighborsClassifier": Case({}, "labels", "predict", large=(5_000, 32)),
    "KNeighborsRegressor": Case({}, "numbers", "predict", large=(5_000, 32)),
    "LocalOutlierFactor": Case({}, large=(5_000, 32)),
    "KNeighborsTransformer": Case({}, asked="transform", large=(5_000, 32)),
    "LinearRegression": Case({}, "numbers", "predict"),
    "Ridge": Case({}, "numbers", "predict", large=(200_000, 64)),
    "LogisticRegression": Case({}, "labels", "predict"),
    "SVC": Case({}, "labels", "predict", large=(5_000, 20)),
    "SVR": Case({}, "numbers", "predict", large=(3_000, 20)),
    "StandardScaler": Case({}, asked="transform", large=(1_000_000, 4)),
    "MinMaxScaler": Case({}, asked="transform", large=(1_000_000, 4)),
    "OneHotEncoder": Case({}, asked="transform", large=(1_000_000, 1), rows="levels"),
    "OrdinalEncoder": Case({}, asked="transform", large=(1_000_000, 1), rows="levels"),
    "CountVectorizer": Case({}, asked="transform", large=(10_000, 20), rows="texts"),
    "TfidfVectorizer": Case({}, asked="transform", large=(10_000, 20), rows="texts"),
    "HashingVectorizer": Case({}, asked="transform", large=(10_000, 20), rows="texts"),
}


def data_of(case: Case, rows: int, columns: int) -> tuple[Any, Any]:
    """Rows and targets."""
    rng = np.random.default_rng(rows)
    numbers = rng.normal(size=(rows, columns))
    sums = numbers @ rng.normal(size=columns) + 0.5 * rng.normal(size=rows)
    targets = {"": None, "labels": np.digitize(sums, [-1.0, 1.0]), "numbers": sums}[case.targets]
    if case.rows == "levels":
        return rng.integers(0, min(1000, rows // 4), (rows, columns)), targets
    if case.rows == "texts":
        words = np.array([f"word{number}" for number in range(2000)])
        return [" ".join(each) for each in words[rng.integers(0, 2000, (rows, columns))]], targets
    return numbers, targets


def compared(bench: Bench, path: str, sizes: list[tuple[int, int]]) -> None:
    """`fit` and what is asked, on our subclass and on scikit-learn's class."""
    module, name = path.rsplit(".", 1)
    theirs, ours = getattr(importlib.import_module(f"sklearn.{module}"), name), subclass(path)
    case = CASES[name]
    for rows, columns in sizes:
        X, y = data_of(case, rows, columns)
        fitted = [cls(**case.parameters).fit(X, y) for cls in (ours, theirs)]
        few = X[: max(rows // 5, 10)] if rows > 10_000 and case.asked == "kneighbors" else X
        works = {
            "fit": [lambda cls=cls: cls(**case.parameters).fit(X, y) for cls in (ours, theirs)]
        }
        if case.asked:
            works[case.asked] = [lambda m=m: getattr(m, case.asked)(few) for m in fitted]
        for word, (mine, other) in works.items():
            bench.step(
                f"{name}.{word} {rows} x {columns}",
                mine,
                [Rival(THEIRS, other)],
                lambda *_: "not compared: tests do",
                rows=rows,
                more_runs=3 if rows <= 1000 else 1,
            )


def steps(bench: Bench, rows: int) -> None:
    """Few rows, where nothing may be lost, then many."""
    for path in TABLE:
        name = path.rpartition(".")[2]
        compared(bench, path, SMALL)
        if rows >= 1_000_000:
            compared(bench, path, [CASES[name].large])
    best: dict[str, dict[str, float]] = {}
    for row in bench.rows:
        best.setdefault(row["step"], {})[row["engine"]] = row["min_s"]
    small = {step: each[OURS] / each[THEIRS] for step, each in best.items() if each[THEIRS] < 1e-3}
    for step, share in sorted(small.items(), key=lambda pair: -pair[1])[:5]:
        bench.value(f"{step}, best of ours over best of theirs", OURS, share, "times", MOST)


if __name__ == "__main__":
    sys.exit(run("accelerator", __doc__, PACKAGES, steps))
