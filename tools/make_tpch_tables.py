#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes random tables like TPC-H's, with the columns of queries 1, 3 and 5: FOLDER CUSTOMERS.

Without arguments it makes testdata/tpch again. Nothing is taken from TPC-H's own generator, so the
answers are not those of the benchmark.
"""

from __future__ import annotations

import csv
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np

ORDERS, LINES = 10, 4  # for each customer, for each order
SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
NATIONS = {
    "AFRICA": ("ALGERIA", "ETHIOPIA", "KENYA", "MOROCCO", "MOZAMBIQUE"),
    "AMERICA": ("ARGENTINA", "BRAZIL", "CANADA", "PERU", "UNITED STATES"),
    "ASIA": ("CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"),
    "EUROPE": ("FRANCE", "GERMANY", "ROMANIA", "RUSSIA", "UNITED KINGDOM"),
    "MIDDLE EAST": ("EGYPT", "IRAN", "IRAQ", "JORDAN", "SAUDI ARABIA"),
}
FIRST, LAST, TODAY = date(1992, 1, 1), date(1998, 8, 2), date(1995, 6, 17)


def days(numbers: Any) -> list[date]:
    """Dates, from numbers of days since the first one."""
    return [FIRST + timedelta(days=number) for number in numbers.tolist()]


def cents(numbers: Any) -> list[str]:
    """Texts of decimals with two digits after the point."""
    return [f"{number // 100}.{number % 100:02}" for number in numbers.tolist()]


def tables(customers: int, seed: int) -> dict[str, dict[str, Any]]:
    """Make the columns of each table by name; a third of the lines is bought at home."""
    generator = np.random.default_rng(seed)
    orders, lines, suppliers = customers * ORDERS, customers * ORDERS * LINES, customers // 15 + 25
    names = [name for region in REGIONS for name in NATIONS[region]]
    home = generator.integers(25, size=customers)
    supplier_home = np.arange(suppliers) % 25
    buyer = generator.integers(customers, size=orders)
    ordered = generator.integers((LAST - FIRST).days + 1, size=orders)
    order = np.sort(generator.integers(orders, size=lines))
    shipped = ordered[order] + generator.integers(1, 122, size=lines)
    supplier = generator.integers(suppliers, size=lines)
    at_home = generator.integers(3, size=lines) == 0
    supplier[at_home] = home[buyer[order]][at_home]  # the first 25 suppliers are one of each nation
    is_back = shipped + generator.integers(1, 31, size=lines) <= (TODAY - FIRST).days
    quantity = generator.integers(1, 51, size=lines)
    return {
        "region": {"r_regionkey": range(5), "r_name": REGIONS},
        "nation": {
            "n_nationkey": range(25),
            "n_name": names,
            "n_regionkey": [place // 5 for place in range(25)],
        },
        "supplier": {"s_suppkey": range(1, suppliers + 1), "s_nationkey": supplier_home},
        "customer": {
            "c_custkey": range(1, customers + 1),
            "c_nationkey": home,
            "c_mktsegment": np.array(SEGMENTS)[generator.integers(5, size=customers)],
        },
        "orders": {
            "o_orderkey": np.arange(orders) * 4 + 1,  # with gaps, as there
            "o_custkey": buyer + 1,
            "o_orderdate": days(ordered),
            "o_shippriority": np.zeros(orders, "int64"),
        },
        "lineitem": {
            "l_orderkey": order * 4 + 1,
            "l_suppkey": supplier + 1,
            "l_quantity": cents(quantity * 100),
            "l_extendedprice": cents(quantity * generator.integers(90_000, 210_000, size=lines)),
            "l_discount": cents(generator.integers(11, size=lines)),
            "l_tax": cents(generator.integers(9, size=lines)),
            "l_returnflag": np.where(is_back, np.array(["A", "R"])[order % 2], "N"),
            "l_linestatus": np.where(shipped > (TODAY - FIRST).days, "O", "F"),
            "l_shipdate": days(shipped),
        },
    }


def write(folder: Path, customers: int, seed: int = 12) -> None:
    """Write each table as a CSV file."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, columns in tables(customers, seed).items():
        with (folder / f"{table}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values(), strict=True))


if __name__ == "__main__":
    ROOT = Path(__file__).resolve().parents[1]
    write(
        Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "testdata/tpch",
        int(sys.argv[2]) if len(sys.argv) > 2 else 30,
    )
