# SPDX-License-Identifier: Apache-2.0
"""cuDF's sums of groups of CuPy arrays and of strings, in any order."""

from __future__ import annotations

from typing import Any

import cudf_reader

if not cudf_reader.missing:
    import cupy as cp
    import pylibcudf


def array_of(column: Any, dtype: Any) -> Any:
    """Share a column."""
    data = column.data()
    memory = cp.cuda.UnownedMemory(data.ptr, data.size, column)
    return cp.ndarray((column.size(),), dtype, cp.cuda.MemoryPointer(memory, 0))


def sums_of_columns(keys: Any, values: Any) -> tuple[Any, Any]:
    """Keys and sums of their values, columns of cuDF."""
    groups = pylibcudf.groupby.GroupBy(pylibcudf.Table([keys]))
    request = pylibcudf.groupby.GroupByRequest(values, [pylibcudf.aggregation.sum()])
    found, results = groups.aggregate([request])
    return found.columns()[0], results[0].columns()[0]


def sums(keys: Any, values: Any) -> tuple[Any, Any]:
    """Keys and sums of their values."""
    columns = [pylibcudf.Column.from_cuda_array_interface(x) for x in (keys, values)]
    found, summed = sums_of_columns(*columns)
    return array_of(found, keys.dtype), array_of(summed, values.dtype)


def columns_of(keys: Any, values: Any) -> tuple[Any, Any]:
    """An Arrow array of strings and a CuPy array as columns of cuDF."""
    return (
        pylibcudf.Column.from_arrow(keys),
        pylibcudf.Column.from_cuda_array_interface(values),
    )
