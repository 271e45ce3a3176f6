# SPDX-License-Identifier: Apache-2.0
"""`to_polars_lazy`: Polars' plans over ours."""

from pathlib import Path

import numpy as np
import pytest

import headrace as hr

pl = pytest.importorskip("polars")


@pytest.mark.parametrize("rows", [0, 1, 65, 2**17 + 1])
def test_polars_reads_a_plan(rows: int) -> None:
    frame = hr.DataFrame({"x": np.arange(rows), "y": np.arange(rows) / 3})
    frame["k"] = (frame.x % 5).astype("string")
    lazy = frame.to_polars_lazy()
    assert isinstance(lazy, pl.LazyFrame)
    theirs = pl.DataFrame(frame)
    assert lazy.collect_schema() == theirs.schema
    assert lazy.collect().equals(theirs)
    assert lazy.select("y").collect().equals(theirs.select("y"))
    assert (
        lazy.filter(pl.col("x") > 60)
        .select("k")
        .collect()
        .equals(theirs.filter(pl.col("x") > 60).select("k"))
    )
    assert lazy.head(7).collect().equals(theirs.head(7))
    sums = lazy.group_by("k").agg(pl.col("x").sum()).sort("k").collect()
    assert sums.equals(theirs.group_by("k").agg(pl.col("x").sum()).sort("k"))


def test_only_the_columns_that_are_asked_for_are_made(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n1,one\n2,two\n")
    frame = hr.scan_csv(path)
    frame["z"] = frame.x / frame.x
    assert frame.to_polars_lazy().select(pl.col("x").sum()).collect().item() == 3
    assert not frame.z._node.is_ready
