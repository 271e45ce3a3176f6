# SPDX-License-Identifier: Apache-2.0
"""Structs and lists, from files and in memory, vs. Polars and pyarrow: ./dev bench nested."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from measure import WORKERS, Bench, Rival, run

import headrace as hr

BAR = 1.0
PACKAGES = ["polars", "pyarrow"]


def nested_table(rows: int) -> pa.Table:
    """Make a key, structs with nulls, lists of numbers and lists of structs."""
    random = np.random.default_rng(1)
    words = pa.array([f"text {i}" for i in range(5000)])
    structs = pa.StructArray.from_arrays(
        [random.integers(0, 1000, rows), words.take(pa.array(random.integers(0, 5000, rows)))],
        names=["x", "y"],
        mask=pa.array(random.random(rows) < 0.05),
    )
    offsets = np.concatenate([[0], np.cumsum(random.integers(0, 4, rows))]).astype(np.int32)
    items = int(offsets[-1])
    points = pa.StructArray.from_arrays(
        [random.random(items), random.integers(0, 9, items)], names=["a", "b"]
    )
    return pa.table(
        {
            "k": random.integers(0, 100, rows),
            "s": structs,
            "l": pa.ListArray.from_arrays(pa.array(offsets), random.integers(0, 1000, items)),
            "p": pa.ListArray.from_arrays(pa.array(offsets), points),
        }
    )


def evaluated(work: Callable[[], Any]) -> Callable[[], Any]:
    """Force what `work` makes."""

    def run_() -> Any:
        made = work()
        hr.eval(made)
        return made

    return run_


def same_values(ours: Any, theirs: Any) -> str:
    """Compare the first and the last thousand rows of one column or of each."""
    pairs = [(ours, theirs)]
    if hasattr(ours, "columns"):
        pairs = [(ours[name], theirs[name]) for name in ours.columns]
    for mine, other in pairs:
        other = other.to_arrow() if isinstance(other, pl.Series) else other
        assert len(mine) == len(other)
        for part in (slice(0, 1000), slice(max(len(other) - 1000, 0), len(other))):
            wanted = other[part] if isinstance(other, pa.Array) else other.slice(part.start, 1000)
            assert mine[part].to_list() == wanted.to_pylist()
    return "equal at both ends"


def steps(bench: Bench, rows: int) -> None:
    """Read a file, pick rows and fields, reduce and sort lists, group by structs."""
    pa.set_cpu_count(WORKERS)
    table = nested_table(rows)
    path = str(
        bench.file(
            f"nested-{rows}.parquet", lambda p: pq.write_table(table, p, row_group_size=250_000)
        )
    )
    size = Path(path).stat().st_size
    ours, theirs = hr.from_arrow(table), pl.from_arrow(table)
    hr.eval(ours)

    def step(name: str, mine: Callable[[], Any], rivals: list[Rival]) -> None:
        if bench.wants(f"nested {name}"):
            bench.step(f"nested {name}", evaluated(mine), rivals, same_values, size, rows)

    step(
        "read",
        lambda: hr.read_parquet(path),
        [
            Rival("polars", lambda: pl.read_parquet(path), BAR),
            Rival("pyarrow", lambda: pq.read_table(path), BAR),
        ],
    )
    few = pl.col("k") < 50
    step(
        "filter",
        lambda: ours[ours["k"] < 50],
        [
            Rival("polars", lambda: theirs.filter(few), BAR),
            Rival("pyarrow", lambda: table.filter(pc.less(table["k"], 50)), BAR),
        ],
    )
    step(
        "field of filtered",
        lambda: ours[ours["k"] < 50]["s"].struct.x,
        [Rival("polars", lambda: theirs.filter(few)["s"].struct.field("x"), BAR)],
    )
    step(
        "explode",
        lambda: ours["p"].explode(),
        [Rival("polars", lambda: theirs["p"].explode(empty_as_null=True), BAR)],
    )
    for word in ("sum", "max", "sort"):
        step(
            f"list {word}",
            lambda word=word: getattr(ours["l"].list, word)(),
            [Rival("polars", lambda word=word: getattr(theirs["l"].list, word)(), BAR)],
        )
    step(
        "group",
        lambda: ours.groupby("s")["k"].sum().sort_values().reset_index()[["k"]],
        [
            Rival(
                "polars",
                lambda: (
                    theirs.filter(pl.col("s").is_not_null())
                    .group_by("s")
                    .agg(pl.col("k").sum())
                    .sort("k")
                    .select("k")
                ),
                BAR,
            )
        ],
    )


if __name__ == "__main__":
    sys.exit(run("nested", __doc__, PACKAGES, steps))
