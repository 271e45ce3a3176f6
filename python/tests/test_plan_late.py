# SPDX-License-Identifier: Apache-2.0
"""Late materialization: rows flow through filters and joins as numbers (docs/design/join.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import headrace as hr

ROWS = 40_000
KINDS = ["inner", "left", "right", "outer"]


def tables(seed: int) -> dict[str, pd.DataFrame]:
    """Lines of orders of customers: keys that match once, several times or never, and nulls."""
    draw = np.random.default_rng(seed)
    texts = np.array(["", "ab", "a string that is not inlined", None], dtype=object)
    return {
        "lines": pd.DataFrame(
            {
                "order": draw.integers(0, 9_000, ROWS),
                "price": draw.random(ROWS),
                "text": texts[draw.integers(0, 4, ROWS)],
                "whole": draw.random(ROWS) < 0.5,
            }
        ),
        "orders": pd.DataFrame(
            {
                "order_id": draw.permutation(8_000),
                "customer": draw.integers(0, 700, 8_000),
                "day": draw.integers(0, 100, 8_000).astype("int32"),
                "note": texts[draw.integers(0, 4, 8_000)],
            }
        ),
        "customers": pd.DataFrame(
            {
                "customer_id": draw.integers(0, 600, 500),
                "name": texts[draw.integers(0, 3, 500)],
                "balance": draw.normal(size=500),
            }
        ),
    }


def chain(t: dict[str, Any], first: str, second: str, least: float, days: int) -> Any:
    """Filters before, between and after two joins."""
    lines, orders, customers = t["lines"], t["orders"], t["customers"]
    found = lines[lines.price >= least].merge(
        orders[orders.day < days], how=first, left_on="order", right_on="order_id"
    )
    found = found[found.day != 3]
    return found.merge(
        customers[customers.balance > -1], how=second, left_on="customer", right_on="customer_id"
    )


def loaded(seed: int) -> dict[str, hr.DataFrame]:
    """As frames with nulls as Arrow has them."""
    frames = {
        name: hr.from_arrow(pa.Table.from_pandas(each, preserve_index=False))
        for name, each in tables(seed).items()
    }
    hr.eval(*frames.values())
    return frames


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize(("least", "days"), [(0.0, 100), (0.3, 90), (0.97, 20), (2.0, 5)])
def test_the_rows_are_those_of_columns_made_at_once(
    first: str, second: str, least: float, days: int
) -> None:
    """A memory limit turns it off."""
    frames = loaded(len(first) + len(second))
    late = chain(frames, first, second, least, days)
    names = ["price", "text", "whole", "day", "note", "name", "balance", "customer"]
    with hr.threads(2):
        got = late[names].to_arrow()
    with hr.threads(1), hr.memory.limit("4GB"):
        wanted = chain(frames, first, second, least, days)[names].to_arrow()
    assert got.equals(wanted)
    sums = late.groupby("name", sort=False).agg(p=("price", "sum"), d=("day", "max"))
    with hr.memory.limit("4GB"):
        again = chain(frames, first, second, least, days)
        wanted = again.groupby("name", sort=False).agg(p=("price", "sum"), d=("day", "max"))
        hr.eval(wanted)
    assert sums.to_arrow().equals(wanted.to_arrow())


def test_filters_and_joins_make_no_columns_between_them() -> None:
    frames = loaded(1)
    sums = chain(frames, "inner", "inner", 0.5, 50).groupby("name").agg(p=("price", "sum"))
    plan = sums.explain()
    assert "columns late" in plan
    made = [line for line in plan.splitlines() if " getitem " in line]
    # Keys are picked; what is aggregated is not.
    assert made and not any("of price" in line or "of name" in line for line in made), plan
    with hr.memory.limit("4GB"):
        assert "columns late" not in sums.explain()


def test_columns_that_were_late_can_be_read_later() -> None:
    frames = loaded(2)
    lines, orders = frames["lines"], frames["orders"]
    picked = lines[lines.price > 0.7]
    found = picked.merge(orders, left_on="order", right_on="order_id")
    last = found.merge(frames["customers"], left_on="customer", right_on="customer_id")
    first = last.balance.sum().item()
    assert picked.text.to_list() == [
        text
        for text, price in zip(lines.text.to_list(), lines.price.to_list(), strict=True)
        if price > 0.7
    ]
    assert len(found.note.to_list()) == len(found)
    assert last.balance.sum().item() == first
    assert (
        last[["price", "balance"]]
        .to_arrow()
        .equals(
            picked.merge(orders, left_on="order", right_on="order_id")
            .merge(frames["customers"], left_on="customer", right_on="customer_id")[
                ["price", "balance"]
            ]
            .to_arrow()
        )
    )


def test_an_error_on_the_way_leaves_the_plan_as_it_was() -> None:
    frames = loaded(3)
    last = chain(frames, "inner", "inner", 0.1, 90)
    unique = last.merge(frames["customers"], on="name", validate="1:1", suffixes=("", "_2"))
    with pytest.raises(hr.InvalidArgumentError, match="not unique"):
        hr.eval(unique)
    with hr.memory.limit("4GB"):
        wanted = chain(frames, "inner", "inner", 0.1, 90).to_arrow()
    assert last.to_arrow().equals(wanted)


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
@pytest.mark.parametrize("least", [0.0, 1.5, 99.0])
def test_groups_that_a_join_looks_up_need_no_order(how: str, least: float) -> None:
    """The join has the rows of its left side, and who reads the groups sees them as they were."""
    draw = np.random.default_rng(5)
    rows, keys = 300_000, 200_000
    source = hr.from_arrow(
        pa.table({"k": draw.integers(0, keys, rows) * 3, "x": draw.random(rows)})
    )
    left = hr.from_arrow(pa.table({"k": draw.integers(0, keys, 5_000) * 3}))
    hr.eval(source, left)

    def large() -> hr.DataFrame:
        sums = source.groupby("k", sort=False).agg(total=("x", "sum"), most=("x", "max"))
        return sums[sums.total > least]

    few = large()
    joined = left.merge(few, on="k", how=how)
    got = joined.to_arrow()
    seen = large()
    hr.eval(seen)  # in order
    assert got.equals(left.merge(seen, on="k", how=how).to_arrow())
    assert few.to_arrow().equals(seen.to_arrow())  # read after the join
    first = source.to_pandas().drop_duplicates("k").k
    assert (
        seen.reset_index().k.to_list() == first[first.isin(seen.reset_index().k.to_list())].tolist()
    )
    # The same where the groups are read in the same plan, or the other side is told the keys.
    third = large()
    both = left.merge(third, on="k", how=how)
    hr.eval(both, third)
    assert both.to_arrow().equals(got)
    assert third.to_arrow().equals(seen.to_arrow())
    chained = left.merge(left.drop_duplicates("k"), on="k").merge(large(), on="k", how=how)
    wanted = left.merge(left.drop_duplicates("k"), on="k").merge(seen, on="k", how=how)
    assert chained.to_arrow().equals(wanted.to_arrow())
