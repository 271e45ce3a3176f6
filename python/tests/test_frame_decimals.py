# SPDX-License-Identifier: Apache-2.0
"""Decimals: exact arithmetic, aggregates, order, keys, conversions, and the ways in and out."""

from __future__ import annotations

import copy
import decimal
import operator
import pickle
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

decimal.getcontext().prec = 100
PRICES = st.one_of(
    st.none(), st.integers(-(10**15) + 1, 10**15 - 1).map(lambda n: Decimal(n).scaleb(-2))
)
WIDE = st.one_of(
    st.none(), st.integers(-(10**37), 10**37).map(lambda n: Decimal(n).scaleb(-10)), PRICES
)
ROWS = st.lists(st.tuples(PRICES, PRICES), min_size=1, max_size=70)


def prices(values: list[Any], dtype: str = "decimal128(15, 2)") -> hr.Series:
    return hr.Series(values, dtype=dtype)


def test_words() -> None:
    s = prices([Decimal("1.50"), None, Decimal("-0.07"), 3])
    assert str(s.dtype) == "decimal128(15, 2)"
    assert (s.dtype.kind, s.dtype.itemsize) == ("O", 16)
    assert [str(v) for v in s.to_list()] == ["1.50", "None", "-0.07", "3.00"]
    assert "-0.07" in repr(s)
    assert "null" in repr(s)
    assert hr.Series([1], dtype="decimal128(5,1)").dtype == "decimal128(5, 1)"
    assert s.is_null().to_list() == [False, True, False, False]
    assert s.count().item() == 3
    for wrong in ("decimal128(39, 1)", "decimal128(0, 0)", "decimal128(5, 6)"):
        with pytest.raises(hr.InvalidArgumentError, match="precision"):
            hr.Series([1], dtype=wrong)
    with pytest.raises(hr.TypeMismatchError, match="unknown dtype"):
        hr.Series([1], dtype="decimal128")


def test_lists() -> None:
    s = hr.Series([Decimal("1.10"), None, Decimal("-1234"), 7, Decimal("1E+3")])
    assert str(s.dtype) == "decimal128(6, 2)"
    assert s.to_list() == [Decimal("1.10"), None, Decimal(-1234), Decimal(7), Decimal(1000)]
    assert str(hr.Series([Decimal("0.001")]).dtype) == "decimal128(3, 3)"
    assert str(hr.Series([Decimal(0)]).dtype) == "decimal128(1, 0)"
    top = Decimal(10**38 - 1)
    assert hr.Series([top, -top]).to_list() == [top, -top]
    with pytest.raises(hr.InvalidArgumentError, match=r"row=1.*38 digits|38 digits.*row=1"):
        hr.Series([top, Decimal("0.1")])
    with pytest.raises(hr.InvalidArgumentError, match=r"row=0, value='1.555'"):
        prices([Decimal("1.555")])
    with pytest.raises(hr.InvalidArgumentError, match="row=1"):
        prices([1, Decimal("NaN")])
    for others in ([Decimal(1), 0.5], [Decimal(1), "a"], [Decimal(1), True]):
        with pytest.raises(hr.TypeMismatchError, match="decimals and other values"):
            hr.Series(others)
    assert hr.Series([Decimal("1.5")], dtype="float64").to_list() == [1.5]


def test_in_and_out(tmp_path: Any) -> None:
    values = [Decimal("1.50"), None, Decimal("-99999999999999999.99"), Decimal(0)]
    s = prices(values, "decimal128(30, 2)")
    arrow = s.to_arrow()
    assert arrow.type == pa.decimal128(30, 2)
    assert arrow.to_pylist() == values
    hr.memory.ledger().clear()
    back = hr.from_arrow(arrow)
    assert (back.dtype, back.to_list()) == (s.dtype, values)
    assert hr.memory.ledger().total_bytes == 0
    assert hr.from_arrow(arrow[1:3]).to_list() == values[1:3]
    assert hr.from_arrow(pa.chunked_array([arrow, arrow])).to_list() == values * 2
    pandas = s.to_pandas()
    assert pandas.dtype == pd.ArrowDtype(pa.decimal128(30, 2))
    assert hr.from_pandas(pandas).to_list() == values
    assert hr.from_pandas(pd.DataFrame({"d": values})).d.to_list() == values
    assert hr.from_arrow(pl.from_arrow(arrow)).to_list() == values
    assert s.to_numpy().tolist() == values
    assert pickle.loads(pickle.dumps(s)).to_list() == values
    assert copy.copy(s).to_list() == values
    frame = hr.DataFrame({"d": s, "x": [1, 2, 3, 4]})
    path = tmp_path / "d.csv"
    frame.to_csv(path)
    assert path.read_text().splitlines() == [
        "d,x",
        "1.50,1",
        ",2",
        "-99999999999999999.99,3",
        "0.00,4",
    ]
    read = hr.read_csv(path, dtypes={"d": "decimal128(30, 2)"})
    assert (read.d.dtype, read.d.to_list()) == (s.dtype, values)
    for text in ("1.005", "1e30", "x", "1.2.3", "--1"):
        path.write_text(f"x,d\n1,1.5\n2,{text}\n")
        with pytest.raises(hr.InputError, match=r"column 'd' is not a decimal128.15, 2.") as caught:
            hr.read_csv(path, dtypes={"d": "decimal128(15, 2)"})
        assert (caught.value.line, caught.value.column) == (3, 2)
    with pytest.raises(hr.UnsupportedError, match=r"d.*cast"):
        hr.from_arrow(pa.table({"d": pa.array([1]).cast(pa.decimal256(40, 2))}))


@given(
    ROWS,
    st.sampled_from([operator.add, operator.sub, operator.mul]),
    st.sampled_from(["column", "decimal", "turned", "int"]),
)
def test_arithmetic_is_exact(rows: list[Any], function: Any, form: str) -> None:
    left, right = [a for a, _ in rows], [b for _, b in rows]
    if form != "column":
        value = 17 if form == "int" else (right[0] or Decimal("0.30"))
        right = [value] * len(rows)
    ours = prices(left)
    if form == "column":
        got = function(ours, prices(right))
    elif form == "turned":
        got = function(right[0], ours)
        left, right = right, left
    else:
        got = function(ours, right[0])
    wanted = [
        None if a is None or b is None else function(a, b) for a, b in zip(left, right, strict=True)
    ]
    assert got.to_list() == wanted


@given(
    ROWS,
    st.sampled_from([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]),
    st.sampled_from(["decimal128(20, 2)", "decimal128(38, 10)", "decimal128(38, 20)"]),
)
def test_comparisons_of_other_scales(rows: list[Any], function: Any, dtype: str) -> None:
    left, right = [a for a, _ in rows], [b if i % 3 else a for i, (a, b) in enumerate(rows)]
    got = function(prices(left), prices(right, dtype)).to_list()
    wanted = [
        function is operator.ne if a is None or b is None else function(a, b)
        for a, b in zip(left, right, strict=True)
    ]
    assert got == wanted
    some = next((v for v in right if v is not None), Decimal("0.001"))
    assert function(prices(left), some).to_list() == [
        function is operator.ne if a is None else function(a, some) for a in left
    ]


def test_what_the_results_are() -> None:
    a, b = prices([Decimal("10.50")]), hr.Series([Decimal("0.125")], dtype="decimal128(5, 3)")
    assert str((a + b).dtype) == "decimal128(17, 3)"
    assert str((a * b).dtype) == "decimal128(20, 5)"
    assert (a / b).dtype == "float64"
    assert (a / b).to_list() == [84.0]
    assert (a / 4).to_list() == [2.625]
    assert (1 / a).to_list() == [1 / 10.5]
    assert (a * 0.5).to_list() == [5.25]
    assert (a > 10.4).to_list() == [True]
    assert (a * hr.Series([3], dtype="int8")).to_list() == [Decimal("31.50")]
    assert (-a).dtype == a.dtype
    assert ((-a).to_list(), abs(-a).to_list()) == ([Decimal("-10.50")], [Decimal("10.50")])
    assert b.round(2).to_list() == [Decimal("0.12")]  # halves to even
    assert hr.Series([Decimal("-0.375")]).round(2).to_list() == [Decimal("-0.38")]
    assert a.clip(lower=Decimal("11")).to_list() == [Decimal(11)]
    top = hr.Series([Decimal(10**38 - 1), Decimal(1)])
    with pytest.raises(hr.InvalidArgumentError, match=r"row=0.*float64"):
        (top + 1).to_list()
    with pytest.raises(hr.InvalidArgumentError, match="row=0"):
        (top * top).to_list()
    tiny = hr.Series([Decimal(1)], dtype="decimal128(38, 30)")
    with pytest.raises(hr.TypeMismatchError, match="after the decimal point"):
        tiny * tiny
    for wrong in (
        lambda: np.sqrt(a),
        lambda: a + "1",
        lambda: a > "1",
        lambda: a.to_array(),
        lambda: hr.asarray(a),
    ):
        with pytest.raises(hr.Error, match="decimal"):
            wrong()


def test_choices() -> None:
    values = [Decimal("1.50"), None, Decimal("-0.07")]
    s = prices(values)
    assert s.fillna(Decimal(9)).to_list() == [values[0], Decimal(9), values[2]]
    assert s.fillna(0).dtype == s.dtype
    with pytest.raises(hr.TypeMismatchError, match="digits"):
        s.fillna(Decimal("0.001"))
    assert s.where(s > 0).to_list() == [values[0], None, None]
    assert s.where(s > 0, Decimal("0.125")).to_list() == [
        values[0],
        Decimal("0.125"),
        Decimal("0.125"),
    ]
    assert s.mask(s > 0, 0).to_list() == [Decimal(0), None, values[2]]
    assert s.dropna().to_list() == [values[0], values[2]]
    assert s.replace(Decimal("1.5"), Decimal(2)).to_list()[0] == Decimal(2)
    assert s.isin([Decimal("1.5"), 4]).to_list() == [True, False, False]
    assert s.between(-1, 1).to_list() == [False, False, True]
    assert s[s == Decimal("1.5")].to_list() == [values[0]]
    assert s[1:].to_list() == values[1:]
    assert s.shift(1).to_list() == [None, *values[:2]]
    assert s.diff().to_list() == [None, None, None]
    assert prices([1, 3]).diff().to_list() == [None, Decimal(2)]
    assert hr.concat([s, s[:1]]).to_list() == [*values, values[0]]


@given(st.lists(WIDE, max_size=70))
def test_aggregates_are_exact(values: list[Any]) -> None:
    s = prices(values, "decimal128(38, 10)")
    there = [v for v in values if v is not None]
    assert s.sum() == sum(there, Decimal(0))
    assert (s.min(), s.max()) == ((min(there), max(there)) if there else (None, None))
    assert s.count().item() == len(there)
    if there:
        rounding = 1e-15 * float(sum(map(abs, there)))  # the mean is of float64 values
        assert float(s.mean()) == pytest.approx(float(sum(there) / len(there)), abs=rounding)
    assert s.sort_values().to_list() == sorted(there) + [None] * (len(values) - len(there))
    assert s.sort_values(ascending=False, na_position="first").to_list() == [None] * (
        len(values) - len(there)
    ) + sorted(there, reverse=True)
    assert s.nunique().item() == len(set(there))
    assert s.unique().to_list() == list(dict.fromkeys(values))
    first, last = sorted(there), sorted(there, reverse=True)
    assert s.rank().to_list() == [
        None if v is None else (first.index(v) + 1 + len(there) - last.index(v)) / 2 for v in values
    ]


def test_sums_that_do_not_fit() -> None:
    top = Decimal(10**38 - 1)
    with pytest.raises(hr.InvalidArgumentError, match="38 digits"):
        hr.Series([top, Decimal(1)]).sum()
    assert hr.Series([top, top, -top]).sum() == top
    df = hr.DataFrame({"k": [1, 1], "x": [top, top]})
    with pytest.raises(hr.InvalidArgumentError, match="38 digits"):
        df.groupby("k").x.sum().to_list()


@given(
    st.lists(st.tuples(st.integers(0, 5), WIDE, PRICES), min_size=1, max_size=200),
    st.booleans(),
)
def test_groups_are_those_of_duckdb(rows: list[Any], by_decimal: bool) -> None:
    keys = [k for k, _, _ in rows]
    df = hr.DataFrame(
        {
            "k": hr.Series([Decimal(k) / 4 for k in keys], dtype="decimal128(38, 10)")
            if by_decimal
            else hr.Series(keys),
            "w": prices([w for _, w, _ in rows], "decimal128(38, 10)"),
            "p": prices([p for _, _, p in rows]),
        }
    )
    got = (
        df.groupby("k")
        .agg(
            ws=("w", "sum"),
            ps=("p", "sum"),
            wl=("w", "min"),
            pm=("p", "max"),
            n=("p", "count"),
            u=("w", "nunique"),
            f=("p", "first"),
            m=("p", "mean"),
        )
        .reset_index()
    )
    wanted = (
        duckdb.from_arrow(df.to_arrow())
        .aggregate("k, sum(w), sum(p), min(w), max(p), count(p), count(distinct w), avg(p)", "k")
        .order("k")
        .fetchall()
    )
    ours = got.to_dict()
    for i, (k, ws, ps, wl, pm, n, u, m) in enumerate(wanted):
        assert ours["k"][i] == k
        assert ours["ws"][i] == (ws if ws is not None else 0)
        assert ours["ps"][i] == (ps if ps is not None else 0)
        assert (ours["wl"][i], ours["pm"][i], ours["n"][i], ours["u"][i]) == (wl, pm, n, u)
        assert ours["m"][i] == pytest.approx(m) if m is not None else ours["m"][i] is None


def test_keys_that_are_floats_are_compared_as_floats() -> None:
    left = hr.DataFrame({"p": prices([Decimal("1.25"), None, Decimal("0.10")]), "x": [1, 2, 3]})
    right = hr.DataFrame({"p": [0.1, 1.25, 2.0], "y": ["a", "b", "c"]})
    assert left.merge(right, on="p").y.to_list() == ["b", "a"]
    assert left.merge(right, on="p").p.dtype == left.p.dtype
    assert left.merge(right, on="p", how="outer").p.to_list() == [0.1, 1.25, 2.0, None]
    assert right.merge(left, on="p", how="semi").y.to_list() == ["a", "b"]
    assert left.p.isin([1.25]).to_list() == (left.p == 1.25).fillna(False).to_list()
    assert right.p.isin(left.p).to_list() == [True, True, False]


def test_keys_of_joins() -> None:
    left = hr.DataFrame({"p": prices([1, 2, None, Decimal("2.50")]), "x": [1, 2, 3, 4]})
    right = hr.DataFrame(
        {"p": hr.Series([Decimal("2.5"), Decimal(1)], dtype="decimal128(4, 1)"), "y": ["a", "b"]}
    )
    assert left.merge(right, on="p").y.to_list() == ["b", "a"]
    assert left.merge(right, on="p", how="left").y.to_list() == ["b", None, None, "a"]
    assert left.drop_duplicates("p").x.to_list() == [1, 2, 3, 4]
    assert left.p.value_counts().to_dict()[Decimal("2.50")] == 1
    assert left.set_index("p").loc[Decimal("2.5")].x == 4
    wide = hr.Series([Decimal(10**30), Decimal(-(10**30)), Decimal(1)] * 3)
    assert wide.value_counts().to_dict() == {
        Decimal(10**30): 3,
        Decimal(-(10**30)): 3,
        Decimal(1): 3,
    }
    both = hr.DataFrame({"w": wide, "k": [1, 2, 1] * 3, "v": range(9)})
    assert both.groupby(["w", "k"]).v.sum().reset_index().w.to_list() == [
        Decimal(-(10**30)),
        Decimal(1),
        Decimal(10**30),
    ]


@given(st.lists(PRICES, max_size=70), st.integers(0, 10))
def test_casts(values: list[Any], scale: int) -> None:
    s = prices(values)
    assert s.astype("string").to_list() == [None if v is None else f"{v:.2f}" for v in values]
    assert s.astype("string").astype(s.dtype).to_list() == values
    assert s.astype("float64").to_list() == [None if v is None else float(v) for v in values]
    assert s.astype("int64").to_list() == [None if v is None else int(v) for v in values]
    assert s.astype(f"decimal128(38, {scale})").to_list() == [
        None if v is None else v.quantize(Decimal(1).scaleb(-scale)) for v in values
    ]


@given(st.lists(st.floats(-1e9, 1e9) | st.none(), max_size=70))
def test_casts_of_floats_are_the_nearest(values: list[Any]) -> None:
    unit = Decimal("0.0001")
    got = hr.Series(values, dtype="float64").astype("decimal128(20, 4)").to_list()
    assert got == [None if v is None else Decimal(v).quantize(unit) for v in values]


def test_casts_that_do_not_fit() -> None:
    for values, dtype in (
        ([1.5, float("nan")], "decimal128(5, 2)"),
        ([1.0, 1000.0], "decimal128(5, 2)"),
        ([1, 1000], "decimal128(5, 2)"),
        (["1", "1.005"], "decimal128(5, 2)"),
        (["1", "x"], "decimal128(5, 2)"),
        ([Decimal(1), Decimal(300)], "int8"),
        ([Decimal(1), Decimal(-1)], "uint8"),
        ([Decimal(1), Decimal("99.99")], "decimal128(3, 1)"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match="row=1"):
            hr.Series(values).astype(dtype).to_list()
    with pytest.raises(hr.TypeMismatchError, match="decimal"):
        hr.Series([Decimal(1)]).astype("date")
    assert hr.Series([True, None]).astype("decimal128(3, 1)").to_list() == [Decimal(1), None]
    assert hr.Series([Decimal("0.1"), Decimal(0)]).astype("bool").to_list() == [True, False]
    assert hr.Series(["1.5"], dtype="category").astype("decimal128(3, 1)").to_list() == [
        Decimal("1.5")
    ]


@pytest.mark.parametrize("rows", [0, 1, 63, 64, 65, 131_071, 131_073, 300_000])
def test_sizes_and_threads(rows: int) -> None:
    rng = np.random.default_rng(rows)
    cents = rng.integers(-(10**12), 10**12, rows)
    gone = rng.random(rows) < 0.1
    made = []
    for count in (1, 2, 4):
        with hr.threads(count):
            s = hr.Series(cents).astype("decimal128(20, 2)") * Decimal("0.01")
            s = s.where(hr.Series(~gone))
            df = hr.DataFrame({"k": hr.Series(cents % 7), "s": s})
            part = df.groupby("k").s.sum().reset_index().s.to_list()
            made.append((s.sum(), s.sort_values().to_list()[:50], part))
    assert made[0] == made[1] == made[2]
    assert made[0][0] == Decimal(int(cents[~gone].sum())).scaleb(-2)


@pytest.mark.pool
def test_under_a_limit(memory_room: Any) -> None:
    cents = np.random.default_rng(3).integers(0, 10**6, 2_000_000)

    def program() -> Any:
        df = hr.DataFrame({"p": hr.Series(cents).astype("decimal128(15, 2)")})
        df["q"] = df.p * df.p
        most = df.groupby("p").q.sum().reset_index().sort_values("q").tail(5)
        return df.q.sum(), most.to_dict(), df.sort_values("q").q.head(3).to_list()

    free = program()
    with memory_room("100MB"):
        assert program() == free
