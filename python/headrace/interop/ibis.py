# SPDX-License-Identifier: Apache-2.0
"""Ibis on our frames: its expressions become SQL, which `hr.sql.Context` plans.

Ibis finds the module by its entry point: ``ibis.headrace.connect({"t": frame})``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import ibis
import ibis.common.exceptions as exc
import ibis.expr.schema as sch
import pyarrow as pa
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler

from headrace import _core
from headrace.frame.columns import is_frame, new_frame
from headrace.sql.context import Context

if TYPE_CHECKING:
    import ibis.expr.operations as ops
    import ibis.expr.types as ir

    from headrace.frame.dataframe import DataFrame

__all__ = ["Backend"]


class Backend(SQLBackend):  # type: ignore[misc]
    """Frames as the tables of Ibis; results are computed by the engine, and lazy as ``to_frame``.

    Notes
    -----
    Expressions go through Ibis' SQL for DuckDB. What `hr.sql` does not have raises UnsupportedError
    with the word. Result columns have the dtypes that Ibis expects.
    """

    name: ClassVar[str] = "headrace"
    compiler: ClassVar[Any] = DuckDBCompiler()
    supports_temporary_tables: ClassVar[bool] = True

    @property
    def version(self) -> str:
        """The version of Headrace."""
        return str(_core.version)

    def do_connect(self, tables: Mapping[str, Any] | None = None) -> None:
        """Name frames, and what `hr.DataFrame` takes, as tables."""
        self._frames: dict[str, DataFrame] = {}
        #: Tables that Ibis made of values in expressions.
        self._unnamed: set[str] = set()
        self.con: Context = Context()
        for name, table in (tables or {}).items():
            self._add(name, table)

    def _add(self, name: str, table: Any) -> None:
        frame = table if is_frame(table) else new_frame(table)
        self._frames[name] = frame
        self.con.register(name, frame)

    def disconnect(self) -> None:
        """Forget all tables."""
        self.do_connect()

    # ---- tables ----------------------------------------------------------------------------------
    def list_tables(
        self, *, like: str | None = None, database: tuple[str, str] | str | None = None
    ) -> list[str]:
        """The names of the tables."""
        names = [name for name in self._frames if name not in self._unnamed]
        return [name for name in names if like is None or re.search(like, name)]

    def get_schema(
        self, name: str, *, catalog: str | None = None, database: str | None = None
    ) -> sch.Schema:
        """The columns of a table."""
        if name not in self._frames:
            raise exc.TableNotFound(name)
        return _schema_of(self._frames[name])

    def create_table(
        self,
        name: str,
        /,
        obj: Any = None,
        *,
        schema: Any = None,
        database: str | None = None,
        temp: bool = False,
        overwrite: bool = False,
    ) -> ir.Table:
        """Name a table: a frame, what `hr.DataFrame` takes, or the plan of an expression."""
        if name in self._frames and not overwrite:
            raise exc.IbisError(f"create_table: the table exists: name={name!r}; overwrite=True")
        if obj is None:
            obj = ibis.schema(schema).to_pyarrow().empty_table()
        elif isinstance(obj, ibis.expr.types.Expr):
            obj = self.to_frame(obj)
        self._add(name, obj)
        return self.table(name)

    def create_view(
        self,
        name: str,
        /,
        obj: ir.Table,
        *,
        database: str | None = None,
        overwrite: bool = False,
    ) -> ir.Table:
        """The same: plans are lazy."""
        return self.create_table(name, obj, overwrite=overwrite)

    def drop_table(
        self,
        name: str,
        /,
        *,
        database: tuple[str, str] | str | None = None,
        force: bool = False,
    ) -> None:
        """Forget a table."""
        if name not in self._frames:
            if force:
                return
            raise exc.TableNotFound(name)
        del self._frames[name]
        self._unnamed.discard(name)
        self.con.unregister(name)

    drop_view = drop_table

    def _register_in_memory_table(self, op: ops.InMemoryTable) -> None:
        self._add(op.name, op.data.to_pyarrow(op.schema))
        self._unnamed.add(op.name)

    def _finalize_memtable(self, name: str) -> None:
        self.drop_table(name, force=True)

    def _get_schema_using_query(self, query: str) -> sch.Schema:
        return _schema_of(self.con.sql(query))

    # ---- results ---------------------------------------------------------------------------------
    def to_frame(self, expr: ir.Expr, /, *, params: Any = None, limit: Any = None) -> DataFrame:
        """The result of an expression as a lazy frame."""
        self._run_pre_execute_hooks(expr)
        limit = None if limit == "default" else limit
        sql = self.compile(expr.as_table(), params=params, limit=limit)
        return self.con.sql(sql)

    def raw_sql(self, query: Any, **kwargs: Any) -> DataFrame:
        """A lazy frame of a query in DuckDB's dialect."""
        return self.con.sql(query if isinstance(query, str) else query.sql(self.dialect))

    def to_pyarrow(
        self, expr: ir.Expr, /, *, params: Any = None, limit: Any = None, **kwargs: Any
    ) -> Any:
        """See `ibis.expr.types.Expr.to_pyarrow`."""
        table = pa.table(self.to_frame(expr, params=params, limit=limit).reset_index(drop=True))
        wanted = expr.as_table().schema().to_pyarrow()
        return expr.__pyarrow_result__(table.rename_columns(wanted.names).cast(wanted))

    def to_pyarrow_batches(
        self,
        expr: ir.Expr,
        /,
        *,
        params: Any = None,
        limit: Any = None,
        chunk_size: int = 1_000_000,
        **kwargs: Any,
    ) -> pa.ipc.RecordBatchReader:
        """See `ibis.expr.types.Expr.to_pyarrow_batches`."""
        table = self.to_pyarrow(expr.as_table(), params=params, limit=limit)

        def batches() -> Iterator[pa.RecordBatch]:
            yield from table.to_batches(max_chunksize=chunk_size)

        return pa.ipc.RecordBatchReader.from_batches(table.schema, batches())

    def execute(
        self, expr: ir.Expr, /, *, params: Any = None, limit: Any = None, **kwargs: Any
    ) -> Any:
        """See `ibis.expr.types.Expr.execute`: pandas' objects."""
        from ibis.formats.pandas import PandasData

        table = expr.as_table()
        made = self.to_pyarrow(table, params=params, limit=limit).to_pandas(
            timestamp_as_object=False
        )
        return expr.__pandas_result__(PandasData.convert_table(made, table.schema()))


def _schema_of(frame: DataFrame) -> sch.Schema:
    capsule = frame.head(0).reset_index(drop=True)
    return sch.Schema.from_pyarrow(pa.table(capsule).schema)
