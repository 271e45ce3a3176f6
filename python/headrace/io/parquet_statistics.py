# SPDX-License-Identifier: Apache-2.0
"""Column statistics of a Parquet file by row group."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from headrace.time_units import PER_SECOND

_WORDS = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def bounds(file: Any, name: str) -> Any:
    """Minimum, maximum and null count by row group, null where unknown.

    For categories the bounds are strings. Missing or invalid statistics (NaN, values of another
    type than the column) give null.
    """
    import pyarrow as pa

    dtype = file.schema_arrow.field(name).type
    value = dtype.value_type if pa.types.is_dictionary(dtype) else dtype
    schema, leaf = file.metadata.schema, _leaf(file.metadata, name)
    groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
    found = [None if leaf is None else group.column(leaf).statistics for group in groups]
    nulls = [s.null_count if s is not None and s.has_null_count else None for s in found]
    none = pa.nulls(len(found), value)
    least, most = none, none
    if leaf is not None and (make := _maker(schema.column(leaf), value)) is not None:
        given = [s if s is not None and s.has_min_max else None for s in found]
        try:
            least, most = make(given, "min"), make(given, "max")
        except (pa.ArrowException, ValueError, OverflowError, TypeError):
            least, most = none, none
    return pa.table({"least": least, "most": most, "nulls": pa.array(nulls, pa.int64())})


def _leaf(metadata: Any, name: str) -> int | None:
    """The index of a column that is not nested."""
    schema = metadata.schema
    places = [c for c in range(metadata.num_columns) if schema.column(c).path == name]
    return places[0] if len(places) == 1 else None


def _maker(column: Any, value: Any) -> Callable[[list[Any], str], Any] | None:
    """A function that builds an array of "min" or "max" statistics; None for unordered types."""
    import pyarrow as pa

    kinds = pa.types
    if kinds.is_date32(value) or kinds.is_timestamp(value):
        if column.physical_type not in ("INT32", "INT64"):
            return None
        up, down = 1, 1
        if kinds.is_timestamp(value):
            unit = _WORDS.get(json.loads(column.logical_type.to_json()).get("timeUnit", ""))
            if unit is None:
                return None
            up, down = PER_SECOND[value.unit], PER_SECOND[unit]

        def counted(found: list[Any], word: str) -> Any:
            raw = [None if s is None else getattr(s, f"{word}_raw") for s in found]
            whole = [None if r is None else r * up // down for r in raw]
            width = pa.int32() if kinds.is_date32(value) else pa.int64()
            return pa.array(whole, width).view(value)

        return counted
    plain = (
        kinds.is_boolean(value)
        or kinds.is_integer(value)
        or kinds.is_floating(value)
        or kinds.is_string(value)
        or kinds.is_large_string(value)
        or kinds.is_decimal128(value)
    )

    def valued(found: list[Any], word: str) -> Any:
        # If one bound is NaN, the other is meaningless too.
        sane = [s if s is not None and s.min == s.min and s.max == s.max else None for s in found]
        return pa.array([None if s is None else getattr(s, word) for s in sane], value)

    return valued if plain else None
