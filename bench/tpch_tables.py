# SPDX-License-Identifier: Apache-2.0
"""Writes tables of TPC-H or TPC-DS with DuckDB's generator, in a separate environment.

tpch_tables.py FOLDER SCALE [tpch or tpcds]
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import duckdb


def main(folder: Path, scale: float, suite: str = "tpch") -> None:
    """Shuffle rows and columns, so that no order helps; decimals become doubles."""
    folder.mkdir(parents=True)
    package = importlib.import_module(f"duckdb_extension_{suite}")
    (extension,) = Path(package.__file__ or "").parent.rglob(f"{suite}.duckdb_extension")
    connection = duckdb.connect()
    connection.execute(f"load '{extension}'")
    connection.execute(f"call {'dbgen' if suite == 'tpch' else 'dsdgen'}(sf={scale})")
    connection.execute("set threads=1")
    connection.execute("select setseed(0.25)")
    for (table,) in connection.execute("show tables").fetchall():
        columns = connection.execute(
            "select column_name, data_type from duckdb_columns() "
            "where table_name = $t order by md5(column_name)",
            {"t": table},
        ).fetchall()
        names = ", ".join(
            f"{name}::double as {name}" if kind.startswith("DECIMAL") else name
            for name, kind in columns
        )
        connection.execute(
            f"copy (select {names} from {table} order by random()) "
            f"to '{folder / table}.parquet' (format parquet)"
        )
    for name in ("answers", "queries") if suite == "tpch" else ("queries",):
        connection.execute(
            f"copy (from {suite}_{name}()) to '{folder / name}.parquet' (format parquet)"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:])
