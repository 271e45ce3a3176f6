# SPDX-License-Identifier: Apache-2.0
"""cuDF's hash joins of CuPy arrays, with the values of the rows that they pair, in any order."""

from __future__ import annotations

from typing import Any

import cudf_reader

if not cudf_reader.missing:
    import cupy as cp
    import pylibcudf


def column_of(x: Any) -> Any:
    """Share an array."""
    return pylibcudf.Column.from_cuda_array_interface(x)


def array_of(column: Any, dtype: Any) -> Any:
    """Share a column."""
    data = column.data()
    memory = cp.cuda.UnownedMemory(data.ptr, data.size, column)
    return cp.ndarray((column.size(),), dtype, cp.cuda.MemoryPointer(memory, 0))


def rows_of(columns: list[Any], rows: Any, may_miss: bool) -> list[Any]:
    """Gather rows."""
    policy = pylibcudf.copying.OutOfBoundsPolicy
    how = policy.NULLIFY if may_miss else policy.DONT_CHECK
    return list(pylibcudf.copying.gather(pylibcudf.Table(columns), rows, how).columns())


def join(how: str, left: list[Any], right: list[Any]) -> list[Any]:
    """Join by the first array of each side: key, the left values, the right values."""
    ours, theirs = ([column_of(x) for x in side] for side in (left, right))
    sides = (pylibcudf.Table(ours[:1]), pylibcudf.Table(theirs[:1]))
    equal = pylibcudf.types.NullEquality.EQUAL
    if how == "semi":
        rows = pylibcudf.join.left_semi_join(*sides, equal)
        made = rows_of(ours, rows, False)
    else:
        work = pylibcudf.join.inner_join if how == "inner" else pylibcudf.join.left_join
        first, second = work(*sides, equal)
        made = rows_of(ours, first, False) + rows_of(theirs[1:], second, how != "inner")
    return [array_of(c, x.dtype) for c, x in zip(made, left + right[1:], strict=False)]
