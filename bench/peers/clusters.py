# SPDX-License-Identifier: Apache-2.0
"""Dask with our partitions against Dask with pandas, two workers each: ./dev bench clusters."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster
from measure import Bench, Rival, run

import headrace as hr

PACKAGES = ["dask", "distributed", "numpy", "pandas", "pyarrow"]
WORKERS, PARTITIONS = 2, 16
#: How many times faster than `dask.dataframe` on pandas.
LEAST = {"group-by": 3.0, "merge by a shuffle": 2.0, "sort": 2.0}
MEMORY = "8GB"


def tables(rows: int) -> dict[str, dict[str, Any]]:
    """Whole numbers, whose sums are equal to the last digit."""
    random = np.random.default_rng(7)
    keys = max(rows // 100, 10)
    left = {"k": random.integers(0, keys, rows), "v": random.integers(0, 1000, rows)}
    left["u"] = random.permutation(rows)
    return {"left": left, "right": {"k": np.arange(keys), "w": np.arange(keys) % 97}}


def same(ours: Any, theirs: Any) -> str:
    """Compare the values of two results, in the order of their first column."""
    one, other = (np.sort(np.asarray(each.to_numpy(), np.int64), axis=0) for each in (ours, theirs))
    return "" if np.array_equal(one, other) else "the values differ"


def follow(ours: Any, theirs: Any) -> str:
    """Check that partitions of sorted numbers without gaps follow each other; cuts may differ."""
    for each in (ours, theirs):
        first, last = np.asarray(each.to_numpy(), np.int64).reshape(-1, 2).T
        if first[0] != 0 or not np.array_equal(first[1:], last[:-1] + 1):
            return "the partitions do not follow each other"
    return "" if ours.iloc[-1] == theirs.iloc[-1] else "the last values differ"


WORK: dict[str, Any] = {
    "group-by": lambda left, right: left.groupby("k").v.sum(split_out=PARTITIONS),
    "merge by a shuffle": lambda left, right: left.merge(
        right.repartition(npartitions=PARTITIONS), on="k", broadcast=False
    )[["v", "w"]].sum(),
    "sort": lambda left, right: left.sort_values("u").u.map_partitions(ends),
}


def ends(part: Any) -> Any:
    """The first and the last value of a partition: all of it is sorted, little is returned."""
    return part.iloc[[0, len(part) - 1]]


def steps(bench: Bench, rows: int) -> None:
    """Run each work on rows that the workers hold."""
    data = tables(rows)
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    theirs = LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None, memory_limit="8GB"
    )
    with theirs, Client(theirs, set_as_default=False) as client:
        with dask.config.set({"dataframe.backend": "pandas"}):
            held = {
                name: client.persist(dd.from_pandas(pd.DataFrame(each), npartitions=PARTITIONS))
                for name, each in data.items()
            }
        with hr.cluster(workers=WORKERS, memory=MEMORY) as cluster:
            own = {
                name: cluster.scatter(hr.DataFrame(each), PARTITIONS) for name, each in data.items()
            }
            for step, work in WORK.items():
                if not bench.wants(step):
                    continue

                def ours(work: Any = work) -> Any:
                    return cluster.client.compute(work(**own)).result()

                def pandas(work: Any = work) -> Any:
                    with client.as_current():  # sorting asks the current client for its ranges
                        return client.compute(work(**held)).result()

                rivals = [Rival("dask on pandas", pandas, LEAST[step])]
                bench.step(step, ours, rivals, follow if step == "sort" else same, rows=rows)


if __name__ == "__main__":
    sys.exit(run("clusters", __doc__, PACKAGES, steps))
