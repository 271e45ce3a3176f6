# SPDX-License-Identifier: Apache-2.0
"""cuDF's filter, sort, distinct rows and largest rows of CuPy arrays, to CuPy arrays."""

from __future__ import annotations

from typing import Any

import cudf_reader

if not cudf_reader.missing:
    import cupy as cp
    import pylibcudf as plc


def table_of(*arrays: Any) -> Any:
    """A table of cuDF over the memory of arrays."""
    return plc.Table([plc.Column.from_cuda_array_interface(each) for each in arrays])


def arrays_of(table: Any, *dtypes: str) -> list[Any]:
    """The columns of a table as arrays."""
    arrays = []
    for column, dtype in zip(table.columns(), dtypes, strict=True):
        data = column.data()
        memory = cp.cuda.UnownedMemory(data.ptr, data.size, column)
        arrays.append(cp.ndarray((column.size(),), dtype, cp.cuda.MemoryPointer(memory, 0)))
    return arrays


def filtered(table: Any, mask: Any) -> Any:
    """The rows where a bool column is true."""
    return plc.stream_compaction.apply_boolean_mask(table, mask.columns()[0])


def sorted_by(table: Any, key: Any) -> Any:
    """The rows in the order of a key, equal ones in theirs."""
    return plc.sorting.stable_sort_by_key(
        table, key, [plc.types.Order.ASCENDING], [plc.types.NullOrder.AFTER]
    )


def distinct(table: Any) -> Any:
    """The first row of each key in the first column, in the order of the rows."""
    return plc.stream_compaction.stable_distinct(
        table,
        [0],
        plc.stream_compaction.DuplicateKeepOption.KEEP_FIRST,
        plc.types.NullEquality.EQUAL,
        plc.types.NanEquality.ALL_EQUAL,
    )


def largest(table: Any, count: int) -> Any:
    """The largest values of the first column, in order."""
    order = plc.sorting.sort(
        plc.Table([plc.sorting.top_k(table.columns()[0], count)]),
        [plc.types.Order.DESCENDING],
        [plc.types.NullOrder.AFTER],
    )
    return order
