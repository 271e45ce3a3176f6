# SPDX-License-Identifier: Apache-2.0
"""Decimals: quotients, rests, powers, running results, windows, frames, keys beside others."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_frame_decimals import PRICES, ROWS, WIDE, prices

import headrace as hr

TOP = Decimal(10**38 - 1)
MORE = 3 * 2**17 + 5


def floor_of(a: Decimal, b: Decimal) -> Decimal:
    return Decimal(math.floor(Fraction(a) / Fraction(b)))


@given(ROWS, st.sampled_from(["column", "decimal", "turned", "int", "finer"]))
def test_quotients_rounded_down_and_their_rests(rows: list[Any], form: str) -> None:
    left = [a for a, _ in rows]
    right = [b or Decimal("0.07") for _, b in rows]
    ours: Any = prices(left)
    if form == "column":
        other: Any = prices(right)
    elif form == "finer":
        right = [b / 1000 for b in right]
        other = prices(right, "decimal128(20, 5)")
    else:
        value = 7 if form == "int" else right[0]
        other, right = value, [Decimal(value)] * len(rows)
    if form == "turned":
        ours, other = other, prices([a or Decimal("0.13") for a in left])
        left, right = right, [a or Decimal("0.13") for a in left]
    quotients = [None if a is None else floor_of(a, b) for a, b in zip(left, right, strict=True)]
    rests = [
        None if q is None else a - b * q for a, b, q in zip(left, right, quotients, strict=True)
    ]
    assert (ours // other).to_list() == quotients
    assert (ours % other).to_list() == rests


def test_dtypes_of_quotients() -> None:
    a, b = prices([Decimal("10.50"), None]), prices([Decimal("-0.125"), None], "decimal128(5, 3)")
    assert str((a // b).dtype) == "decimal128(16, 0)"
    assert (a // b).to_list() == [Decimal(-84), None]
    assert str((a % b).dtype) == "decimal128(5, 3)"
    assert (a % Decimal("-4")).to_list() == [Decimal("-1.50"), None]
    assert (a // 0.5).dtype == "float64"
    assert divmod(a, 4)[0].to_list() == [Decimal(2), None]
    arrow = pd.Series([Decimal("-10.50"), None], dtype=pd.ArrowDtype(pa.decimal128(15, 2)))
    theirs = arrow // pd.Series([Decimal("4.00")] * 2, dtype=arrow.dtype)
    assert (hr.from_pandas(arrow) // Decimal(4)).to_list()[0] == theirs[0] == -3
    for wrong in (lambda: a // Decimal(0), lambda: a % prices([Decimal(0), None])):
        with pytest.raises(hr.InvalidArgumentError, match=r"division by zero: row=0.*where"):
            wrong().to_list()
    with pytest.raises(hr.InvalidArgumentError, match=r"row=0.*float64"):
        (hr.Series([TOP]) // hr.Series([Decimal("1e-38")], dtype="decimal128(38, 38)")).to_list()


@given(st.lists(PRICES, min_size=1, max_size=40), st.integers(0, 2))
def test_powers_are_exact(values: list[Any], power: int) -> None:
    wanted = [None if v is None else v**power if power else Decimal(1) for v in values]
    assert (prices(values) ** power).to_list() == wanted


def test_powers() -> None:
    s = prices([Decimal("1.50"), None, Decimal(-2)], "decimal128(3, 2)")
    for power in range(13):
        exact = [Decimal("1.50") ** power if power else Decimal(1), None, Decimal((-2) ** power)]
        assert (s**power).to_list() == exact
    assert str((s**3).dtype) == "decimal128(9, 6)"
    assert (s**-1).to_list() == [1 / 1.5, None, -0.5]
    assert (s**0.5).dtype == "float64"
    assert (s ** hr.Series([1, 2, 3])).to_list() == [1.5, None, -8.0]
    assert (2**s).to_list()[2] == 0.25
    with pytest.raises(hr.InvalidArgumentError, match="row=0"):
        (hr.Series([Decimal(10)]) ** 38).to_list()
    with pytest.raises(hr.TypeMismatchError, match="after the decimal point"):
        s**20


def running(values: list[Any], function: Any) -> list[Any]:
    made, total = [], None
    for value in values:
        if value is not None:
            total = value if total is None else function(total, value)
        made.append(None if value is None else total)
    return made


@given(
    st.lists(st.tuples(WIDE, st.sampled_from(["a", "b", None])), min_size=1, max_size=60),
    st.sampled_from([("cumsum", lambda a, b: a + b), ("cummin", min), ("cummax", max)]),
)
def test_running_results(rows: list[Any], kind: Any) -> None:
    name, function = kind
    values, keys = [v for v, _ in rows], [k for _, k in rows]
    s = hr.Series(values, dtype="decimal128(38, 10)")
    made = getattr(s, name)()
    wide = name == "cumsum" or str(s.dtype)
    assert str(made.dtype) == ("decimal128(38, 10)" if name == "cumsum" else wide)
    assert made.to_list() == running(values, function)
    grouped = getattr(hr.DataFrame({"k": keys, "v": s}).groupby("k").v, name)().to_list()
    for key in ("a", "b"):
        mine = [v for v, k in rows if k == key]
        assert [g for g, k in zip(grouped, keys, strict=True) if k == key] == running(
            mine, function
        )


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_running_results_and_windows_over_morsels(threads: int) -> None:
    whole = np.random.default_rng(5).integers(-(10**12), 10**12, MORE)
    cents = hr.Series(whole).astype("decimal128(15, 0)") * Decimal("0.01")
    with hr.threads(threads):
        for name, function in (("cumsum", np.add), ("cummin", np.minimum), ("cummax", np.maximum)):
            made = (getattr(cents, name)() * 100).astype("int64").to_numpy()
            assert np.array_equal(made, function.accumulate(whole))
        for name in ("sum", "min", "max"):
            made = getattr(cents.rolling(1000, min_periods=1), name)()
            wanted = getattr(hr.Series(whole).rolling(1000, min_periods=1), name)()
            assert (made * 100).astype("int64").equals(wanted)


@given(st.lists(PRICES, min_size=1, max_size=60), st.integers(1, 7), st.integers(0, 3))
def test_windows(values: list[Any], window: int, least: int) -> None:
    s, least = prices(values), min(least, window)
    parts = [
        [v for v in values[max(0, i - window + 1) : i + 1] if v is not None]
        for i in range(len(values))
    ]
    rolling = s.rolling(window, min_periods=least)
    for name, function in (("sum", sum), ("min", min), ("max", max)):
        few = least if name == "sum" else max(least, 1)
        wanted = [function(part) if len(part) >= few else None for part in parts]
        assert getattr(rolling, name)().to_list() == wanted
    floats = s.astype("float64").rolling(window, min_periods=least)
    for name in ("mean", "std", "var", "median", "count"):
        assert getattr(rolling, name)().equals(getattr(floats, name)())
    one = hr.DataFrame({"k": [1] * len(values), "v": s})
    assert one.groupby("k").v.rolling(window, least).sum().equals(rolling.sum())
    assert one.groupby("k").v.rolling(window, least).mean().equals(rolling.mean())
    assert one.rolling(window, least).sum().v.equals(rolling.sum())


def test_what_does_not_fit_is_an_error() -> None:
    s = hr.Series([Decimal(1), TOP, -TOP, Decimal(3)])
    with pytest.raises(hr.InvalidArgumentError, match=r"38 digits: row=1.*float64"):
        s.cumsum().to_list()
    with pytest.raises(hr.InvalidArgumentError, match=r"window has more than 38 digits.*float64"):
        s.rolling(2).sum().to_list()
    # what a part of the rows alone would not hold
    assert (-s)[1:].cumsum().to_list() == [-TOP, Decimal(0), Decimal(-3)]
    wide = hr.Series([TOP] * 2 + [-TOP] * 2 + [Decimal(7)])
    assert wide.sum() == 7
    assert wide.rolling(5, min_periods=5).sum().to_list()[-1] == 7
    assert s.cummax().to_list() == [Decimal(1), TOP, TOP, TOP]


def test_products_are_floats() -> None:
    s = hr.Series([Decimal("2.50"), None, Decimal("-1.25"), Decimal("2.50")])
    df = hr.DataFrame({"k": [1, 1, 2, 2], "v": s})
    assert s.prod().item() == -7.8125
    assert s.cumprod().to_list() == [2.5, None, -3.125, -7.8125]
    assert df.groupby("k").v.prod().to_list() == [2.5, -3.125]
    assert df.groupby("k").v.cumprod().to_list() == [2.5, None, -1.25, -3.125]
    assert (s.any().item(), s.all().item()) == (True, True)
    assert df.groupby("k").v.any().to_list() == [True, True]


def test_whole_frames_take_them() -> None:
    s = [Decimal("2.50"), None, Decimal("-1.25")]
    df = hr.DataFrame({"v": s, "x": [1, 2, 3], "t": ["a", "b", "c"]})
    total = df.sum(numeric_only=True)
    assert total.to_dict() == {"v": Decimal("1.25"), "x": 6}
    assert str(total.dtype) == "decimal128(38, 2)"
    assert df[["v", "x"]].min().to_dict() == {"v": Decimal("-1.25"), "x": 1}
    assert df.mean(numeric_only=True).to_dict() == {"v": 0.625, "x": 2.0}
    assert df.median(numeric_only=True).v.item() == 0.625
    assert df.prod(numeric_only=True).v.item() == -3.125
    assert df.std(numeric_only=True).v.item() == pytest.approx(df.v.astype("float64").std().item())
    assert df.var(numeric_only=True).v.item() == pytest.approx(df.v.var().item())
    assert df.quantile(0.5, numeric_only=True).v.item() == 0.625
    assert df.describe().loc["max", "v"] == 2.5
    assert df[["v"]].agg(["sum", "max"]).v.to_list() == [Decimal("1.25"), Decimal("2.50")]
    assert df.v.agg(["sum", "mean"]).to_dict() == {"sum": 1.25, "mean": 0.625}
    assert df[["v", "x"]].sum(axis=1).to_list() == [Decimal("3.50"), Decimal(2), Decimal("1.75")]
    assert df[["v", "x"]].mean(axis=1).to_list() == [1.75, 2.0, 0.875]
    assert df[["v", "x"]].max(axis=1).to_list() == [Decimal("2.50"), Decimal(2), Decimal(3)]
    assert df.round(1).v.to_list() == [Decimal("2.50"), None, Decimal("-1.20")]
    assert df.select_dtypes("number").columns == ["v", "x"]
    groups = hr.DataFrame({"k": [1, 1, 1], "v": s, "t": ["a", "b", "c"]}).groupby("k")
    assert groups.sum(numeric_only=True).to_dict() == {"v": [Decimal("1.25")]}
    assert groups.prod(numeric_only=True).to_dict() == {"v": [-3.125]}
    assert groups[["v"]].cumsum().columns == ["v"]
    assert groups.v.describe()["max"].to_list() == [Decimal("2.50")]


@given(st.lists(st.tuples(WIDE, st.sampled_from("ab")), min_size=1, max_size=50))
def test_places_and_the_greatest_of_groups(rows: list[Any]) -> None:
    df = hr.DataFrame(
        {
            "k": [k for _, k in rows],
            "v": hr.Series([v for v, _ in rows], dtype="decimal128(38, 10)"),
        }
    )
    least, most = df.groupby("k").v.idxmin().to_dict(), df.groupby("k").v.idxmax().to_dict()
    three = df.groupby("k").v.nlargest(3).reset_index().to_dict()
    for key in set(df.k.to_list()):
        mine = [(v, i) for i, (v, k) in enumerate(rows) if k == key and v is not None]
        first = min((v for v, _ in mine), default=None)
        assert least[key] == next((i for v, i in mine if v == first), None)
        last = max((v for v, _ in mine), default=None)
        assert most[key] == next((i for v, i in mine if v == last), None)
        found = [v for v, k in zip(three["v"], three["k"], strict=True) if k == key]
        assert found == sorted((v for v, _ in mine), reverse=True)[:3]


def test_keys_beside_integers_and_other_digits() -> None:
    left = hr.DataFrame({"k": [Decimal("1.00"), Decimal("2.50"), None], "x": [1, 2, 3]})
    right = hr.DataFrame({"k": [2, 1, 7], "y": [20, 10, 70]})
    inner = left.merge(right, on="k")
    assert inner.to_dict() == {"k": [Decimal(1)], "x": [1], "y": [10]}
    assert str(inner.k.dtype) == "decimal128(3, 2)"
    assert right.merge(left, on="k").to_dict() == {"k": [1], "y": [10], "x": [1]}
    outer = left.merge(right, on="k", how="outer")
    assert str(outer.k.dtype) == "decimal128(22, 2)"
    assert outer.k.to_list() == [Decimal(1), Decimal(2), Decimal("2.5"), Decimal(7), None]
    turned = left.merge(right, on="k", how="right")
    assert (turned.k.to_list(), turned.x.to_list()) == ([2, 1, 7], [None, 1, None])
    fine = hr.DataFrame({"k": hr.Series([Decimal("2.5000")]), "z": [9]})
    assert left.merge(fine, on="k").z.to_list() == [9]
    both = hr.concat([left[["k"]], fine[["k"]], right[["k"]]])
    assert str(both.k.dtype) == "decimal128(24, 4)"
    assert both.k.to_list()[1] == both.k.to_list()[3]
    assert left.k.isin([1, Decimal("2.5")]).to_list() == [True, True, False]
    assert right.k.isin([Decimal("2.00"), None]).to_list() == [True, False, False]
    assert left.k.isin(right.k).to_list() == [True, False, False]
    assert left.k.map({1: "one", Decimal("2.5"): "more"}).to_list() == ["one", "more", None]
    big = hr.DataFrame({"k": hr.Series([Decimal(1)], dtype="decimal128(38, 30)")})
    with pytest.raises(
        hr.InvalidArgumentError, match=r"does not fit the dtype: row=2, value='700000000'"
    ):
        hr.DataFrame({"k": [1, 2, 700_000_000]}).merge(big, on="k").k.to_list()


def test_numpy() -> None:
    s = hr.Series([Decimal("2.50"), None])
    assert np.asarray(s).tolist() == [Decimal("2.50"), None]
    assert np.array(s[:1], dtype="float64").tolist() == [2.5]
    assert s.values.dtype == object


@pytest.mark.pool
def test_under_a_limit(memory_room: Any) -> None:
    whole = np.random.default_rng(8).integers(-(10**9), 10**9, 1_500_000)
    keys = np.random.default_rng(9).integers(0, 40, len(whole))

    def program() -> list[Any]:
        df = hr.DataFrame({"k": keys, "v": hr.Series(whole).astype("decimal128(12, 0)")})
        made = [df.v.cumsum(), df.v.rolling(300).sum(), df.groupby("k").v.cumsum(), df.v // 7]
        return [(each * 1).astype("int64").fillna(0).to_numpy() for each in made]

    free = program()
    with memory_room("120MB"):
        limited = program()
    assert all(np.array_equal(a, b) for a, b in zip(free, limited, strict=True))
    assert np.array_equal(free[0], np.cumsum(whole))
