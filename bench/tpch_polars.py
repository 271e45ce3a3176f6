# SPDX-License-Identifier: Apache-2.0
"""The 22 queries of TPC-H in Polars' lazy frames, written for speed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import polars as pl
from polars import col

Tables = Any  # a namespace with one lazy frame for each table

REVENUE = col("l_extendedprice") * (1 - col("l_discount"))
LATE = col("l_commitdate") < col("l_receiptdate")


def within(name: str, first: date, after: date) -> pl.Expr:
    """Dates from the first day to the one before the last."""
    return col(name).is_between(first, after, closed="left")


def one_of(name: str, *words: str) -> pl.Expr:
    """One of a few strings; `is_in` takes twice the time for strings."""
    return pl.any_horizontal(col(name) == word for word in words)


def nations_of(t: Tables, region: str) -> pl.LazyFrame:
    """Nations of one region."""
    regions = t.region.filter(col("r_name") == region)
    return t.nation.join(regions, left_on="n_regionkey", right_on="r_regionkey", how="semi")


def suppliers_of(t: Tables, nation: str) -> pl.LazyFrame:
    """Suppliers of one nation."""
    nations = t.nation.filter(col("n_name") == nation)
    return t.supplier.join(nations, left_on="s_nationkey", right_on="n_nationkey", how="semi")


def q1(t: Tables) -> pl.LazyFrame:
    """Pricing summary."""
    return (
        t.lineitem.filter(col("l_shipdate") <= date(1998, 9, 2))
        .with_columns(disc_price=REVENUE)
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            sum_qty=col("l_quantity").sum(),
            sum_base_price=col("l_extendedprice").sum(),
            sum_disc_price=col("disc_price").sum(),
            sum_charge=(col("disc_price") * (1 + col("l_tax"))).sum(),
            avg_qty=col("l_quantity").mean(),
            avg_price=col("l_extendedprice").mean(),
            avg_disc=col("l_discount").mean(),
            count_order=pl.len(),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def q2(t: Tables) -> pl.LazyFrame:
    """Cheapest suppliers of a part."""
    suppliers = t.supplier.join(
        nations_of(t, "EUROPE"), left_on="s_nationkey", right_on="n_nationkey"
    )
    parts = t.part.filter(col("p_size") == 15, col("p_type").str.ends_with("BRASS"))
    return (
        t.partsupp.join(parts, left_on="ps_partkey", right_on="p_partkey", coalesce=False)
        .join(suppliers, left_on="ps_suppkey", right_on="s_suppkey")
        .filter(col("ps_supplycost") == col("ps_supplycost").min().over("p_partkey"))
        .select(
            "s_acctbal",
            "s_name",
            "n_name",
            "p_partkey",
            "p_mfgr",
            "s_address",
            "s_phone",
            "s_comment",
        )
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
    )


def q3(t: Tables) -> pl.LazyFrame:
    """Unshipped orders of the highest value."""
    day = date(1995, 3, 15)
    customers = t.customer.filter(col("c_mktsegment") == "BUILDING")
    orders = t.orders.filter(col("o_orderdate") < day).join(
        customers, left_on="o_custkey", right_on="c_custkey", how="semi"
    )
    return (
        t.lineitem.filter(col("l_shipdate") > day)
        .join(orders, left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_orderkey", "o_orderdate", "o_shippriority")
        .agg(revenue=REVENUE.sum())
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
    )


def q4(t: Tables) -> pl.LazyFrame:
    """Orders with a late line, by priority."""
    return (
        t.orders.filter(within("o_orderdate", date(1993, 7, 1), date(1993, 10, 1)))
        .join(t.lineitem.filter(LATE), left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(order_count=pl.len())
        .sort("o_orderpriority")
    )


def q5(t: Tables) -> pl.LazyFrame:
    """Revenue through local suppliers."""
    nations = nations_of(t, "ASIA")
    customers = t.customer.join(nations, left_on="c_nationkey", right_on="n_nationkey", how="semi")
    orders = t.orders.filter(within("o_orderdate", date(1994, 1, 1), date(1995, 1, 1))).join(
        customers, left_on="o_custkey", right_on="c_custkey"
    )
    suppliers = t.supplier.join(nations, left_on="s_nationkey", right_on="n_nationkey", how="semi")
    return (
        t.lineitem.join(orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(suppliers, left_on="l_suppkey", right_on="s_suppkey")
        .filter(col("c_nationkey") == col("s_nationkey"))
        .group_by("c_nationkey")
        .agg(revenue=REVENUE.sum())
        .join(nations, left_on="c_nationkey", right_on="n_nationkey")
        .select("n_name", "revenue")
        .sort("revenue", descending=True)
    )


def q6(t: Tables) -> pl.LazyFrame:
    """What smaller discounts would bring."""
    return t.lineitem.filter(
        within("l_shipdate", date(1994, 1, 1), date(1995, 1, 1)),
        col("l_discount").is_between(0.05, 0.07),
        col("l_quantity") < 24,
    ).select(revenue=(col("l_extendedprice") * col("l_discount")).sum())


def q7(t: Tables) -> pl.LazyFrame:
    """Trade between two nations."""
    nations = t.nation.filter(col("n_name").is_in(["FRANCE", "GERMANY"]))
    suppliers = t.supplier.join(nations, left_on="s_nationkey", right_on="n_nationkey").select(
        "s_suppkey", supp_nation="n_name"
    )
    customers = t.customer.join(nations, left_on="c_nationkey", right_on="n_nationkey").select(
        "c_custkey", cust_nation="n_name"
    )
    orders = t.orders.join(customers, left_on="o_custkey", right_on="c_custkey")
    return (
        t.lineitem.filter(col("l_shipdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
        .join(suppliers, left_on="l_suppkey", right_on="s_suppkey")
        .join(orders, left_on="l_orderkey", right_on="o_orderkey")
        .filter(col("supp_nation") != col("cust_nation"))
        .group_by("supp_nation", "cust_nation", l_year=col("l_shipdate").dt.year())
        .agg(revenue=REVENUE.sum())
        .sort("supp_nation", "cust_nation", "l_year")
    )


def q8(t: Tables) -> pl.LazyFrame:
    """A nation's share of the market."""
    customers = t.customer.join(
        nations_of(t, "AMERICA"), left_on="c_nationkey", right_on="n_nationkey", how="semi"
    )
    parts = t.part.filter(col("p_type") == "ECONOMY ANODIZED STEEL")
    lines = t.lineitem.join(parts, left_on="l_partkey", right_on="p_partkey", how="semi")
    suppliers = t.supplier.join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
    return (
        t.orders.filter(col("o_orderdate").is_between(date(1995, 1, 1), date(1996, 12, 31)))
        .join(lines, left_on="o_orderkey", right_on="l_orderkey")
        .join(customers, left_on="o_custkey", right_on="c_custkey", how="semi")
        .join(suppliers, left_on="l_suppkey", right_on="s_suppkey")
        .select("n_name", o_year=col("o_orderdate").dt.year(), volume=REVENUE)
        .group_by("o_year")
        .agg(
            mkt_share=pl.when(col("n_name") == "BRAZIL").then("volume").otherwise(0.0).sum()
            / col("volume").sum()
        )
        .sort("o_year")
    )


def q9(t: Tables) -> pl.LazyFrame:
    """Profit by nation and year."""
    parts = t.part.filter(col("p_name").str.contains("green", literal=True))
    offers = t.partsupp.join(parts, left_on="ps_partkey", right_on="p_partkey", how="semi")
    return (
        t.lineitem.join(
            offers, left_on=["l_partkey", "l_suppkey"], right_on=["ps_partkey", "ps_suppkey"]
        )
        .join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
        .group_by("s_nationkey", o_year=col("o_orderdate").dt.year())
        .agg(sum_profit=(REVENUE - col("ps_supplycost") * col("l_quantity")).sum())
        .join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .select("n_name", "o_year", "sum_profit")
        .sort("n_name", "o_year", descending=[False, True])
    )


def q10(t: Tables) -> pl.LazyFrame:
    """Customers who sent back the most."""
    orders = t.orders.filter(within("o_orderdate", date(1993, 10, 1), date(1994, 1, 1)))
    return (
        t.lineitem.filter(col("l_returnflag") == "R")
        .join(orders, left_on="l_orderkey", right_on="o_orderkey")
        .group_by("o_custkey")
        .agg(revenue=REVENUE.sum())
        .top_k(20, by="revenue")
        .join(t.customer, left_on="o_custkey", right_on="c_custkey", coalesce=False)
        .join(t.nation, left_on="c_nationkey", right_on="n_nationkey")
        .select(
            "c_custkey",
            "c_name",
            "revenue",
            "c_acctbal",
            "n_name",
            "c_address",
            "c_phone",
            "c_comment",
        )
        .sort("revenue", descending=True)
    )


def q11(t: Tables) -> pl.LazyFrame:
    """Stock that is worth the most."""
    return (
        t.partsupp.join(
            suppliers_of(t, "GERMANY"), left_on="ps_suppkey", right_on="s_suppkey", how="semi"
        )
        .group_by("ps_partkey")
        .agg(value=(col("ps_supplycost") * col("ps_availqty")).sum())
        .filter(col("value") > col("value").sum() * 0.0001)  # of scale factor 1
        .sort("value", descending=True)
    )


def q12(t: Tables) -> pl.LazyFrame:
    """Late lines by ship mode and priority."""
    lines = t.lineitem.filter(
        within("l_receiptdate", date(1994, 1, 1), date(1995, 1, 1)),
        LATE,
        col("l_shipdate") < col("l_commitdate"),
        one_of("l_shipmode", "MAIL", "SHIP"),
    )
    high = col("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        lines.join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .group_by("l_shipmode")
        .agg(high_line_count=high.sum(), low_line_count=(~high).sum())
        .sort("l_shipmode")
    )


def q13(t: Tables) -> pl.LazyFrame:
    """Customers by their number of orders."""
    counts = (
        t.orders.filter(~col("o_comment").str.contains("special.*requests"))
        .group_by("o_custkey")
        .agg(c_count=pl.len())
    )
    return (
        t.customer.join(counts, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by(col("c_count").fill_null(0))
        .agg(custdist=pl.len())
        .sort("custdist", "c_count", descending=True)
    )


def q14(t: Tables) -> pl.LazyFrame:
    """The share of promoted parts."""
    lines = t.lineitem.filter(within("l_shipdate", date(1995, 9, 1), date(1995, 10, 1)))
    promoted = pl.when(col("p_type").str.starts_with("PROMO")).then("value").otherwise(0.0)
    return (
        t.part.join(lines, left_on="p_partkey", right_on="l_partkey")
        .select("p_type", value=REVENUE)
        .select(promo_revenue=100 * promoted.sum() / col("value").sum())
    )


def q15(t: Tables) -> pl.LazyFrame:
    """The top supplier."""
    best = (
        t.lineitem.filter(within("l_shipdate", date(1996, 1, 1), date(1996, 4, 1)))
        .group_by("l_suppkey")
        .agg(total_revenue=REVENUE.sum())
        .filter(col("total_revenue") == col("total_revenue").max())
    )
    return (
        t.supplier.join(best, left_on="s_suppkey", right_on="l_suppkey")
        .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
        .sort("s_suppkey")
    )


def q16(t: Tables) -> pl.LazyFrame:
    """Suppliers by what they can supply."""
    parts = t.part.filter(
        col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]),
        col("p_brand") != "Brand#45",
        ~col("p_type").str.starts_with("MEDIUM POLISHED"),
    )
    bad = t.supplier.filter(col("s_comment").str.contains("Customer.*Complaints"))
    return (
        t.partsupp.join(parts, left_on="ps_partkey", right_on="p_partkey")
        .join(bad, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by("p_brand", "p_type", "p_size")
        .agg(supplier_cnt=col("ps_suppkey").n_unique())
        .sort(
            "supplier_cnt",
            "p_brand",
            "p_type",
            "p_size",
            descending=[True, False, False, False],
        )
    )


def q17(t: Tables) -> pl.LazyFrame:
    """Revenue from small orders."""
    parts = t.part.filter(col("p_brand") == "Brand#23", col("p_container") == "MED BOX")
    return (
        t.lineitem.join(parts, left_on="l_partkey", right_on="p_partkey", how="semi")
        .filter(col("l_quantity") < 0.2 * col("l_quantity").mean().over("l_partkey"))
        .select(avg_yearly=col("l_extendedprice").sum() / 7)
    )


def q18(t: Tables) -> pl.LazyFrame:
    """Customers of large orders."""
    large = (
        t.lineitem.group_by("l_orderkey")
        .agg(quantity=col("l_quantity").sum())
        .filter(col("quantity") > 300)
    )
    orders = t.orders.join(large, left_on="o_orderkey", right_on="l_orderkey")
    return (
        t.customer.join(orders, left_on="c_custkey", right_on="o_custkey")
        .select("c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "quantity")
        .sort("o_totalprice", "o_orderdate", descending=[True, False])
        .head(100)
    )


def q19(t: Tables) -> pl.LazyFrame:
    """Discounted revenue of three kinds of parts."""
    kinds = [
        ("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5),
        ("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10),
        ("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15),
    ]
    least = pl.coalesce(
        pl.when(
            col("p_brand") == brand,
            col("p_container").is_in(containers),
            col("p_size").is_between(1, most),
        ).then(low)
        for brand, containers, low, most in kinds
    )
    parts = t.part.select("p_partkey", least=least).filter(col("least").is_not_null())
    lines = t.lineitem.filter(
        col("l_shipinstruct") == "DELIVER IN PERSON",
        one_of("l_shipmode", "AIR", "AIR REG"),
        col("l_quantity").is_between(1, 30),
    )
    return (
        lines.join(parts, left_on="l_partkey", right_on="p_partkey")
        .filter(col("l_quantity").is_between(col("least"), col("least") + 10))
        .select(revenue=REVENUE.sum())
    )


def q20(t: Tables) -> pl.LazyFrame:
    """Suppliers with more of a part than they need."""
    forest = t.part.filter(col("p_name").str.starts_with("forest"))
    sold = (
        t.lineitem.filter(within("l_shipdate", date(1994, 1, 1), date(1995, 1, 1)))
        .join(forest, left_on="l_partkey", right_on="p_partkey", how="semi")
        .group_by("l_partkey", "l_suppkey")
        .agg(sold=col("l_quantity").sum())
    )
    stock = (
        t.partsupp.join(forest, left_on="ps_partkey", right_on="p_partkey", how="semi")
        .join(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
        .filter(col("ps_availqty") > 0.5 * col("sold"))
    )
    return (
        suppliers_of(t, "CANADA")
        .join(stock, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
        .select("s_name", "s_address")
        .sort("s_name")
    )


def q21(t: Tables) -> pl.LazyFrame:
    """Suppliers who kept orders waiting."""
    failed = t.orders.filter(col("o_orderstatus") == "F")
    waiting = (
        t.lineitem.filter(LATE)
        .join(suppliers_of(t, "SAUDI ARABIA"), left_on="l_suppkey", right_on="s_suppkey")
        .join(failed, left_on="l_orderkey", right_on="o_orderkey", how="semi")
        .select("l_orderkey", "s_name")
    )
    supplier, blamed = col("l_suppkey"), pl.when(LATE).then("l_suppkey")
    alone = (
        t.lineitem.join(waiting, on="l_orderkey", how="semi")
        .group_by("l_orderkey")
        .agg(
            several=supplier.min() != supplier.max(),
            one_late=blamed.min() == blamed.max(),
        )
        .filter("several", "one_late")
    )
    return (
        waiting.join(alone, on="l_orderkey", how="semi")
        .group_by("s_name")
        .agg(numwait=pl.len())
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def q22(t: Tables) -> pl.LazyFrame:
    """Customers who might buy again."""
    balance = col("c_acctbal")
    return (
        t.customer.select("c_custkey", "c_acctbal", cntrycode=col("c_phone").str.head(2))
        .filter(one_of("cntrycode", "13", "31", "23", "29", "30", "18", "17"))
        .filter(balance > balance.filter(balance > 0).mean())
        .join(t.orders, left_on="c_custkey", right_on="o_custkey", how="anti")
        .group_by("cntrycode")
        .agg(numcust=pl.len(), totacctbal=balance.sum())
        .sort("cntrycode")
    )


QUERIES: list[Callable[[Tables], pl.LazyFrame]] = [q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11]
QUERIES += [q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22]
