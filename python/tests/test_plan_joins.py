# SPDX-License-Identifier: Apache-2.0
"""Chains of joins: rows that a later join leaves out go before the first; the same rows and bits.

Run as a program for more: ``python test_plan_joins.py 10000 [seed]``.
"""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

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


def same(a: hr.DataFrame, b: hr.DataFrame) -> None:
    ours, theirs = a.to_arrow(), b.to_arrow()
    assert ours.schema == theirs.schema
    assert ours.equals(theirs)


def chain(t: dict[str, hr.DataFrame], look: bool) -> hr.DataFrame:
    """A chain as a pandas user writes it: what is selective comes last."""

    def seen(frame: hr.DataFrame) -> hr.DataFrame:
        if look:
            hr.eval(frame)
        return frame

    made = seen(t["lines"][t["lines"]["count"] > 5].merge(t["orders"], on="order"))
    made = seen(made.merge(t["customers"], on="customer"))
    made = seen(made.merge(t["nations"][t["nations"].region == 2], on="nation"))
    brands = t["parts"][t["parts"].brand.isin(["brand 3", "brand 4"])]
    return seen(made.merge(brands, on="part"))


def test_a_selective_join_at_the_end_leaves_rows_out_at_the_start() -> None:
    t = tables(1, 200_000)
    text = chain(t, False).explain()
    # Of lines, beside the filter, of orders and of customers.
    assert "keys of another join (where a mask is true)" in text
    assert text.count("keys of another join") == 3, text
    same(chain(t, False), chain(t, True))
    totals = [
        chain(t, look).groupby("region").agg(p=("price", "sum"), v=("price", "var")).to_dict()
        for look in (False, True)
    ]
    assert totals[0] == totals[1]
    for look, least, most in ((False, 0, 20_000), (True, 100_000, 200_000)):
        text = str(
            t["lines"].merge(t["orders"], on="order").explain(analyze=True)
            if look
            else chain(t, look).explain(analyze=True)
        )
        rows = re.findall(r"how=inner.*? ms, ([0-9,]+) rows", text)
        assert least <= max(int(each.replace(",", "")) for each in rows) <= most, text


def test_what_joins_do_not_leave_out_is_shared() -> None:
    t = tables(2)
    joined = t["lines"].merge(t["orders"], on="order").merge(t["parts"], on="part")
    assert "keys of another join" in joined.explain()
    ready = t["lines"].merge(t["orders"], on="order")
    hr.eval(ready)
    same(joined, ready.merge(t["parts"], on="part"))


def test_a_join_that_others_read_stays_whole() -> None:
    t = tables(3)
    middle = t["lines"].merge(t["orders"], on="order")
    few = t["parts"][t["parts"].brand == "brand 3"]
    last = middle.merge(few, on="part")
    total = middle.price.sum()
    hr.eval(last, total)
    ready = t["lines"].merge(t["orders"], on="order")
    hr.eval(ready)
    same(last, ready.merge(few, on="part"))
    assert total.item() == ready.price.sum().item()
    # One that ran for some columns keeps its rows.
    again = t["lines"].merge(t["orders"], on="order")
    assert again.price.sum().item() == total.item()
    assert "keys of another join" not in again.merge(few, on="part").explain()
    # And one that was told leaves them out for a later look only of what asked for it.
    told = t["lines"].merge(t["orders"], on="order")
    narrow = told.merge(few, on="part")
    assert len(narrow) == len(last)
    assert told.price.to_list() == ready.price.to_list()
    assert narrow.day.to_list() == last.day.to_list()
    # So does one with a column that is computed of its rows, and that the first look leaves out.
    wide = t["lines"].merge(t["orders"], on="order")
    narrow = wide.assign(more=wide.price * 2).merge(few, on="part")
    assert narrow.day.to_list() == last.day.to_list()
    assert narrow.more.to_list() == (last.price * 2).to_list()


def test_checks_and_joins_that_keep_rows_are_not_told() -> None:
    t = tables(4)
    few = t["parts"][t["parts"].brand == "brand 3"]
    lines = t["lines"].drop_duplicates(["order"])
    checked = lines.merge(t["orders"], on="order", validate="1:1").merge(few, on="part")
    assert "keys of another join" not in checked.explain()
    bad = t["lines"].merge(t["orders"], on="order", validate="1:1").merge(few, on="part")
    with pytest.raises(hr.InvalidArgumentError, match="validate"):
        hr.eval(bad)
    for how in ("left", "outer"):
        kept = t["lines"].merge(t["orders"], on="order").merge(few, on="part", how=how)
        assert "keys of another join" not in kept.explain()


#: Rows of a table with one key, about.
MOST = {"lines": 20, "orders": 10, "customers": 10}


def random_chain(rng: random.Random, t: dict[str, hr.DataFrame], look: bool) -> hr.DataFrame:
    """Some joins of some tables in some order, with filters between and at the ends."""

    def seen(frame: hr.DataFrame) -> hr.DataFrame:
        if look:
            hr.eval(frame)
        return frame

    def some(frame: hr.DataFrame) -> hr.DataFrame:
        kind = rng.randrange(6)
        names = [name for name in frame if frame[name].dtype in ("int64", "float64")]
        name = names[rng.randrange(len(names))]
        least = rng.choice([0, 1, 3, 20, 400])
        if kind == 0:
            return seen(frame[frame[name] >= least])
        if kind == 1:
            return seen(frame[frame[name] < least])
        if kind == 2:  # one column has all rows before others are asked for
            hr.eval(frame[name])
        if kind == 3:  # one more, which the first look at the result leaves out
            return seen(frame.assign(**{f"more_{rng.randrange(10**6)}": frame[name] * 2}))
        return frame

    made, growth = some(t[rng.choice(["lines", "lines", "orders"])]), 1
    for _ in range(rng.randrange(1, 5)):
        shared = [n for n in t if set(t[n]) & set(made) & {"order", "customer", "part", "nation"}]
        name = rng.choice(shared)
        growth *= MOST.get(name, 1)
        if growth > 100:
            break
        right = some(t[name])
        if rng.random() < 0.3:
            inner = [n for n in t if set(t[n]) & set(right) & {"customer", "nation", "part"}]
            if inner:
                other = some(t[rng.choice(inner)])
                own = [n for n in right if n in other][:1]
                right = seen(right.merge(other, on=own, suffixes=("", "_r")))
        on = [n for n in right if n in made and n in ("order", "customer", "part", "nation")]
        if not on:
            continue
        on = on[: rng.randrange(1, len(on) + 1)]
        how = rng.choice(["inner", "inner", "inner", "left", "semi", "anti", "right", "outer"])
        made = seen(made.merge(right, on=on, how=how, suffixes=("", f"_{rng.randrange(10**6)}")))
        made = some(made)
        if rng.random() < 0.2 and "price" in made:
            made = seen(made.sort_values("price"))
    if rng.random() < 0.3 and "part" in made and "price" in made:
        made = made.groupby("part", as_index=False).agg(p=("price", "sum"), n=("price", "size"))
    return made


def hold(seed: int) -> None:
    results = []
    for look in (False, True):
        rng = random.Random(seed)
        t = tables(seed % 7, rng.choice([50, 5000, 8000]))
        made = random_chain(rng, t, look)
        hr.eval(made[rng.choice(list(made))])
        results.append(made)
    same(results[0], results[1])


@pytest.mark.parametrize("begin", range(0, 200, 50))
def test_random_chains_are_the_same_as_step_by_step(begin: int) -> None:
    for seed in range(begin, begin + 50):
        hold(seed)


def test_threads_and_a_limit_change_nothing() -> None:
    t = tables(5, 400_000)
    results = []
    for count in (1, 2, 4):
        with hr.threads(count):
            results.append(chain(t, False).price.to_list())
    assert results[0] == results[1] == results[2]


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


@pytest.mark.parametrize("how", ["left", "inner"])
def test_groups_of_a_join_are_made_before_it(how: Any) -> None:
    t = tables(9)
    some = t["lines"][t["lines"].price < 0.9]
    counted = {
        "n": ("count", "count"),
        "total": ("count", "sum"),
        "least": ("count", "min"),
        "most": ("part", "max"),
        "prices": ("price", "count"),
    }
    if how == "inner":  # without a match a left row is one row
        counted["rows"] = ("count", "size")
    orders = t["orders"].head(2000)
    twice = hr.concat([orders, orders.head(700)])
    with_nulls = orders.assign(order=orders.order.where(orders.order % 5 > 0))
    for left in (orders, orders[orders.day > 900], twice, with_nulls):
        for by in (["order"], ["customer"], ["customer", "day"]):
            for sort in (True, False):

                def groups(
                    look: bool, left: Any = left, by: Any = by, sort: bool = sort
                ) -> hr.DataFrame:
                    joined = left.merge(some, on="order", how=how)
                    if look:
                        hr.eval(joined)
                    return joined.groupby(by, sort=sort, as_index=False, dropna=False).agg(
                        **counted
                    )

                assert "key 0" in groups(False).explain()
                assert "key 0" not in groups(True).explain()
                same(groups(False), groups(True))
                last = groups(False)
                assert last["n"].sum().item() == groups(True)["n"].sum().item()


def test_groups_that_do_not_merge_are_made_after_the_join() -> None:
    t = tables(10)
    orders = t["orders"].head(2000)
    for how, aggregates in {
        "left": {"rows": ("count", "size")},
        "inner": {"p": ("price", "sum"), "n": ("count", "count")},
        "right": {"n": ("count", "count")},
        "outer": {"n": ("count", "count")},
    }.items():
        joined = orders.merge(t["lines"], on="order", how=how)
        assert "key 0" not in joined.groupby("order").agg(**aggregates).explain(), how
    joined = orders.merge(t["lines"], on="order")
    # Values of the left side, keys of the right one, and rows that somebody else reads.
    assert "key 0" not in joined.groupby("order").agg(d=("day", "max")).explain()
    assert "key 0" not in joined.groupby("part").agg(n=("count", "sum")).explain()
    groups = joined.groupby("order", as_index=False).agg(n=("count", "sum"))
    total = joined.price.sum()
    hr.eval(groups, total)
    ready = orders.merge(t["lines"], on="order")
    hr.eval(ready)
    same(groups, ready.groupby("order", as_index=False).agg(n=("count", "sum")))
    assert total.item() == ready.price.sum().item()
    # Few right rows: most of them would be grouped for nothing.
    few = orders.merge(t["lines"].head(4000), on="order")
    assert "key 0" not in few.groupby("order").agg(n=("count", "sum")).explain()


@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("keys", [1, 3, 40_000])
@pytest.mark.parametrize("wide", [False, True])
def test_few_keys_among_many_rows(how: str, keys: int, wide: bool) -> None:
    rng = np.random.default_rng(keys)
    step = 1_000_003_000_000 if wide else 1
    many = pd.DataFrame({"k": rng.integers(0, 50_000, 300_001) * step, "x": np.arange(300_001)})
    few = pd.DataFrame({"k": rng.integers(0, 90_000, keys) * step, "y": np.arange(keys)})
    for right in (few, few.drop_duplicates("k")):
        got = hr.from_pandas(many).merge(hr.from_pandas(right), on="k", how=how).to_pandas()
        wanted = many.merge(right, on="k", how=how)
        pd.testing.assert_frame_equal(got, wanted, check_dtype=False)


def test_a_join_side_without_nulls_has_none() -> None:
    left = owned(hr.DataFrame({"k": [1, 2, 3], "x": [1.0, None, 3.0]}))
    right = owned(hr.DataFrame({"k": [2, 3], "y": [5.0, 6.0]}))
    both = left.merge(right, on="k", how="left")
    assert both.y.isna().to_list() == [True, False, False]
    inner = left[left.k > 1].merge(right, on="k")
    assert inner.sort_values("k", ascending=False).isna().sum().to_dict() == {
        "k": 0,
        "x": 1,
        "y": 0,
    }


if __name__ == "__main__":
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    for number in range(first, first + count):
        try:
            hold(number)
        except Exception:
            print("seed", number)
            raise
    print(count, "chains equal")


def test_columns_that_nobody_wants_do_not_stop_a_join_from_passing_its_keys() -> None:
    t = tables(1, 200_000)
    prices = chain(t, False)[["price"]]
    assert prices.explain().count("keys of another join") >= 2, prices.explain()
    made = chain(t, False)
    first, second = made.price.to_list(), made["count"].to_list()
    whole = chain(t, True)
    assert (first, second) == (whole.price.to_list(), whole["count"].to_list())
