# SPDX-License-Identifier: Apache-2.0
"""Queries 1, 3 and 5 of TPC-H as the example writes them, against DuckDB on random tables."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
QUERIES = {
    "q1": """
        select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty,
            sum(l_extendedprice) as sum_base_price,
            sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
            sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
            avg(l_quantity) as avg_qty, avg(l_extendedprice) as avg_price,
            avg(l_discount) as avg_disc, count(*) as count_order
        from lineitem where l_shipdate <= date '1998-12-01' - interval 90 day
        group by l_returnflag, l_linestatus order by l_returnflag, l_linestatus""",
    "q3": """
        select l_orderkey, sum(l_extendedprice * (1 - l_discount)) as revenue, o_orderdate,
            o_shippriority
        from customer, orders, lineitem
        where c_mktsegment = 'BUILDING' and c_custkey = o_custkey and l_orderkey = o_orderkey
            and o_orderdate < date '1995-03-15' and l_shipdate > date '1995-03-15'
        group by l_orderkey, o_orderdate, o_shippriority
        order by revenue desc, o_orderdate limit 10""",
    "q5": """
        select n_name, sum(l_extendedprice * (1 - l_discount)) as revenue
        from customer, orders, lineitem, supplier, nation, region
        where c_custkey = o_custkey and l_orderkey = o_orderkey and l_suppkey = s_suppkey
            and c_nationkey = s_nationkey and s_nationkey = n_nationkey
            and n_regionkey = r_regionkey and r_name = 'ASIA'
            and o_orderdate >= date '1994-01-01' and o_orderdate < date '1995-01-01'
        group by n_name order by revenue desc""",
}


def module(path: str) -> ModuleType:
    """A program of the repository, imported by its path."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


EXAMPLE, MAKER = module("examples/frames/tpch.py"), module("tools/make_tpch_tables.py")


def answers(folder: Path, query: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Names and rows that DuckDB finds in the same files."""
    decimals = dict.fromkeys(EXAMPLE.DECIMALS, "decimal(15, 2)")
    with duckdb.connect() as connection:
        for name in EXAMPLE.TABLES:
            types = f", types={decimals}" if name == "lineitem" else ""
            file = f"read_csv('{folder / name}.csv'{types})"
            connection.execute(f"create table {name} as from {file}")
        result = connection.execute(QUERIES[query])
        return [column[0] for column in result.description], result.fetchall()


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize(("customers", "seed"), [(2, 1), (100, 2), (2000, 3)])
def test_the_example_agrees_with_duckdb(
    tmp_path: Path, query: str, customers: int, seed: int
) -> None:
    MAKER.write(tmp_path, customers, seed)
    table = getattr(EXAMPLE, query)(EXAMPLE.read(str(tmp_path)))
    found = (table.reset_index() if table._labels else table).to_dict()
    names, rows = answers(tmp_path, query)
    assert rows or customers < 100
    assert list(found) == names
    for place, name in enumerate(names):
        expected = [row[place] for row in rows]
        if name.startswith("avg"):
            expected = pytest.approx(expected, rel=1e-14)
        assert found[name] == expected


def test_the_tables_of_the_example_are_made_again(tmp_path: Path) -> None:
    MAKER.write(tmp_path, 30)
    for table in EXAMPLE.TABLES:
        name = f"{table}.csv"
        assert (tmp_path / name).read_text() == (ROOT / "testdata/tpch" / name).read_text()
