# SPDX-License-Identifier: Apache-2.0
"""Queries 1, 3 and 5 of TPC-H: python examples/frames/tpch.py [FOLDER]."""

import sys
from types import SimpleNamespace
from typing import Any

import headrace as hr

MONEY = "decimal128(15, 2)"
DECIMALS = ("l_quantity", "l_extendedprice", "l_discount", "l_tax")
TABLES = ("customer", "lineitem", "nation", "orders", "region", "supplier")


def read(folder: str) -> SimpleNamespace:
    """Read the tables; dates are found by themselves."""
    tables = {}
    for name in TABLES:
        dtypes = dict.fromkeys(DECIMALS, MONEY) if name == "lineitem" else None
        tables[name] = hr.read_csv(f"{folder}/{name}.csv", dtypes=dtypes)
    return SimpleNamespace(**tables)


def revenue(lines: hr.DataFrame) -> Any:
    """Price after discount."""
    return lines.l_extendedprice * (1 - lines.l_discount)


def q1(t: SimpleNamespace) -> hr.DataFrame:
    """Pricing summary."""
    lines = t.lineitem[t.lineitem.l_shipdate <= "1998-09-02"]
    lines["disc_price"] = revenue(lines)
    lines["charge"] = lines.disc_price * (1 + lines.l_tax)
    return lines.groupby(["l_returnflag", "l_linestatus"], as_index=False).agg(
        sum_qty=("l_quantity", "sum"),
        sum_base_price=("l_extendedprice", "sum"),
        sum_disc_price=("disc_price", "sum"),
        sum_charge=("charge", "sum"),
        avg_qty=("l_quantity", "mean"),
        avg_price=("l_extendedprice", "mean"),
        avg_disc=("l_discount", "mean"),
        count_order=("l_quantity", "size"),
    )


def q3(t: SimpleNamespace) -> hr.DataFrame:
    """Unshipped orders of the highest value."""
    customers = t.customer[t.customer.c_mktsegment == "BUILDING"]
    orders = t.orders[t.orders.o_orderdate < "1995-03-15"].merge(
        customers, left_on="o_custkey", right_on="c_custkey"
    )
    lines = t.lineitem[t.lineitem.l_shipdate > "1995-03-15"].merge(
        orders, left_on="l_orderkey", right_on="o_orderkey"
    )
    lines["revenue"] = revenue(lines)
    found = lines.groupby(["l_orderkey", "o_orderdate", "o_shippriority"], sort=False).agg(
        revenue=("revenue", "sum")
    )
    found = found.sort_values(["revenue", "o_orderdate"], ascending=[False, True]).head(10)
    found = found.reset_index()
    return found[["l_orderkey", "revenue", "o_orderdate", "o_shippriority"]]


def q5(t: SimpleNamespace) -> hr.DataFrame:
    """Revenue through local suppliers."""
    asia = t.region[t.region.r_name == "ASIA"]
    nations = t.nation.merge(asia, left_on="n_regionkey", right_on="r_regionkey")
    suppliers = t.supplier.merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    day = t.orders.o_orderdate
    orders = t.orders[(day >= "1994-01-01") & (day < "1995-01-01")].merge(
        t.customer, left_on="o_custkey", right_on="c_custkey"
    )
    lines = t.lineitem.merge(orders, left_on="l_orderkey", right_on="o_orderkey").merge(
        suppliers,
        left_on=["l_suppkey", "c_nationkey"],
        right_on=["s_suppkey", "s_nationkey"],
    )
    lines["revenue"] = revenue(lines)
    found = lines.groupby("n_name", as_index=False).agg(revenue=("revenue", "sum"))
    return found.sort_values("revenue", ascending=False)


if __name__ == "__main__":
    tables = read(*(sys.argv[1:] or ["testdata/tpch"]))
    for query in (q1, q3, q5):
        print(query.__name__, query(tables).to_string(index=False), sep="\n")
