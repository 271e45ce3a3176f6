# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's classes under hr.sklearn compared with themselves: ./dev bench accelerator."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import gc
import importlib
import statistics
import time

import numpy as np
from headrace.sklearn.classes import TABLE, subclass
from measure import OURS, Bench, Rival, run, time_of

PACKAGES = ["numpy", "scikit-learn"]
THEIRS = "scikit-learn"
#: Times what scikit-learn needs: no call of less than 1 ms may take longer.
MOST = 1.05
SHORT = 1e-3
MOST_SMALL = 1000
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


def in_turns(works: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Seconds of calls, one of each in turn: what else the machine does, all of them meet."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    first = sum(time_of(work, 1)[0] for work in works.values())
    gc.disable()
    for _ in range(max(31, int(0.8 / first))):
        for name, work in works.items():
            times[name].append(short_time_of(work))
    gc.enable()
    return times


def short_time_of(work: Any) -> tuple[float, float]:
    """Wall and processor seconds of a call."""
    cpu, begin = time.process_time(), time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    return seconds, time.process_time() - cpu


def compared(bench: Bench, path: str, sizes: list[tuple[int, int]]) -> None:
    """`fit` and what is asked, on our subclass and on scikit-learn's class."""
    module, name = path.rsplit(".", 1)
    classes = {
        OURS: subclass(path),
        THEIRS: getattr(importlib.import_module(f"sklearn.{module}"), name),
    }
    case = CASES[name]
    for rows, columns in sizes:
        steps = {word: f"{name}.{word} {rows} x {columns}" for word in ("fit", case.asked) if word}
        if not any(map(bench.wants, steps.values())):
            continue
        X, y = data_of(case, rows, columns)
        few = X[: max(rows // 5, 10)] if rows > 10_000 and case.asked == "kneighbors" else X
        fits = {by: lambda c=c: c(**case.parameters).fit(X, y) for by, c in classes.items()}
        fitted = {by: fit() for by, fit in fits.items()}
        asks = {by: lambda m=m: getattr(m, case.asked)(few) for by, m in fitted.items()}
        for word, step in steps.items():
            works = fits if word == "fit" else asks
            if rows > MOST_SMALL:
                told = lambda *_: "not compared: tests do"  # noqa: E731
                bench.step(step, works[OURS], [Rival(THEIRS, works[THEIRS])], told, rows=rows)
            elif bench.wants(step):
                times = in_turns(works)
                short = statistics.median(wall for wall, _ in times[THEIRS]) < SHORT
                for by, measured in times.items():
                    bar = 1 / MOST if short and by == THEIRS else None
                    bench.judge(step, by, measured, times[OURS], bar, rows=rows)


def steps(bench: Bench, rows: int) -> None:
    """Few rows, where nothing may be lost, then many."""
    for path in TABLE:
        compared(bench, path, SMALL)
        if rows >= 1_000_000:
            compared(bench, path, [CASES[path.rpartition(".")[2]].large])


if __name__ == "__main__":
    sys.exit(run("accelerator", __doc__, PACKAGES, steps))
