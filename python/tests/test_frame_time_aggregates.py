# SPDX-License-Identifier: Apache-2.0
"""Aggregates and running results of dates, times and durations: of columns, frames, groups."""

from __future__ import annotations

import datetime
import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

delta = datetime.timedelta
UNITS = ("s", "ms", "us", "ns")
NAT = np.iinfo("int64").min
ROWS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-(10**12), 10**12), st.integers(-9, 9)),
        st.sampled_from(["a", "b", "c", None]),
    ),
    min_size=1,
    max_size=50,
)


def both(rows: list[Any], word: str) -> tuple[hr.DataFrame, pd.DataFrame]:
    values = np.array([NAT if v is None else v for v, _ in rows]).view(word)
    keys = [k for _, k in rows]
    return hr.DataFrame({"k": keys, "v": values}), pd.DataFrame({"k": keys, "v": values})


def counts(values: Any) -> list[Any]:
    """Integers of the unit, None for missing ones."""
    array = np.asarray(values).astype("int64")
    return [None if v == NAT else int(v) for v in array]


@given(ROWS, st.sampled_from(UNITS), st.sampled_from(["M8", "m8"]))
def test_of_columns(rows: list[Any], unit: str, kind: str) -> None:
    word = f"{kind}[{unit}]"
    ours, theirs = both(rows, word)
    there = sum(v is not None for v, _ in rows)
    for name in ("median", "mean", "min", "max", "std"):
        value = getattr(ours.v, name)()
        wanted = getattr(theirs.v, name)()
        assert (value is None) == (wanted is pd.NaT)
        if value is not None:
            got = int(np.array(value, f"{'m8' if name == 'std' else kind}[{unit}]").astype("int64"))
            off = abs(got - int(wanted.as_unit(unit).asm8.astype("int64")))
            assert off <= (name == "std")  # whose sum of squares is added in another order
    levels = [0.0, 0.25, 0.5, 1.0]
    found = ours.v.quantile(levels)
    assert found.dtype == ours.v.dtype
    if there:
        assert counts(found.to_numpy()) == counts(theirs.v.quantile(levels))
        assert ours.v.quantile(0.25) == found.to_list()[1]
    else:
        assert ours.v.quantile(0.5) is None


@given(ROWS, st.sampled_from(UNITS), st.sampled_from(["M8", "m8"]), st.booleans())
def test_of_groups(rows: list[Any], unit: str, kind: str, transform: bool) -> None:
    ours, theirs = both(rows, f"{kind}[{unit}]")
    names = ["median", "mean", "min", "max", "std", "first", "last"]
    for name in [*names, *(["sum"] if kind == "m8" else [])]:
        groups, others = ours.groupby("k").v, theirs.groupby("k").v
        if transform:
            got, wanted = groups.transform(name), others.transform(name)
        else:
            got, wanted = getattr(groups, name)(), getattr(others, name)()
        word = "timedelta64" if name == "std" else ours.v.dtype.partition("[")[0]
        assert got.dtype == f"{word}[{unit}]"
        for a, b in zip(counts(got.to_numpy()), counts(wanted.to_numpy()), strict=True):
            assert a == b or (name == "std" and abs(a - b) <= 1)
    quarter = ours.groupby("k").v.quantile(0.25).to_numpy()
    assert counts(quarter) == counts(theirs.groupby("k").v.quantile(0.25))


@given(ROWS, st.sampled_from(["M8[us]", "m8[s]"]))
def test_running_results(rows: list[Any], word: str) -> None:
    ours, theirs = both(rows, word)
    functions: dict[str, Any] = {"cummin": min, "cummax": max}
    for name in (*functions, *(["cumsum"] if word[0] == "m" else [])):
        got = getattr(ours.v, name)()
        assert got.dtype == ours.v.dtype
        assert counts(got.to_numpy()) == counts(getattr(theirs.v, name)().to_numpy())
        grouped = counts(getattr(ours.groupby("k").v, name)().to_numpy())
        for key in ("a", "b", "c", None):  # pandas forgets what is behind a NaT here
            mine = [(v, g) for (v, k), g in zip(rows, grouped, strict=True) if k == key]
            there = [v for v, _ in mine if v is not None and key]
            wanted = list(itertools.accumulate(there, functions.get(name)))
            assert [g for _, g in mine if g is not None] == wanted
    if word[0] == "M":
        with pytest.raises(hr.TypeMismatchError, match=r"cumsum.*datetime64"):
            ours.v.cumsum()
    top = ours.groupby("k").v.nlargest(2).reset_index().to_dict()
    for key in "abc":
        mine = sorted((v for v, k in rows if k == key and v is not None), reverse=True)[:2]
        found = [v for v, k in zip(top["v"], top["k"], strict=True) if k == key]
        assert counts(hr.Series(found, dtype=ours.v.dtype).to_numpy()) == mine


def test_far_apart_and_fine() -> None:
    fine = np.array([1_700_000_000_000_000_001, 1_700_000_000_000_000_003], "int64")
    times = hr.Series(fine.view("M8[ns]"))
    assert int(np.datetime64(times.median()).astype("int64")) == fine[0] + 1
    assert hr.DataFrame({"k": [1, 1], "v": times}).groupby("k").v.mean().astype(
        "int64"
    ).to_list() == [fine[0] + 1]
    far = hr.Series(np.array([-(2**62) - 5, 2**62 + 5]).view("M8[s]"))
    assert int(np.datetime64(far.mean()).astype("int64")) == 0


def test_frames_dates_and_zones() -> None:
    day = datetime.date
    df = hr.DataFrame(
        {
            "k": [1, 1, 2],
            "d": [day(2024, 1, 1), day(2024, 1, 3), None],
            "s": [delta(1), None, delta(3)],
            "t": ["a", "b", "c"],
        }
    )
    assert df[["k", "s"]].sum().to_dict() == {"k": 4, "s": delta(4)}
    assert df.sum(numeric_only=True).to_dict() == {"k": 4}
    df = df.drop(columns="t")
    assert df.mean().to_dict() == {"k": 4 / 3, "d": day(2024, 1, 2), "s": delta(2)}
    assert df.median().d == day(2024, 1, 2)
    assert df.min().to_dict() == {"k": 1, "d": day(2024, 1, 1), "s": delta(1)}
    assert df.max(numeric_only=True).to_dict() == {"k": 2}
    assert str(df[["s"]].max().dtype) == "timedelta64[us]"
    assert df.groupby("k").mean().reset_index().to_dict() == {
        "k": [1, 2],
        "d": [day(2024, 1, 2), None],
        "s": [delta(1), delta(3)],
    }
    with pytest.raises(hr.TypeMismatchError, match=r"sum does not support.*'d'"):
        df.groupby("k").sum()
    assert df.groupby("k").agg(m=("d", "median"), s=("s", "sum")).m.dtype == "date"
    assert df.d.std() == delta(seconds=round(86_400 * 2**0.5))
    assert df.quantile(0.5).d == day(2024, 1, 2)
    zone = datetime.timezone(delta(hours=2))
    zoned = hr.Series([datetime.datetime(2024, 1, d, tzinfo=zone) for d in (1, 3)])
    assert zoned.median() == datetime.datetime(2024, 1, 2, tzinfo=zone)
    means = hr.DataFrame({"k": [1, 1], "z": zoned}).groupby("k").z.mean()
    assert (means.dtype, means.to_list()) == (zoned.dtype, [zoned.median()])
    assert zoned.cummax().dtype == zoned.dtype


def test_frames_of_times_and_texts() -> None:
    day = datetime.date
    data = {
        "d": [day(2024, 1, 1), None, day(2020, 1, 1)],
        "e": [None, day(2023, 1, 1), day(2021, 1, 1)],
        "t": ["b", None, "a"],
        "u": ["a", "c", None],
    }
    df = hr.DataFrame(data)
    assert df[["d", "e"]].min(axis=1).to_list() == [
        day(2024, 1, 1),
        day(2023, 1, 1),
        day(2020, 1, 1),
    ]
    assert df[["t", "u"]].max(axis=1).to_list() == ["b", "c", "a"]
    assert df.assign(x=[1, 2, 3]).max(axis=1).to_list() == [1, 2, 3]
    found = df[["d", "t"]].agg(["min", "max"])
    assert found.d.to_list() == [day(2020, 1, 1), day(2024, 1, 1)]
    assert found.t.to_list() == ["a", "b"]
    assert df.idxmax().to_dict() == {"d": 0, "e": 1, "t": 0, "u": 1}
    assert df.t.clip("aa", "ab").to_list() == ["ab", None, "aa"]
    flags = hr.DataFrame({"a": [True, None], "b": [True, True]})
    assert (flags.sum(axis=1).to_list(), flags.mean(axis=1).to_list()) == ([2, 1], [1.0, 1.0])
    spans = hr.DataFrame({"a": [delta(1), None], "b": [delta(3), None]})
    assert spans.sum(axis=1).to_list() == [delta(4), delta(0)]
    assert spans.mean(axis=1).to_list() == [delta(2), None]
    assert spans.max(axis=1).to_list() == [delta(3), None]
    with pytest.raises(hr.TypeMismatchError, match="sum: unsupported columns"):
        df.sum(axis=1)
    with pytest.raises(hr.TypeMismatchError, match=r"std: no numeric column|std: not"):
        spans.std(axis=1)
    with pytest.raises(hr.TypeMismatchError, match="all of these aggregates"):
        df.agg(["min", "sum"])


def test_masks_of_numpy() -> None:
    spans = hr.Series([delta(1), delta(2)])
    mask = np.array([True, False])
    assert spans.where(mask).to_list() == [delta(1), None]
    assert spans.mask(mask, delta(0)).to_list() == [delta(0), delta(2)]
    assert hr.Series(["a", "b"]).where(mask.tolist(), "c").to_list() == ["a", "c"]


def test_truth_and_correlation() -> None:
    spans = hr.Series([delta(0), None, delta(3)])
    df = hr.DataFrame({"k": [1, 1, 2], "s": spans, "x": [1.5, 0.0, 2.0]})
    assert (spans.any().item(), spans.all().item()) == (True, False)
    assert df.groupby("k").any().to_dict() == {"s": [False, True], "x": [True, True]}
    assert df.groupby("k").s.all().to_list() == [False, True]
    assert df[["s"]].all().to_dict() == {"s": False}
    times = pd.Series(np.array([5, 9, 2, 7], "M8[ms]"))
    assert hr.from_pandas(times).corr(hr.Series([1.0, 2.0, 9.0, 3.0])).item() == pytest.approx(
        times.corr(pd.Series([1.0, 2.0, 9.0, 3.0]))
    )
    assert df.groupby("k").idxmax().to_dict() == {"s": [0, 2], "x": [0, 2]}
    for wrong in (spans.prod, spans.var, hr.from_pandas(times).prod, hr.from_pandas(times).var):
        with pytest.raises(hr.TypeMismatchError, match=r"not numbers|does not support"):
            wrong()


@given(
    st.lists(st.one_of(st.none(), st.integers(-20, 20)), min_size=1, max_size=40),
    st.lists(st.integers(-20, 20), min_size=2, max_size=5, unique=True),
    st.sampled_from(["M8[s]", "m8[us]", "M8[D]"]),
    st.booleans(),
)
def test_bins(values: list[Any], edges: list[int], word: str, right: bool) -> None:
    days = 86_400 * (10**6 if word == "m8[us]" else 1) if word != "M8[D]" else 1
    raw = np.array(
        [NAT if v is None else v * days // (1 if word == "M8[D]" else 4) for v in values]
    )
    limits = np.array(sorted(edges)) * days
    ours = hr.cut(hr.Series(raw.view(word)), list(limits.view(word)), right=right)
    theirs = pd.cut(pd.Series(raw.view(word)), pd.Index(limits.view(word)), right=right)
    assert ours.cat.codes.fill_null(-1).to_list() == theirs.cat.codes.to_list()
    assert ours.dtype == "category"
    names = [str(each) for each in theirs.cat.categories]
    if word[0] == "M":
        names = [name.replace(" 00:00:00", "") for name in names]
        assert ours.cat.categories.to_list() == names


def test_bins_of_values() -> None:
    day = datetime.date
    s = hr.Series([day(2024, 1, 5), None, day(2024, 2, 5)])
    bins = ["2024-01-01", "2024-02-01", "2024-03-01"]
    assert hr.cut(s, bins, labels=["Jan", "Feb"]).to_list() == ["Jan", None, "Feb"]
    assert hr.cut(s, bins).to_list()[0] == "(2024-01-01, 2024-02-01]"
    codes, edges = hr.cut(s.astype("datetime64[us]"), 2, labels=False, retbins=True)
    assert codes.to_list() == [0, None, 1]
    assert edges.dtype == "datetime64[us]"
    spans = hr.Series([delta(1), delta(hours=5)])
    assert hr.cut(spans, [delta(0), delta(hours=6), delta(2)]).to_list() == [
        "(0 days 06:00:00, 2 days 00:00:00]",
        "(0 days 00:00:00, 0 days 06:00:00]",
    ]
    prices = hr.Series(["1.50", "2.50"]).astype("decimal128(5, 2)")
    assert hr.cut(prices, [1, 2, 3], labels=False).to_list() == [0, 1]
    with pytest.raises(
        hr.TypeMismatchError, match=r"cut: the edges do not match the values.*int64"
    ):
        hr.cut(s, [1, 2])


def test_describe() -> None:
    times = pd.Series(np.array([5, 9, 2, NAT, 7]).view("M8[D]").astype("M8[us]"))
    theirs = pd.DataFrame({"x": [1.0, 2, 3, 4, 5], "t": times, "d": times - times.min()})
    theirs["s"] = "a"
    ours = hr.from_pandas(theirs).describe()
    assert ours.columns == ["x", "t", "d"]
    for name in ("t", "d"):
        wanted = theirs.describe()[name]
        for word, text in zip(ours.index.to_list(), ours[name].to_list(), strict=True):
            value = wanted[word]
            if word == "count":
                assert text == "4"
            elif value is pd.NaT or value != value:
                assert text is None
            else:
                kind = pd.Timestamp if name == "t" else pd.Timedelta
                assert abs(kind(text) - value) <= pd.Timedelta("1us")
    every = hr.from_pandas(theirs).describe(include="all")
    assert every.columns == ["x", "t", "d", "s"]
    assert every.loc["top", "s"] == "a"
    none = hr.Series([None], dtype="timedelta64[s]").describe()
    assert none.to_dict()["count"] == "0"
    assert none.to_dict()["mean"] is None


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_quantiles_of_durations_that_are_far_apart(unit: str) -> None:
    ends = np.array([-(2**63) + 1, 2**63 - 1, 0, 0], "int64").view(f"timedelta64[{unit}]")
    got = hr.Series(ends).quantile([0.1, 0.9], "lower")
    assert got.to_numpy().tolist() == ends[[0, 2]].tolist()
    assert hr.Series(ends[:0]).quantile([0.1, 0.9], "lower").is_null().to_list() == [True, True]
