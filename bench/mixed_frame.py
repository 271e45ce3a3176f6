# SPDX-License-Identifier: Apache-2.0
"""The frame that tasks read from files, and how the engines' copies of it are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

import headrace as hr


def mixed_frame(rows: int) -> pl.DataFrame:
    """Make the frame G1 of db-benchmark: three columns of text, five of integers, one of floats."""
    random = np.random.default_rng(108)
    few, many = 100, max(rows // 100, 1)
    text = pl.format
    columns = {"id4": few, "id5": few, "id6": many, "v1": 5, "v2": 15}
    frame = pl.DataFrame(
        {f"k{i}": random.integers(1, most + 1, rows) for i, most in enumerate((few, few, many))}
        | {name: random.integers(1, most + 1, rows) for name, most in columns.items()}
        | {"v3": random.random(rows) * 100}
    )
    wide = [pl.col(f"k{i}").cast(pl.String).str.zfill(10 if i == 2 else 3) for i in range(3)]
    return frame.select(
        *(text("id{}", digits).alias(f"id{i + 1}") for i, digits in enumerate(wide)),
        *columns,
        "v3",
    )


def column_of(frame: Any, name: str) -> pa.Array:
    """Give a column of any engine as Arrow: text as the same type."""
    column = frame[name]
    column = column.to_arrow() if isinstance(column, hr.Series | pl.Series) else pa.array(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    text = pa.types.is_string_view(column.type) or pa.types.is_large_string(column.type)
    return column.cast(pa.large_string()) if text or column.type == pa.string() else column


def same_frame(names: list[str]) -> Any:
    """Compare the columns; floats may differ in the last bit (pandas does not round correctly)."""

    def compare(ours: Any, theirs: Any) -> str:
        told = "equal"
        for name in names:
            a, b = column_of(ours, name), column_of(theirs, name)
            assert a.type == b.type, f"{name}: dtypes {a.type} and {b.type}"
            if a.equals(b):
                continue
            assert pa.types.is_floating(a.type), f"{name} differs"
            x, y = a.to_numpy(), b.to_numpy()
            np.testing.assert_array_max_ulp(x, y, 1)
            told = f"floats within 1 ulp, {np.mean(x != y):.1%} differ"
        return told

    return compare
