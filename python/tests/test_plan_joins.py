# SPDX-License-Identifier: Apache-2.0
"""Joins and what is known of their keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import headrace as hr

ROWS = 20_000


def owned(frame: hr.DataFrame) -> hr.DataFrame:
    """The same rows in memory that nobody else may write to."""
    return hr.from_arrow(frame.to_arrow())


def tables(seed: int, rows: int = ROWS) -> dict[str, hr.DataFrame]:
    """Lines of orders of customers of nations, some without a partner, keys with nulls."""
    rng = np.random.default_rng(seed)

    def keys(most: int, size: int, missing: float = 0.01) -> hr.Series:
        column = hr.Series(rng.integers(0, most, size))
        return column.where(hr.Series(rng.random(size) >= missing))

    orders, customers, parts, nations = rows // 4, rows // 40, rows // 20, 25
    return {
        name: owned(hr.DataFrame(columns))
        for name, columns in {
            "lines": {
                "order": keys(orders + 50, rows),
                "part": keys(parts + 9, rows),
                "price": rng.random(rows),
                "count": rng.integers(1, 50, rows),
            },
            "orders": {
                "order": rng.permutation(orders),
                "customer": keys(customers + 5, orders),
                "day": rng.integers(0, 2500, orders),
            },
            "customers": {"customer": np.arange(customers), "nation": keys(nations, customers)},
            "parts": {
                "part": rng.permutation(parts),
                "brand": [f"brand {i}" for i in rng.integers(0, 25, parts)],
            },
            "nations": {"nation": np.arange(nations), "region": rng.integers(0, 5, nations)},
        }.items()
    }


# ---- what is known to be unique ------------------------------------------------------------------
def test_duplicates_that_cannot_be_are_not_looked_for() -> None:
    t = tables(6)
    groups = t["lines"].groupby(["order", "part"], as_index=False).agg(p=("price", "sum"))
    distinct = t["lines"].drop_duplicates(["order", "part"])

    def steps(frame: Any) -> str:
        return str(frame.explain())

    for frame in (groups, distinct):
        few = frame[frame.order > 5].sort_values("part")
        for made in (
            frame,
            frame[frame.order > 5],
            frame.sort_values("part"),
            few[few.part < 40],
            frame.merge(t["orders"].drop_duplicates("order"), on="order"),
            frame.merge(t["orders"], on="order", how="semi"),
        ):
            again = made.drop_duplicates(["part", "order"])
            assert steps(again) == steps(made)
            wanted = made.to_pandas().drop_duplicates(["part", "order"])
            assert again.order.to_list() == [
                None if pd.isna(v) else v for v in wanted.order.tolist()
            ]
            assert made.drop_duplicates("order").order.nunique(False).item() == len(
                made.drop_duplicates("order")
            )
            assert not made.duplicated(["order", "part"], keep=False).any().item()
    one = t["lines"].drop_duplicates("order").order
    assert one.is_unique
    assert one.nunique().item() == t["lines"].order.nunique().item()
    assert "groupby" not in steps(one[one > 3].nunique())


def test_rows_that_come_twice_are_not_taken_for_unique() -> None:
    t = tables(7)
    groups = t["lines"].groupby(["order", "part"], as_index=False).agg(p=("price", "sum"))
    left = groups.groupby("order", as_index=False).agg(n=("p", "size"))

    def distinct(frame: hr.DataFrame, keys: list[str]) -> None:
        ready = frame.to_pandas()
        assert len(frame.drop_duplicates(keys)) == len(ready.drop_duplicates(keys))

    distinct(groups, ["order"])
    distinct(groups, ["part"])
    distinct(left.merge(groups, on="order"), ["order"])  # each order with all its parts
    distinct(left.merge(groups, on="order"), ["order", "part"])
    distinct(groups.merge(left, on="order", how="outer"), ["order", "part"])
    few = groups[groups.part < 5]
    distinct(left.merge(few.drop_duplicates("order"), on="order", how="left"), ["part"])
    distinct(left.merge(few, on="order", how="right"), ["order"])
    # Rows of different places, put side by side.
    a, b = groups.head(100), groups[100:200]
    mixed = hr.DataFrame({"order": a.order.to_list(), "part": b.part.to_list()})
    distinct(mixed, ["order", "part"])
    taken = groups.order.to_array()[np.array([1, 1, 2])]
    assert hr.Series(taken).nunique().item() <= 2
    both = hr.concat([left, left])
    distinct(both, ["order"])


def test_a_check_of_known_keys_is_free() -> None:
    t = tables(8)
    groups = t["lines"].groupby("part", as_index=False).agg(p=("price", "sum"))
    joined = t["parts"].drop_duplicates("part").merge(groups, on="part", validate="1:1")
    some = joined[joined.brand == "brand 3"]
    assert "getitem [mask, before merge]" in some.explain()  # a check would read all rows
    ready = t["parts"].merge(groups, on="part")
    assert some.part.to_list() == ready[ready.brand == "brand 3"].part.to_list()
