# SPDX-License-Identifier: Apache-2.0
"""A context of queries as the database of a Mosaic dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame
    from headrace.sql.context import Context


class Connection:
    """What Mosaic's widget calls of a DuckDB connection; see `Context.mosaic`."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def query(self, sql: str) -> Relation:
        """The answer of a query, not yet computed."""
        return Relation(self._context.sql(sql))

    def execute(self, sql: str) -> Connection:
        """Run statements that make tables, views or schemas."""
        self._context.sql(sql)
        return self

    def register(self, name: str, frame: Any) -> Connection:
        """Name a frame, or an Arrow, pandas or Polars table."""
        self._context.register(name, frame)
        return self


class Relation:
    """A lazy answer, which becomes Arrow batches."""

    def __init__(self, frame: DataFrame) -> None:
        self._frame = frame

    def arrow(self) -> Any:
        """A `pyarrow.RecordBatchReader` on the frame's memory, read once."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_stream(self._frame)
