# SPDX-License-Identifier: Apache-2.0
"""Plans of many steps, columns and groups over few rows, vs. pandas: ./dev bench plans."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from measure import OURS, Bench, Rival, run
from sklearn.datasets import load_breast_cancer

import headrace as hr

PACKAGES = ["numpy", "pandas", "scikit-learn"]
SECONDS = 0.3
BAR = 1 / 3  # at most three times pandas' time: what a plan costs, where there is little to run


def ready(table: pd.DataFrame) -> hr.DataFrame:
    """A frame in its own memory, so that operations on it are lazy."""
    frame = hr.DataFrame({name: table[name].to_list() for name in table})
    hr.eval(frame)
    return frame


def evaluated(frame: hr.DataFrame) -> hr.DataFrame:
    """Run all of a frame."""
    hr.eval(frame)
    return frame


def same(ours: Any, theirs: Any) -> str:
    """Names and values are equal, floats up to their last bits."""
    ours = ours.reset_index() if ours._labels else ours
    labelled = theirs.index.name is not None or theirs.index.dtype != "int64"
    theirs = theirs.reset_index() if labelled else theirs
    mine = ours.to_pandas()
    assert len(mine.columns) == len(theirs.columns), (len(mine.columns), len(theirs.columns))
    for (name, a), b in zip(mine.items(), (theirs[name] for name in theirs), strict=True):
        if b.dtype.kind == "f":
            np.testing.assert_allclose(a.to_numpy("f8"), b, 1e-9, 1e-12, err_msg=str(name))
        else:
            assert a.to_list() == b.to_list(), name
    return "equal, floats within 1e-9"


def within(bench: Bench, step: str, work: Callable[[], Any]) -> None:
    """Compare the median time with the bar in seconds."""
    if not bench.wants(step):
        return
    times = []
    for _ in range(bench.runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    bench.value(f"{step}, median", OURS, statistics.median(times), "s", SECONDS)


def loops(bench: Bench) -> None:
    """Frames that grow in a loop."""
    rows = pd.DataFrame({"a": [1, 2, 3]})
    left = pd.DataFrame({"k": range(10), "v": [float(i) for i in range(10)]})
    right = left.rename(columns={"v": "w"})
    frames = {pd: (rows, left, right), hr: tuple(map(ready, (rows, left, right)))}

    def concats(m: Any) -> Any:
        made, own = frames[m][0], frames[m][0]
        for _ in range(400):
            made = m.concat([made, own])
        return made

    def merges(m: Any) -> Any:
        made = frames[m][1]
        for _ in range(100):
            made = made.merge(frames[m][2], on="k")[["k", "v"]]
        return made

    def wider(m: Any) -> Any:
        made = frames[m][1]
        for i in range(100):
            made = made.merge(frames[m][2].rename(columns={"w": f"w{i}"}), on="k")
        return made

    for step, work in {
        "concat 400 times": concats,
        "merge 100 times with a table": merges,
        "merge 100 times, growing": wider,
    }.items():
        ours = lambda work=work: evaluated(work(hr))  # noqa: E731
        bench.step(step, ours, [Rival("pandas", lambda work=work: work(pd))], same)
        within(bench, step, ours)


def columns(bench: Bench) -> None:
    """Tables of many columns."""
    random = np.random.default_rng(3)
    cancer = load_breast_cancer(as_frame=True).frame
    normal = pd.DataFrame(random.normal(size=(569, 100)), columns=[f"c{i}" for i in range(100)])
    for name, table in {"corr of 569 x 31": cancer, "corr of 569 x 100": normal}.items():
        ours = ready(table)
        bench.step(
            name, lambda ours=ours: ours.corr(), [Rival("pandas", table.corr, BAR)], same_matrix
        )
    values = random.integers(0, 1000, (1000, 1000))
    wide = pd.DataFrame(values, columns=[f"c{i}" for i in range(1000)])
    wide["c0"] = random.permutation(1000)
    other = wide.rename(columns={f"c{i}": f"d{i}" for i in range(1, 1000)})
    other = other.sample(frac=1, random_state=5, ignore_index=True)  # its rows move
    ours, beside = ready(wide), ready(other)
    bench.step(
        "sort 1,000 x 1,000",
        lambda: evaluated(ours.sort_values("c0")),
        [Rival("pandas", lambda: wide.sort_values("c0", ignore_index=True), BAR)],
        same,
    )
    bench.step(
        "merge 1,000 x 1,000",
        lambda: evaluated(ours.merge(beside, on="c0")),
        [Rival("pandas", lambda: wide.merge(other, on="c0"), BAR)],
        same,
    )
    bench.step(
        "group-by 1,000 x 1,000",
        lambda: evaluated(ours.groupby("c1").sum()),
        [Rival("pandas", lambda: wide.groupby("c1").sum(), BAR)],
        same,
    )
    many = pd.DataFrame(random.normal(size=(100, 10_000)), columns=[f"c{i}" for i in range(10_000)])
    frame = ready(many)
    bench.step(
        "isna().sum() of 10,000 columns",
        lambda: frame.isna().sum().to_list(),
        [Rival("pandas", lambda: many.isna().sum().to_list())],
        lambda a, b: "equal" if a == b else f"DIFFERENT: {a[:3]} {b[:3]}",
    )


def same_matrix(ours: Any, theirs: Any) -> str:
    """Correlations differ by no more than rounding."""
    mine = ours.to_pandas()[list(theirs)].to_numpy("f8")
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-12)
    return "within 1e-12"


def groups(bench: Bench) -> None:
    """A Python function of each of many groups."""
    random = np.random.default_rng(4)
    table = pd.DataFrame({"k": np.repeat(np.arange(430), 1000), "a": random.normal(size=430_000)})
    ours = ready(table)

    def spread(m: Any) -> Any:
        return m.groupby("k").a.apply(lambda x: x.max() - x.min()).to_list()

    bench.step(
        "apply to 430 groups of 1,000",
        lambda: spread(ours),
        [Rival("pandas", lambda: spread(table))],
        lambda a, b: "equal" if np.allclose(a, b, 1e-15) else "DIFFERENT",
    )


def steps(bench: Bench, rows: int) -> None:
    """All of them; the sizes are those of the bars."""
    loops(bench)
    columns(bench)
    groups(bench)


if __name__ == "__main__":
    sys.exit(run("plans", __doc__, PACKAGES, steps))
