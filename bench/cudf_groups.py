# SPDX-License-Identifier: Apache-2.0
"""cuDF's sums of groups of CuPy arrays, in any order."""

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


def sums(keys: Any, values: Any) -> tuple[Any, Any]:
    """Keys and sums of their values."""
    own, summed = (pylibcudf.Column.from_cuda_array_interface(x) for x in (keys, values))
    groups = pylibcudf.groupby.GroupBy(pylibcudf.Table([own]))
    request = pylibcudf.groupby.GroupByRequest(summed, [pylibcudf.aggregation.sum()])
    found, results = groups.aggregate([request])
    return (
        array_of(found.columns()[0], keys.dtype),
        array_of(results[0].columns()[0], values.dtype),
    )
