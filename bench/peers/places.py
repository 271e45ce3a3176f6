# SPDX-License-Identifier: Apache-2.0
"""Plans over the host's data under device("auto") compared with the CPU alone: ./dev bench places.

Each plan runs where it is predicted to take least. It is right where it takes at most 1.1 times as
long as the better of the CPU and itself, so where it does not lose to the CPU by more.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from measure import HEADER, Bench, Rival, parse

import headrace as hr

#: Of the CPU's time over that of `auto`.
BAR = 1 / 1.1
SIZES = (200_000, 2_000_000, 20_000_000)

Frame = hr.DataFrame

PROGRAMS: dict[str, Callable[[Frame, Frame], Any]] = {
    "sort by two keys": lambda f, g: f.sort_values(["k", "v"]),
    "many groups": lambda f, g: f.groupby("k").v.agg(["sum", "mean", "count"]),
    "50 groups": lambda f, g: f.groupby("s").v.agg(["sum", "mean", "count"]),
    "join, then groups": lambda f, g: f.merge(g, on="k").groupby("s").w.sum(),
    "filter, first rows": lambda f, g: f[(f.v > 0.5) & (f.k % 7 == 0)].sort_values("v").head(10),
    "groups where text": lambda f, g: f[f.t == "ab"].groupby("k").v.max().sort_values(),
    "running sum": lambda f, g: ((f.v * 2 + f.k).cumsum() - f.v.mean()).sum(),
    "element-wise": lambda f, g: np.sqrt(f.v * 2 + f.k) * f.s,
    "sines": lambda f, g: (np.sin(f.v) ** 2 + np.cos(f.v) ** 2).sum(),
    "largest 5": lambda f, g: f.nlargest(5, "v"),
    "distinct": lambda f, g: f.k.drop_duplicates(),
    "upper case, groups": lambda f, g: f.assign(u=f.t.str.upper()).groupby("u").v.mean(),
    "running sum in groups": lambda f, g: f.groupby("s").v.cumsum().sum(),
    "rank": lambda f, g: f.v.rank(),
    "pivot": lambda f, g: f.pivot_table(index="s", columns="t", values="v", aggfunc="mean"),
    "chain of five": lambda f, g: (
        f[f.v > 0.1].merge(g, on="k").sort_values(["k", "v"]).groupby("k").w.sum().nlargest(10)
    ),
}


def same(ours: Any, theirs: Any) -> str:
    """Compare frames and numbers, bit for bit."""
    if hasattr(ours, "to_pandas"):
        assert ours.to_pandas().equals(theirs.to_pandas()), "other values"
    else:
        assert ours.item() == theirs.item(), f"{ours.item()} and {theirs.item()}"
    return "equal"


def steps(bench: Bench, sizes: tuple[int, ...]) -> None:
    """Time each program over tables of each size."""
    random = np.random.default_rng(0)
    for rows in sizes:
        table = hr.DataFrame(
            {
                "k": random.integers(0, rows // 2, rows),
                "s": random.integers(0, 50, rows),
                "v": random.random(rows),
                "t": random.choice(["ab", "cd", "ef"], rows),
            }
        )
        keys = hr.DataFrame({"k": random.permutation(rows // 2), "w": random.random(rows // 2)})
        hr.eval(table, keys)
        for name, program in PROGRAMS.items():

            def on(device: str, p: Any = program, t: Any = table, k: Any = keys) -> Any:
                with hr.device(device):
                    value = p(t, k)
                    hr.eval(value)
                    return value

            rivals = [Rival("cpu", lambda on=on: on("cpu"), BAR)]
            bench.step(f"{name}, {rows:.0e}", lambda on=on: on("auto"), rivals, same, rows=rows)


if __name__ == "__main__":
    options = parse("places", argparse.ArgumentParser(description=__doc__), SIZES[-1], 5)
    bench = Bench("places", ["numpy"], options.runs, options.output, options.only)
    print(HEADER, flush=True)
    steps(bench, SIZES if options.rows == SIZES[-1] else (options.rows,))
    sys.exit(bench.close())
