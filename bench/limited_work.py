# SPDX-License-Identifier: Apache-2.0
"""One workload over a CSV file under a limit, in a process that another one observes.

`python bench/limited_work.py FILE WORK LIMIT` imports the engine, prints a line, waits for one,
runs the workload and prints its answer, time and peak as one line of JSON. A LIMIT of 0 means none.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy  # noqa: F401  (loaded before the first sample: its pages are not the work's)

import headrace as hr

#: Columns of the file: k nearly all different, g one of 1,000, v and w floats.
WORKS: dict[str, Callable[[hr.DataFrame], Any]] = {
    "read_csv": lambda f: f,
    "sort": lambda f: f.sort_values("k"),
    "sort by two": lambda f: f.sort_values(["g", "v"], ascending=[True, False]),
    "drop_duplicates": lambda f: f.drop_duplicates(),
    "drop_duplicates of k": lambda f: f.drop_duplicates("k"),
    "group by k": lambda f: f.groupby("k", as_index=False).agg({"v": "sum", "w": "max"}),
    "group by g": lambda f: f.groupby("g", as_index=False).agg({"v": ["mean", "std"], "w": "max"}),
    "group by both": lambda f: f.groupby(["k", "g"]).size(),
    "median": lambda f: f.groupby("k").v.median(),
    "merge": lambda f: f.merge(f[["k", "w"]].tail(len(f) // 4), on="k", suffixes=("", "2")),
    "left merge": lambda f: f.merge(
        f[["k", "w"]].head(len(f) // 4), on="k", how="left", suffixes=("", "2")
    ),
    "outer merge": lambda f: (
        f[["k", "v"]].head(len(f) // 4).merge(f[["k", "w"]].tail(len(f) // 2), on="k", how="outer")
    ),
    "rolling": lambda f: f.v.rolling(100).mean(),
    "rolling in groups": lambda f: f.groupby("g").v.rolling(100).mean(),
    "cumsum": lambda f: f.v.cumsum(),
    "cumsum in groups": lambda f: f.groupby("k").v.cumsum(),
    "rank": lambda f: f.v.rank(),
    "pivot_table": lambda f: f.assign(c=f.w % 8 // 1).pivot_table(
        index="k", columns="c", values="v", aggfunc="sum"
    ),
    "value_counts": lambda f: f.k.value_counts(),
}


def answer(made: Any) -> list[Any]:
    """Row count, and a sum or count of each column: small, and independent of the limit."""
    frame = made.to_frame() if isinstance(made, hr.Series) else made
    found: list[Any] = [len(frame)]
    for name in frame.columns:
        column = frame[name]
        text = str(column.dtype) in ("string", "category")
        found.append(int(column.count()) if text else float(column.sum()))
    return found


def main(file: str, work: str, limit: int) -> None:
    """Wait for the observer, then run."""
    if limit:
        hr.memory.limit(limit)
    hr.DataFrame, hr.read_csv  # loaded before the first sample, as NumPy is
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    made = WORKS[work](hr.read_csv(file))
    hr.eval(made)
    seconds = time.perf_counter() - begin
    found = answer(made)
    spilled = hr.memory.spill()
    told = {
        "answer": found,
        "seconds": seconds,
        "peak_bytes": hr.memory.stats().peak_bytes,
        "moved_bytes": spilled.written_bytes + spilled.fetched_bytes,
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
