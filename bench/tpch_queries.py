# SPDX-License-Identifier: Apache-2.0
"""The 22 queries of TPC-H in our frame API, as a pandas user writes them."""

from __future__ import annotations

from datetime import date
from typing import Any

import headrace as hr

Tables = Any  # a namespace with one frame for each table


def revenue(frame: Any) -> Any:
    """Price after discount."""
    return frame.l_extendedprice * (1 - frame.l_discount)


def q1(t: Tables) -> Any:
    """Pricing summary."""
    lines = t.lineitem[t.lineitem.l_shipdate <= date(1998, 9, 2)]
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


def q2(t: Tables) -> Any:
    """Cheapest suppliers of a part."""
    europe = t.region[t.region.r_name == "EUROPE"]
    nations = t.nation.merge(europe, left_on="n_regionkey", right_on="r_regionkey")
    suppliers = t.supplier.merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    parts = t.part[(t.part.p_size == 15) & t.part.p_type.str.endswith("BRASS")]
    offers = t.partsupp.merge(parts, left_on="ps_partkey", right_on="p_partkey").merge(
        suppliers, left_on="ps_suppkey", right_on="s_suppkey"
    )
    least = offers.groupby("p_partkey").ps_supplycost.transform("min")
    best = offers[offers.ps_supplycost == least].sort_values(
        ["s_acctbal", "n_name", "s_name", "p_partkey"], ascending=[False, True, True, True]
    )
    columns = ["s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone"]
    return best[[*columns, "s_comment"]].head(100)


def q3(t: Tables) -> Any:
    """Unshipped orders of the highest value."""
    day = date(1995, 3, 15)
    customers = t.customer[t.customer.c_mktsegment == "BUILDING"]
    orders = t.orders[t.orders.o_orderdate < day].merge(
        customers[["c_custkey"]], left_on="o_custkey", right_on="c_custkey"
    )
    lines = t.lineitem[t.lineitem.l_shipdate > day].merge(
        orders, left_on="l_orderkey", right_on="o_orderkey"
    )
    lines["revenue"] = revenue(lines)
    found = lines.groupby(
        ["l_orderkey", "o_orderdate", "o_shippriority"], sort=False, as_index=False
    ).agg(revenue=("revenue", "sum"))
    found = found.sort_values(["revenue", "o_orderdate"], ascending=[False, True]).head(10)
    return found[["l_orderkey", "revenue", "o_orderdate", "o_shippriority"]]


def q4(t: Tables) -> Any:
    """Orders with a late line, by priority."""
    orders = t.orders[
        t.orders.o_orderdate.between(date(1993, 7, 1), date(1993, 10, 1), inclusive="left")
    ]
    late = t.lineitem[t.lineitem.l_commitdate < t.lineitem.l_receiptdate]
    orders = orders[orders.o_orderkey.isin(late.l_orderkey)]
    return orders.groupby("o_orderpriority", as_index=False).agg(order_count=("o_orderkey", "size"))


def q5(t: Tables) -> Any:
    """Revenue through local suppliers."""
    asia = t.region[t.region.r_name == "ASIA"]
    nations = t.nation.merge(asia, left_on="n_regionkey", right_on="r_regionkey")
    suppliers = t.supplier.merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    orders = t.orders[
        t.orders.o_orderdate.between(date(1994, 1, 1), date(1995, 1, 1), inclusive="left")
    ].merge(t.customer, left_on="o_custkey", right_on="c_custkey")
    lines = t.lineitem.merge(orders, left_on="l_orderkey", right_on="o_orderkey").merge(
        suppliers,
        left_on=["l_suppkey", "c_nationkey"],
        right_on=["s_suppkey", "s_nationkey"],
    )
    lines["revenue"] = revenue(lines)
    found = lines.groupby("n_name", as_index=False).agg(revenue=("revenue", "sum"))
    return found.sort_values("revenue", ascending=False)


def q6(t: Tables) -> Any:
    """What smaller discounts would bring."""
    lines = t.lineitem[
        t.lineitem.l_shipdate.between(date(1994, 1, 1), date(1995, 1, 1), inclusive="left")
        & t.lineitem.l_discount.between(0.05, 0.07)
        & (t.lineitem.l_quantity < 24)
    ]
    return hr.DataFrame({"revenue": [(lines.l_extendedprice * lines.l_discount).sum().item()]})


def q7(t: Tables) -> Any:
    """Trade between two nations."""
    both = ["FRANCE", "GERMANY"]
    nations = t.nation[t.nation.n_name.isin(both)][["n_nationkey", "n_name"]]
    suppliers = t.supplier.merge(nations, left_on="s_nationkey", right_on="n_nationkey")
    customers = t.customer.merge(nations, left_on="c_nationkey", right_on="n_nationkey")
    orders = t.orders.merge(customers, left_on="o_custkey", right_on="c_custkey")
    lines = t.lineitem[t.lineitem.l_shipdate.between(date(1995, 1, 1), date(1996, 12, 31))]
    lines = lines.merge(
        suppliers[["s_suppkey", "n_name"]].rename(columns={"n_name": "supp_nation"}),
        left_on="l_suppkey",
        right_on="s_suppkey",
    ).merge(
        orders[["o_orderkey", "n_name"]].rename(columns={"n_name": "cust_nation"}),
        left_on="l_orderkey",
        right_on="o_orderkey",
    )
    lines = lines[lines.supp_nation != lines.cust_nation]
    lines["l_year"] = lines.l_shipdate.dt.year
    lines["revenue"] = revenue(lines)
    return lines.groupby(["supp_nation", "cust_nation", "l_year"], as_index=False).agg(
        revenue=("revenue", "sum")
    )


def q8(t: Tables) -> Any:
    """A nation's share of the market."""
    america = t.region[t.region.r_name == "AMERICA"]
    nations = t.nation.merge(america, left_on="n_regionkey", right_on="r_regionkey")
    customers = t.customer.merge(nations, left_on="c_nationkey", right_on="n_nationkey")
    orders = t.orders[t.orders.o_orderdate.between(date(1995, 1, 1), date(1996, 12, 31))].merge(
        customers[["c_custkey"]], left_on="o_custkey", right_on="c_custkey"
    )
    parts = t.part[t.part.p_type == "ECONOMY ANODIZED STEEL"]
    lines = (
        t.lineitem.merge(parts[["p_partkey"]], left_on="l_partkey", right_on="p_partkey")
        .merge(orders, left_on="l_orderkey", right_on="o_orderkey")
        .merge(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
        .merge(t.nation, left_on="s_nationkey", right_on="n_nationkey")
    )
    lines["o_year"] = lines.o_orderdate.dt.year
    lines["volume"] = revenue(lines)
    lines["brazil"] = lines.volume.where(lines.n_name == "BRAZIL", 0.0)
    found = lines.groupby("o_year", as_index=False).agg(
        brazil=("brazil", "sum"), volume=("volume", "sum")
    )
    found["mkt_share"] = found.brazil / found.volume
    return found[["o_year", "mkt_share"]]


def q9(t: Tables) -> Any:
    """Profit by nation and year."""
    parts = t.part[t.part.p_name.str.contains("green")]
    lines = (
        t.lineitem.merge(parts[["p_partkey"]], left_on="l_partkey", right_on="p_partkey")
        .merge(
            t.partsupp,
            left_on=["l_partkey", "l_suppkey"],
            right_on=["ps_partkey", "ps_suppkey"],
        )
        .merge(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
        .merge(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .merge(t.nation, left_on="s_nationkey", right_on="n_nationkey")
    )
    lines["o_year"] = lines.o_orderdate.dt.year
    lines["amount"] = revenue(lines) - lines.ps_supplycost * lines.l_quantity
    found = lines.groupby(["n_name", "o_year"], as_index=False).agg(sum_profit=("amount", "sum"))
    return found.sort_values(["n_name", "o_year"], ascending=[True, False])


def q10(t: Tables) -> Any:
    """Customers who sent back the most."""
    orders = t.orders[
        t.orders.o_orderdate.between(date(1993, 10, 1), date(1994, 1, 1), inclusive="left")
    ]
    lines = t.lineitem[t.lineitem.l_returnflag == "R"].merge(
        orders, left_on="l_orderkey", right_on="o_orderkey"
    )
    lines["revenue"] = revenue(lines)
    found = lines.groupby("o_custkey", sort=False, as_index=False).agg(revenue=("revenue", "sum"))
    found = (
        found.sort_values("revenue", ascending=False)
        .head(20)
        .merge(t.customer, left_on="o_custkey", right_on="c_custkey")
        .merge(t.nation, left_on="c_nationkey", right_on="n_nationkey")
    )
    columns = ["c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone"]
    return found[[*columns, "c_comment"]]


def q11(t: Tables) -> Any:
    """Stock that is worth the most."""
    germany = t.nation[t.nation.n_name == "GERMANY"]
    suppliers = t.supplier.merge(germany, left_on="s_nationkey", right_on="n_nationkey")
    stock = t.partsupp.merge(suppliers, left_on="ps_suppkey", right_on="s_suppkey")
    stock["value"] = stock.ps_supplycost * stock.ps_availqty
    least = stock.value.sum() * 0.0001  # of scale factor 1
    found = stock.groupby("ps_partkey", sort=False, as_index=False).agg(value=("value", "sum"))
    return found[found.value > least].sort_values("value", ascending=False)


def q12(t: Tables) -> Any:
    """Late lines by ship mode and priority."""
    lines = t.lineitem[
        t.lineitem.l_shipmode.isin(["MAIL", "SHIP"])
        & (t.lineitem.l_commitdate < t.lineitem.l_receiptdate)
        & (t.lineitem.l_shipdate < t.lineitem.l_commitdate)
        & t.lineitem.l_receiptdate.between(date(1994, 1, 1), date(1995, 1, 1), inclusive="left")
    ].merge(t.orders, left_on="l_orderkey", right_on="o_orderkey")
    lines["high"] = lines.o_orderpriority.isin(["1-URGENT", "2-HIGH"]).astype("int64")
    lines["low"] = 1 - lines.high
    return lines.groupby("l_shipmode", as_index=False).agg(
        high_line_count=("high", "sum"), low_line_count=("low", "sum")
    )


def q13(t: Tables) -> Any:
    """Customers by their number of orders."""
    orders = t.orders[~t.orders.o_comment.str.like("%special%requests%")]
    counts = t.customer.merge(
        orders, how="left", left_on="c_custkey", right_on="o_custkey"
    ).groupby("c_custkey", sort=False, as_index=False)
    found = counts.agg(c_count=("o_orderkey", "count"))
    found = found.groupby("c_count", as_index=False).agg(custdist=("c_custkey", "size"))
    return found.sort_values(["custdist", "c_count"], ascending=False)


def q14(t: Tables) -> Any:
    """The share of promoted parts."""
    lines = t.lineitem[
        t.lineitem.l_shipdate.between(date(1995, 9, 1), date(1995, 10, 1), inclusive="left")
    ].merge(t.part, left_on="l_partkey", right_on="p_partkey")
    value = revenue(lines)
    promoted = value.where(lines.p_type.str.startswith("PROMO"), 0.0).sum()
    return hr.DataFrame({"promo_revenue": [(promoted * 100 / value.sum()).item()]})


def q15(t: Tables) -> Any:
    """The top supplier."""
    lines = t.lineitem[
        t.lineitem.l_shipdate.between(date(1996, 1, 1), date(1996, 4, 1), inclusive="left")
    ]
    lines["revenue"] = revenue(lines)
    found = lines.groupby("l_suppkey", as_index=False).agg(total_revenue=("revenue", "sum"))
    best = found[found.total_revenue == found.total_revenue.max()]
    best = best.merge(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
    return best[["s_suppkey", "s_name", "s_address", "s_phone", "total_revenue"]]


def q16(t: Tables) -> Any:
    """Suppliers by what they can supply."""
    parts = t.part[
        (t.part.p_brand != "Brand#45")
        & ~t.part.p_type.str.startswith("MEDIUM POLISHED")
        & t.part.p_size.isin([49, 14, 23, 45, 19, 3, 36, 9])
    ]
    bad = t.supplier[t.supplier.s_comment.str.like("%Customer%Complaints%")]
    offers = t.partsupp[~t.partsupp.ps_suppkey.isin(bad.s_suppkey)].merge(
        parts, left_on="ps_partkey", right_on="p_partkey"
    )
    found = offers.groupby(["p_brand", "p_type", "p_size"], as_index=False).agg(
        supplier_cnt=("ps_suppkey", "nunique")
    )
    return found.sort_values(
        ["supplier_cnt", "p_brand", "p_type", "p_size"], ascending=[False, True, True, True]
    )


def q17(t: Tables) -> Any:
    """Revenue from small orders."""
    parts = t.part[(t.part.p_brand == "Brand#23") & (t.part.p_container == "MED BOX")]
    lines = t.lineitem[t.lineitem.l_partkey.isin(parts.p_partkey)]
    small = lines[lines.l_quantity < 0.2 * lines.groupby("l_partkey").l_quantity.transform("mean")]
    return hr.DataFrame({"avg_yearly": [(small.l_extendedprice.sum() / 7).item()]})


def q18(t: Tables) -> Any:
    """Customers of large orders."""
    sums = t.lineitem.groupby("l_orderkey", sort=False, as_index=False).agg(
        quantity=("l_quantity", "sum")
    )
    large = sums[sums.quantity > 300]
    orders = (
        t.orders.merge(large, left_on="o_orderkey", right_on="l_orderkey")
        .merge(t.customer, left_on="o_custkey", right_on="c_custkey")
        .sort_values(["o_totalprice", "o_orderdate"], ascending=[False, True])
    )
    columns = ["c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice", "quantity"]
    return orders[columns].head(100)


def q19(t: Tables) -> Any:
    """Discounted revenue of three kinds of parts."""
    lines = t.lineitem[
        t.lineitem.l_shipmode.isin(["AIR", "AIR REG"])
        & (t.lineitem.l_shipinstruct == "DELIVER IN PERSON")
    ].merge(t.part, left_on="l_partkey", right_on="p_partkey")

    def kind(brand: str, containers: list[str], low: int, most: int) -> Any:
        return (
            (lines.p_brand == brand)
            & lines.p_container.isin(containers)
            & lines.l_quantity.between(low, low + 10)
            & lines.p_size.between(1, most)
        )

    wanted = (
        kind("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
        | kind("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10)
        | kind("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15)
    )
    return hr.DataFrame({"revenue": [revenue(lines[wanted]).sum().item()]})


def q20(t: Tables) -> Any:
    """Suppliers with more of a part than they need."""
    forest = t.part[t.part.p_name.str.startswith("forest")]
    lines = t.lineitem[
        t.lineitem.l_shipdate.between(date(1994, 1, 1), date(1995, 1, 1), inclusive="left")
    ]
    sold = lines.groupby(["l_partkey", "l_suppkey"], sort=False, as_index=False).agg(
        sold=("l_quantity", "sum")
    )
    stock = t.partsupp[t.partsupp.ps_partkey.isin(forest.p_partkey)].merge(
        sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"]
    )
    stock = stock[stock.ps_availqty > 0.5 * stock.sold]
    canada = t.nation[t.nation.n_name == "CANADA"]
    suppliers = t.supplier[
        t.supplier.s_nationkey.isin(canada.n_nationkey)
        & t.supplier.s_suppkey.isin(stock.ps_suppkey)
    ]
    return suppliers[["s_name", "s_address"]].sort_values("s_name")


def q21(t: Tables) -> Any:
    """Suppliers who kept orders waiting."""
    late = t.lineitem[t.lineitem.l_receiptdate > t.lineitem.l_commitdate]
    saudi = t.nation[t.nation.n_name == "SAUDI ARABIA"]
    suppliers = t.supplier[t.supplier.s_nationkey.isin(saudi.n_nationkey)]
    failed = t.orders[t.orders.o_orderstatus == "F"]
    waiting = late[late.l_orderkey.isin(failed.o_orderkey)].merge(
        suppliers[["s_suppkey", "s_name"]], left_on="l_suppkey", right_on="s_suppkey"
    )
    lines = t.lineitem[t.lineitem.l_orderkey.isin(waiting.l_orderkey)]
    several = lines.groupby("l_orderkey", sort=False, as_index=False).agg(
        suppliers=("l_suppkey", "nunique")
    )
    several = several[several.suppliers > 1]
    late = lines[lines.l_receiptdate > lines.l_commitdate]
    blamed = late.groupby("l_orderkey", sort=False, as_index=False).agg(
        suppliers=("l_suppkey", "nunique")
    )
    blamed = blamed[blamed.suppliers == 1]
    waiting = waiting[
        waiting.l_orderkey.isin(several.l_orderkey) & waiting.l_orderkey.isin(blamed.l_orderkey)
    ]
    found = waiting.groupby("s_name", as_index=False).agg(numwait=("l_orderkey", "size"))
    return found.sort_values(["numwait", "s_name"], ascending=[False, True]).head(100)


def q22(t: Tables) -> Any:
    """Customers who might buy again."""
    customers = t.customer.assign(cntrycode=t.customer.c_phone.str[:2])
    customers = customers[customers.cntrycode.isin(["13", "31", "23", "29", "30", "18", "17"])]
    mean = customers[customers.c_acctbal > 0].c_acctbal.mean()
    rich = customers[(customers.c_acctbal > mean) & ~customers.c_custkey.isin(t.orders.o_custkey)]
    return rich.groupby("cntrycode", as_index=False).agg(
        numcust=("c_custkey", "size"), totacctbal=("c_acctbal", "sum")
    )


QUERIES = [q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11]
QUERIES += [q12, q13, q14, q15, q16, q17, q18, q19, q20, q21, q22]
