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


def with_offsets(frame: pl.DataFrame) -> pa.Table:
    """Give a frame as Arrow, strings in the layout that pyarrow writes by default."""
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())  # pyarrow casts views slowly
    large = pa.large_string()
    fields = [each.with_type(pa.string()) if each.type == large else each for each in table.schema]
    return table.cast(pa.schema(fields))


def column_of(frame: Any, name: str) -> pa.ChunkedArray:
    """Give a column of any engine as Arrow."""
    column = frame[name]
    if isinstance(column, pa.ChunkedArray):
        return column
    column = column.to_arrow() if isinstance(column, hr.Series | pl.Series) else pa.array(column)
    return column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])


def is_text(kind: pa.DataType) -> bool:
    """Whether values are strings, in any layout."""
    types = pa.types
    return types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)


def same_frame(names: list[str]) -> Any:
    """Compare the columns; floats may differ in the last bit (pandas does not round correctly)."""

    def compare(ours: Any, theirs: Any) -> str:
        told = "equal"
        for name in names:
            a, b = column_of(ours, name), column_of(theirs, name)
            if is_text(a.type) and is_text(b.type):  # as views, which Polars takes over
                assert pl.Series(a).equals(pl.Series(b), null_equal=True), f"{name} differs"
                continue
            assert a.type == b.type, f"{name}: dtypes {a.type} and {b.type}"
            if a.equals(b):
                continue
            assert pa.types.is_floating(a.type), f"{name} differs"
            x, y = a.to_numpy(), b.to_numpy()
            np.testing.assert_array_max_ulp(x, y, 1)
            told = f"floats within 1 ulp, {np.mean(x != y):.1%} differ"
        return told

    return compare
