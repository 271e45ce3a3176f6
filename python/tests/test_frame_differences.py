# SPDX-License-Identifier: Apache-2.0
"""The written differences from pandas (docs/reference/pandas.md), one test a number."""

import datetime as dt
import io
import math
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from headrace.rows import Row

import headrace as hr

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "pandas.md"
NAN = float("nan")


def test_each_number_of_the_page_has_a_test() -> None:
    numbers = [int(n) for n in re.findall(r"^(\d+)\. ", PAGE.read_text(), re.MULTILINE)]
    assert numbers == list(range(1, len(numbers) + 1))
    tests = {int(name[5:7]) for name in globals() if re.fullmatch(r"test_\d\d_\w+", name)}
    assert tests == set(numbers)


@pytest.fixture
def df() -> hr.DataFrame:
    return hr.DataFrame({"k": ["b", "a", "b", None], "x": [1, None, 3, 4], "f": [0.5, NAN, 2, 1]})


def test_01_null_and_nan(df: hr.DataFrame) -> None:
    assert (df.x.is_null() & df.f.is_nan()).to_list() == [False, True, False, False]
    assert df.x.iloc[1] is hr.NA is None
    assert (df.x != 1).to_list() == [False, True, True, True]
    assert df[df.x != 1].x.to_list() == [None, 3, 4]
    assert df[~(df.x > 1)].x.to_list() == [1, None]
    assert df.k.str.contains("b").to_list() == [True, False, True, False]
    assert df.k.str.contains("b", na=None).to_list() == [True, False, True, None]
    known = hr.Series([True, None])
    assert (known & True).to_list() == [True, None] and (~known).to_list() == [False, None]
    texts = hr.DataFrame({"t": ["?", np.nan, "a"], "n": [1.0, np.nan, 2.0]}).replace("?", np.nan)
    assert texts.t.to_list() == [None, None, "a"] and texts.n.is_nan().to_list()[1]


def test_02_dtypes_stay(df: hr.DataFrame) -> None:
    assert df.x.shift().dtype == "int64"
    joined = df.merge(hr.DataFrame({"k": ["a", "z"], "y": [1, 2]}), on="k", how="outer")
    assert (joined.x.dtype, joined.y.dtype) == ("int64", "int64")
    assert hr.Series([1, 2]).rolling(2).sum().dtype == "int64"
    assert pd.Series([1, 2]).shift().dtype == "float64"
    small = hr.Series([2, 1], dtype="uint8")
    assert (small - small.shift()).to_list() == [None, 255]
    with pytest.raises(hr.TypeMismatchError, match="fill_null"):
        df.x.fillna("?")
    gaps = hr.Series([1, None])
    assert (gaps.fillna(0.5).dtype, gaps.fillna(0).dtype) == ("float64", "int64")
    assert gaps.fillna(gaps + 0.5).to_list() == [1.0, None]
    assert hr.Series([1, 2]).fillna(0.5).dtype == "int64"
    means = hr.DataFrame({"x": [2, 5]}).mean()
    assert hr.DataFrame({"x": gaps}).fillna(means).x.to_list() == [1.0, 3.5]


def test_03_aggregates_of_nothing_are_null() -> None:
    groups = hr.DataFrame({"k": [1], "x": [NAN]}).groupby("k").x
    for name in ("min", "max", "mean", "median", "first", "last", "std", "var"):
        assert getattr(groups, name)().to_list() == [None]
    assert groups.sum().to_list() == [0.0]
    assert groups.prod().to_list() == [1.0]
    assert hr.Series([NAN]).rolling(1).mean().to_list() == [None]
    with pytest.raises(hr.InvalidArgumentError, match="no values"):
        hr.Series([], dtype="int64").max().item()


def test_04_division_by_zero() -> None:
    whole = hr.Series([1, -1, 0])
    assert (whole // 0).to_list() == [0, 0, 0]
    assert (whole % 0).to_list() == [0, 0, 0]
    assert (whole / 0).to_list()[:2] == [math.inf, -math.inf]


def test_05_strings() -> None:
    assert hr.Series(["é", "z", "Z"]).sort_values().to_list() == ["Z", "z", "é"]
    with pytest.raises(hr.TypeMismatchError, match="strings and other values"):
        hr.Series([1, "a"])


def test_06_categories() -> None:
    sizes = hr.Series(["lo", "hi", None, "lo"], dtype="category")
    sizes = sizes.cat.set_categories(["lo", "hi"])
    assert (sizes == "no").to_list() == [False, False, False, False]
    assert sizes.sort_values().to_list() == ["hi", "lo", "lo", None]
    assert sizes.cat.as_ordered().sort_values().to_list() == ["lo", "lo", "hi", None]
    with pytest.raises(hr.UnsupportedError, match="categories cannot"):
        hr.Series([Decimal(1)]).astype("category")
    with pytest.raises(hr.TypeMismatchError, match="no order"):
        (sizes < "lo").to_list()


def test_07_an_empty_list() -> None:
    assert hr.Series([]).dtype == "float64"
    assert hr.DataFrame(columns=["a"]).a.dtype == "float64"


def test_08_nothing_changes_in_place(df: hr.DataFrame) -> None:
    kept, rebound = df.copy(), df.copy()
    doubled = rebound.x * 2
    assert rebound.fillna({"k": "?", "x": 0}, inplace=True) is None
    assert (rebound.x.to_list(), doubled.to_list()) == ([1, 0, 3, 4], [2, None, 6, 8])
    assert kept.x.to_list() == df.x.to_list() == [1, None, 3, 4]
    other, column = df.copy(), df.x
    df.loc[df.x == 1, "x"] = 9
    column[0] = 7
    with pytest.raises(hr.InvalidArgumentError, match="one step"):
        df["x"][0] = 7
    assert (df.x.to_list()[0], other.x.to_list()[0], column.to_list()[0]) == (9, 1, 7)


def test_09_reductions_are_deferred(df: hr.DataFrame) -> None:
    means = df[["x", "f"]].mean()
    assert means.to_dict() == pytest.approx({"x": 8 / 3, "f": means["f"].item()})
    assert means.sort_values().index.to_list() == ["f", "x"]
    assert type(df.max()) is Row and dict(df.max())["k"] == "b"
    assert str(df[["x", "f"]].sum()["x"].dtype) == "int64"
    assert df.isna().sum().sum().item() == int(np.asarray(df.isna()).sum())
    total = df.x.sum()
    assert isinstance(total, hr.Array)
    assert (int(total), total.item(), f"{total:03}", str(total), total + 1 == 9) == (
        *(8, 8, "008", "8"),
        True,
    )
    assert {total: "t"}[8] == "t" and not isinstance(df.x.mean(), float)
    assert df.k.max() == "b"
    assert hr.Series([dt.date(2024, 1, 2), None]).min() == dt.date(2024, 1, 2)


def test_10_texts_have_no_sum(df: hr.DataFrame) -> None:
    assert df.mean(numeric_only=True).index.to_list() == ["x", "f"]
    assert df.groupby("x").mean(numeric_only=True).columns == ["f"]
    for kind in ("sum", "mean"):
        with pytest.raises(hr.TypeMismatchError, match=rf"{kind}: unsupported columns.*'k'"):
            getattr(df, kind)()
        with pytest.raises(hr.TypeMismatchError, match="numeric_only"):
            getattr(df.groupby("x"), kind)()


def test_11_any_and_all_skip_nan() -> None:
    assert not bool(hr.Series([0.0, NAN]).any())
    assert bool(pd.Series([0.0, NAN]).any(skipna=False))
    groups = hr.DataFrame({"k": [1, 1], "x": [0.0, NAN]}).groupby("k").x
    assert groups.any().to_list() == [False]
    across = hr.DataFrame({"x": [None, 0.0, NAN, 1.0], "y": [None, NAN, 0.0, None]})
    assert across.any(axis=1).to_list() == [False, False, False, True]
    assert across.all(axis=1).to_list() == [True, False, False, True]


def test_12_describe(df: hr.DataFrame) -> None:
    assert df.describe().index.name == "statistic"
    assert df.describe().loc["max", "x"] == 4.0
    assert df[["k"]].describe().k.to_list() == ["3", "2", "b", "2"]


def test_13_integers_with_nulls(df: hr.DataFrame) -> None:
    with pytest.raises(hr.ExchangeError, match="fillna"):
        df.x.to_numpy()
    assert math.isnan(df.x.astype("float64").to_numpy()[1])


def test_14_labels_in_files(df: hr.DataFrame) -> None:
    labelled = df.set_index("k")
    assert labelled.columns == list(df.to_pandas().set_index("k").columns) == ["x", "f"]
    assert labelled.to_csv().splitlines()[0] == "k,x,f"
    assert df.to_csv().splitlines()[0] == labelled.reset_index().to_csv().splitlines()[0] == "k,x,f"
    assert labelled.sum().index.to_list() == ["x", "f"]
    assert labelled.fillna(0).to_numpy().shape == (4, 2)
    assert labelled.to_pandas().index.name == "k"


def test_15_nothing_is_aligned(df: hr.DataFrame) -> None:
    other = hr.DataFrame({"x": [1, 2]})
    with pytest.raises(hr.Error):
        df.x + other.x
    with pytest.raises(hr.InvalidArgumentError, match="different columns"):
        df[["x"]] + df[["f"]]
    with pytest.raises(hr.TypeMismatchError, match="axis=0"):
        df[["x"]] + df.x
    assert df[["x"]].add(df.x, axis=0).x.to_list() == [2, None, 6, 8]
    up, down = df.sort_values("f"), df.sort_values("f", ascending=False)
    for apart in (lambda: up.x - down.x, lambda: up.x - df.x, lambda: up.x + hr.Series(range(4))):
        with pytest.raises(hr.InvalidArgumentError, match=r"merge"):
            apart()
    assert (up.x + np.arange(4)).to_list() == [1, 5, 5, None]


def test_16_numbers_of_rows(df: hr.DataFrame) -> None:
    theirs = pd.DataFrame({"k": ["b", "a", "b", None], "x": [1, None, 3, 4], "f": [0.5, NAN, 2, 1]})
    for work in (
        lambda d: d[d.x > 1],
        lambda d: d.sort_values("f"),
        lambda d: d[d.x > 1].sort_values("x", ascending=False)[["x"]],
        lambda d: d.iloc[[3, 1]],
        lambda d: d.tail(2).assign(z=1),
        lambda d: d.nlargest(2, "f"),
        lambda d: d.drop_duplicates("k"),
        lambda d: d[d.x > 1].reset_index(),
        lambda d: d.reset_index(),
        lambda d: d[d.x > 1].loc[2:3],
        lambda d: d.drop(d[d.x > 1].index),
        lambda d: d.sort_values("f").sort_index(),
        lambda d: d.sort_values("f").loc[[0, 1]],
        lambda d: d[d.x > 1].drop(2),
        lambda d: d.query("x > 1").dropna(),
    ):
        ours, wanted = work(df).to_pandas(), work(theirs)
        pd.testing.assert_frame_equal(ours, wanted, check_dtype=False, check_index_type=False)
    for value in (
        lambda d: d.sort_values("f").loc[2, "x"],
        lambda d: d[d.x > 1].x[2],
        lambda d: d[d.x > 1].index.tolist(),
        lambda d: d[d.x > 1].f.idxmax(),
        lambda d: d[d.x > 1].iloc[0].name,
        lambda d: (d[d.x > 1].x * 2).sort_values().index.tolist(),
        lambda d: d.loc[d[d.x > 1].f.idxmax(), "k"],
        lambda d: [label for label, _ in d[d.x > 1].iterrows()],
    ):
        assert value(df) == value(theirs)
    with pytest.raises(hr.ColumnNotFoundError, match="label=0"):
        df[df.x > 1].loc[0]
    grouped = df.groupby("k").head(1)
    assert grouped.index.to_list() == [0, 1]


def test_16_numbers_cost_nothing_until_they_are_asked_for() -> None:
    frame = hr.DataFrame({"x": range(1000), "y": range(1000)})
    picked = frame[frame.x > 3].sort_values("y", ascending=False).head(10)
    alone = str(hr.DataFrame({"x": picked.x}).x.explain())
    assert "number" not in alone and "cumsum" not in alone
    assert picked.index.to_list() == list(range(999, 989, -1))


def test_17_a_slice_of_labels(df: hr.DataFrame) -> None:
    assert df.set_index("k").loc["a":"b"].index.to_list() == ["b", "a", "b"]
    several = df.set_index(["k", "x"]).loc["a":"b"]
    assert several.index.to_list() == [("b", 1), ("a", None), ("b", 3)]
    hours = hr.DataFrame({"t": [dt.datetime(2024, 3, 5, h) for h in (9, 7)], "x": [1, 2]})
    assert hours.set_index("t").loc["2024-03-05"].x.to_list() == [1, 2]
    assert hours.set_index("t").loc["2024-03-05 08":].x.to_list() == [1]
    with pytest.raises(KeyError, match="a partial date looks like"):
        hours.set_index("t").loc["Mar 2024"]


def test_18_one_row(df: hr.DataFrame) -> None:
    row = df.set_index("k").loc["a"]
    assert math.isnan(row.x) and list(row.keys()) == ["x", "f"] == row.index
    assert len(df.set_index("k").loc["b"]) == 2
    with pytest.raises(KeyError):
        df.set_index("k").loc["z"]


def test_19_values_of_other_rows(df: hr.DataFrame) -> None:
    theirs = df.to_pandas()
    for frame in (df, theirs):
        frame.loc[len(frame)] = ["z", 9, 0.1]
        frame.loc[9, "x"] = 1
    assert df.index.to_list() == theirs.index.tolist() == [0, 1, 2, 3, 4, 9]
    assert df.x.to_list()[-2:] == [9, 1] and df.k.to_list()[-2:] == ["z", None]
    with pytest.raises(hr.InvalidArgumentError, match="other rows"):
        df.loc[df.x > 3, "x"] = df[df.x == 1].x


def test_20_brackets_of_a_series(df: hr.DataFrame) -> None:
    labelled = df.set_index("k").x
    assert (labelled[2], labelled["a"]) == (3, None)
    numbered = hr.DataFrame({"k": [7, 2, 9], "x": [1, 5, 8]}).set_index("k").x
    assert (numbered[2], numbered[[9, 7]].to_list(), numbered[:2].to_list()) == (5, [8, 1], [1, 5])
    with pytest.raises(hr.ColumnNotFoundError, match="label=0"):
        numbered[0]
    assert "a" in labelled and 3 not in labelled and 3 in df.x and 0 not in df.x[df.x > 0]
    assert df.set_index("k").merge(df, on="k")._labels == {}
    both = hr.concat([df.set_index("k"), df.set_index("k")])
    assert both.loc["a"].x.to_list() == [None, None]


def test_21_names(df: hr.DataFrame) -> None:
    assert hr.DataFrame({1: [2], ("x", "y"): [3]})[1].to_list() == [2]
    assert hr.DataFrame({1: [2], ("x", "y"): [3]}).to_csv() == "1,x_y\n2,3\n"
    for call in (lambda: df.rename(columns={"z": "y"}), lambda: df.drop(columns="z")):
        with pytest.raises(hr.ColumnNotFoundError):
            call()
    assert df.rename(columns={"z": "y"}, errors="ignore").columns == df.columns
    assert df.drop(columns="z", errors="ignore").columns == df.columns


def test_22_names_that_are_times_do_not_know_their_level(df: hr.DataFrame) -> None:
    table = df.pivot_table(index="x", columns="k", values="f")
    assert table.columns.name == table.to_pandas().columns.name == "k"
    df["day"] = hr.Timestamp("2024-05-01")
    by_day = {"index": "x", "columns": "day", "values": "f"}
    assert df.to_pandas().pivot_table(**by_day).columns.name == "day"
    assert df.pivot_table(**by_day).columns.name is None
    assert table.drop(columns=list(table.columns)).columns.name is None


def test_23_null_and_nan_are_two_keys() -> None:
    frame = hr.DataFrame({"k": hr.Series([NAN, None, 1.0, None]), "x": [1, 2, 3, 4]})
    got = frame.groupby("k", dropna=False).x.sum().to_list()
    assert len(got) == 3
    assert got[0] == 3
    assert sorted(got[1:]) == [1, 6]


def test_24_labels_of_extremes(df: hr.DataFrame) -> None:
    with pytest.raises(hr.InvalidArgumentError, match="single label level"):
        df.set_index(["k", "f"]).groupby("k").x.idxmax()
    assert df.groupby("k").x.idxmax().to_dict() == {"a": None, "b": 2}
    assert df.groupby("k").corr("x", "f").columns == ["corr"]
    assert df.groupby("k").corr().reset_index().columns == ["k", "level_1", "x", "f"]
    assert df.groupby("k").x.nlargest(2).to_list() == [3, 1]
    assert df.set_index("k").groupby("k").x.nlargest(1).index.names == ["k_", "k"]


def test_25_categories_as_keys() -> None:
    frame = hr.DataFrame({"c": hr.Series(["v", "u", "w"], dtype="category"), "x": [1, 2, 3]})
    frame["c"] = frame.c.cat.set_categories(["w", "v", "u"])
    assert frame[frame.x < 3].groupby("c").x.sum().to_dict() == {"u": 2, "v": 1}
    with pytest.raises(hr.UnsupportedError, match="observed=True"):
        frame.groupby("c", observed=False).x.agg(lambda x: len(x))


def test_26_functions_of_groups(df: hr.DataFrame) -> None:
    groups = df.groupby("k").x
    with hr.strict():
        assert groups.agg(lambda x: x.max() * 2 - x.min()).to_list() == [None, 5]
        with pytest.raises(hr.UnsupportedError, match="per group"):
            groups.agg(lambda x: len(x))
    assert groups.apply(lambda x: len(x)).to_dict() == {"a": 1, "b": 2}
    assert any(op == "apply" for op, _, _ in hr.advice())
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="per group"):
        groups.apply(lambda x: len(x))


def test_27_rolling_of_groups(df: hr.DataFrame) -> None:
    named = df.set_index("k").groupby(level="k").x.rolling(2, min_periods=1).sum()
    assert named.index.names == ["k", None]
    assert named.index.to_list() == [("a", "a"), ("b", "b"), ("b", "b")]
    assert named.to_list() == [None, 1, 4]
    assert df[df.k == "z"].groupby("k").x.rolling(2).sum().to_list() == []
    with pytest.raises(hr.InvalidArgumentError, match="all pairs of groups"):
        df.groupby("k")[["x", "f"]].rolling(2).corr()


def test_28_rows_with_a_missing_key(df: hr.DataFrame) -> None:
    groups = df.groupby("k")
    assert groups.x.transform("sum").to_list() == [4, 0, 4, None]
    assert groups.cumcount().to_list() == [0, 0, 1, None]


def test_29_sorts_are_stable(df: hr.DataFrame) -> None:
    mixed = hr.Series([NAN, 2.0, None, 1.0])
    assert [str(v) for v in mixed.sort_values(ascending=False).to_list()] == [
        *("2.0", "1.0"),
        *("nan", "None"),
    ]
    assert isinstance(mixed.argsort(), hr.Array)


def test_30_windows_have_no_weights(df: hr.DataFrame) -> None:
    with pytest.raises(hr.UnsupportedError, match="no weights"):
        df.x.rolling(2, win_type="hann")
    with pytest.raises(hr.InvalidArgumentError, match="the same columns"):
        df.groupby("k").rolling(2).corr()
    assert df.rolling(2).corr().columns == ["x", "f"]
    assert df.rolling(1).sum().columns == ["x", "f"]


def test_31_semi_and_anti_joins() -> None:
    left, right = hr.DataFrame({"k": [3, 1]}), hr.DataFrame({"k": [2, 1], "y": [5, 6]})
    assert left.merge(right, on="k", how="semi").k.to_list() == [1]
    assert left.merge(right, on="k", how="anti").k.to_list() == [3]


def test_32_concat() -> None:
    made = hr.concat([hr.DataFrame({"b": [1]}), hr.DataFrame({"a": [2]})])
    assert made.to_dict() == {"b": [1, None], "a": [None, 2]}


def test_33_bins_and_pivot_tables() -> None:
    bins = hr.cut(hr.Series([5, 30]), [0, 18, 65])
    assert (bins.dtype, bins.to_list()) == ("category", ["(0, 18]", "(18, 65]"])
    frame = hr.DataFrame({"d": [1, 2], "c": [10, 9], "x": [1.0, None]})
    table = frame.pivot_table(values="x", index="d", columns="c")
    assert table.to_dict() == {10: [1.0]}
    assert [type(each) for each in hr.factorize(["a"])] == [hr.Series, hr.Series]


def test_34_functions_of_values(df: hr.DataFrame) -> None:
    seen: list[object] = []
    df.x.map(lambda v: seen.append(v) or v * 2)
    assert [*seen[:1], *seen[2:]] == [1, 3, 4]
    assert type(seen[0]) is int
    assert isinstance(seen[1], float)


def test_35_dictionaries(df: hr.DataFrame) -> None:
    assert df[["x"]].to_dict() == {"x": [1, None, 3, 4]}
    assert df[["x"]].to_dict("dict") == {"x": {0: 1, 1: None, 2: 3, 3: 4}}
    with pytest.raises(hr.InvalidArgumentError, match="orient"):
        df.to_dict("tight")


def test_36_regular_expressions() -> None:
    texts = hr.Series(["é1", "ab"])
    with pytest.raises(hr.UnsupportedError, match=r"flags=re.ASCII"):
        texts.str.contains(r"\bb").to_list()
    assert hr.Series(["a\n"]).str.contains("a$").to_list() == [False]
    assert texts.str.extract(r"(\d)").columns == [0]
    assert texts.str.contains(r"(.)\1").to_list() == [False, False]
    assert any(op == "contains" for op, _, _ in hr.fallbacks())
    with pytest.raises(hr.InvalidArgumentError, match="RE2"):
        texts.str.contains("(").to_list()


def test_37_lower_and_replace() -> None:
    assert hr.Series(["ΣΑΣ"]).str.lower().to_list() == ["σασ"]
    assert "ΣΑΣ".lower() == "σας"
    assert hr.Series(["a b", "c"]).str.split().dtype == "list[string]"
    assert hr.Series([[1, 2], [3]]).explode().dtype == "int64"
    with pytest.raises(hr.TypeMismatchError):
        hr.Series([[1], "a"])
    groups = hr.DataFrame({"k": [1, 1, 1, 2], "x": ["b", "a", "b", None]}).groupby("k").x
    assert groups.agg(set).to_dict() == {1: ["b", "a"], 2: [None]}
    with pytest.raises(hr.TypeMismatchError, match="type='set'"):
        groups.agg(lambda x: set(x))
    assert hr.Series(["ß"]).str.casefold().to_list() == ["ss"]
    assert any(op == "casefold" for op, _, _ in hr.fallbacks())


def test_38_times_of_day_are_texts() -> None:
    times = hr.to_datetime(["2024-01-01 09:30", "2024-01-02 23:00:00.5"])
    assert times.time.to_list() == ["09:30:00", "23:00:00.500000"]
    assert (times.time > dt.time(22)).to_list() == [False, True]


def test_38_dates(df: hr.DataFrame) -> None:
    days = hr.Series([dt.date(2024, 2, 29)])
    assert days.dtype == "date"
    times = days.astype("datetime64[us]")
    assert times.dt.floor("QS").to_list() == [dt.date(2024, 1, 1)]
    assert times.isin(["2024-02-29"]).to_list() == [True]
    assert times.astype("string").to_list() == ["2024-02-29 00:00:00"]
    assert times.dt.time.to_list() == ["00:00:00"]
    assert (days + pd.DateOffset(months=1)).to_list() == [dt.date(2024, 3, 29)]
    for offset in (pd.offsets.MonthEnd(), pd.DateOffset(day=1)):
        with pytest.raises(hr.TypeMismatchError, match="cannot be added to a column of times"):
            times + offset


def test_39_to_datetime_reads_usual_notations() -> None:
    assert hr.to_datetime(["29/02/2024"]).to_list() == [dt.datetime(2024, 2, 29)]
    with pytest.raises(hr.InvalidArgumentError, match="cannot parse"):
        hr.to_datetime(["29th of February 2024"])
    with pytest.raises(hr.InvalidArgumentError, match="utc=True"):
        hr.to_datetime(["2024-01-01T10:00+01:00", "2024-01-01T10:00+02:00"])
    with pytest.raises(hr.InvalidArgumentError, match=r"row=1, text='29/02/2024'.*format="):
        hr.to_datetime(hr.Series(["2024-02-29", "29/02/2024"])).to_list()


def test_40_queries_are_no_code(df: hr.DataFrame) -> None:
    for text in ("__import__('os')", "x.__class__", "k.str.__init__()", "open('a')", "x.to_list()"):
        with pytest.raises(hr.Error):
            df.query(text)


def test_41_decimals() -> None:
    values = [Decimal("2.50"), None, Decimal("-1.25"), Decimal("2.50")]
    theirs = pd.Series(values, dtype=pd.ArrowDtype(pa.decimal128(9, 2)))
    ours = hr.from_pandas(theirs)
    assert theirs.prod() == Decimal("-7.83")
    assert ours.prod().item() == -7.8125
    keys = [1, 1, 2, 2]
    assert theirs.groupby(keys).mean().to_list() == [Decimal("2.50"), Decimal("0.63")]
    assert hr.DataFrame({"k": keys, "v": ours}).groupby("k").v.mean().to_list() == [2.5, 0.625]
    assert (ours / 2).to_list() == [1.25, None, -0.625, 1.25]
    assert (ours // 2).to_list() == [None if v is pd.NA else v for v in theirs // 2]
    assert ((ours % 2).to_list()[2], (ours**2).to_list()[2]) == (Decimal("0.75"), Decimal("1.5625"))
    with pytest.raises(NotImplementedError):
        theirs % 2


def test_42_products_beyond_the_range_of_floats() -> None:
    values = [0.0] + [8.0] * 2000
    assert pd.Series(values).prod() == 0
    assert math.isnan(hr.Series(values).prod().item())
    assert hr.Series(values[:300]).prod().item() == 0


def test_43_quantiles_beside_an_infinity() -> None:
    for values, q in (([1.0, math.inf], 0.75), ([1.0, math.inf], 1), ([1.0, 2.0, math.inf], 0.75)):
        with np.errstate(invalid="ignore"):
            assert math.isnan(pd.Series(values).quantile(q))
        assert hr.Series(values).quantile(q).item() == math.inf
    assert math.isnan(hr.Series([-math.inf, math.inf]).median().item())


def test_43_several_quantiles() -> None:
    df = hr.DataFrame({"k": ["a", "a"], "i": [1, 3]})
    several = df.groupby("k").i.quantile([0.5, 1])
    assert several.reset_index().to_dict() == {"k": ["a", "a"], "level_1": [0.5, 1], "i": [2, 3]}
    with pytest.raises(hr.InvalidArgumentError, match="there are no values"):
        df.i[:0].quantile(0.5, interpolation="lower").item()


def test_44_lengths_of_time_that_are_none() -> None:
    theirs = pd.Series(pd.to_timedelta(["1 days"]))
    ours, nat = hr.from_pandas(theirs), np.timedelta64("NaT")
    assert (theirs + nat).isna().to_list() == [True]
    with pytest.raises(hr.InvalidArgumentError, match="NaT"):
        ours + nat
    assert (ours + hr.Series([None], dtype="timedelta64[s]")).to_list() == [None]


def test_45_infinities_in_windows() -> None:
    values = [1.0, math.inf, 2.0, 3.0, -math.inf]
    assert hr.Series(values).rolling(2).sum().to_list()[1:] == [math.inf, math.inf, 5.0, -math.inf]
    assert pd.Series(values).rolling(2).sum().isna().tolist() == [True, True, True, False, True]
    assert math.isnan(hr.Series(values).expanding().sum().to_list()[-1])
    assert hr.Series(values).rolling(2).max().to_list()[1:] == [math.inf, math.inf, 3.0, 3.0]


def test_46_sums_of_small_integers() -> None:
    data = {"k": [1, 1], "w": np.array([100, 100], "int16")}
    ours, theirs = hr.DataFrame(data).groupby("k").w.sum(), pd.DataFrame(data).groupby("k").w.sum()
    assert (str(ours.dtype), str(theirs.dtype)) == ("int64", "int16")
    assert ((ours * 300).to_list(), (theirs * 300).to_list()) == ([60_000], [-5_536])


def test_47_spans_of_time() -> None:
    days = hr.date_range("2024-01-31", periods=3)
    assert (days.freq, str(days.dtype)) == (None, "datetime64[us]")
    assert days.dt.to_period("M").to_list() == ["2024-01", "2024-02", "2024-02"]
    assert days.dt.to_period("Q").to_list() == ["2024Q1"] * 3
    assert days.dt.to_period("Q").dt.to_timestamp().to_list() == [dt.datetime(2024, 1, 1)] * 3
    with pytest.raises(hr.TypeMismatchError):
        days.dt.to_period("M") + 1
    assert isinstance(hr.Timestamp("2024-01-31"), dt.datetime)
    frame = hr.DataFrame({"t": days, "x": [1, 2, 4]})
    frame["t"] = frame.t.where(frame.x != 4)
    assert frame.resample("MS", on="t").x.sum().to_list() == [1, 2]
    with pytest.raises(hr.InvalidArgumentError, match="only without groups"):
        frame.groupby("x").resample("D", on="t").ffill()
    with pytest.raises(hr.InvalidArgumentError, match="divide the day"):
        frame.groupby("x").resample("7h", on="t")


def test_48_objects_are_values_of_their_own_dtype() -> None:
    assert hr.Series([1, 2], dtype=object).dtype == "int64"
    assert hr.Series(["a"], dtype="O").astype(object).dtype == "string"
    with pytest.raises(hr.TypeMismatchError):
        hr.Series([1, "a"], dtype=object)


def test_49_files() -> None:
    data = {"x": [1.5, math.nan], "s": ["", None], "t": np.array(["2024-01-05", "NaT"], "M8[us]")}
    frame = hr.DataFrame(data)
    assert frame.to_csv() == 'x,s,t\n1.5,"",2024-01-05 00:00:00\nnan,,\n'
    assert frame.to_csv(index=True).startswith('"",x,s,t\n0,1.5')
    assert pd.DataFrame(data).to_csv(index=False) == "x,s,t\n1.5,,2024-01-05\n,,\n"
    assert hr.read_csv(b"d\n2024-01-05\n").d.dtype == "date"
    content = io.BytesIO()
    halves, times = pd.Series([0.5], dtype="float16"), [dt.time(1, 2)]
    pd.DataFrame({"h": halves, "t": times, "b": [b"a"]}).to_parquet(content)
    read = hr.read_parquet(content.getvalue(), columns=["h", "t"])
    assert (read.h.dtype, read.t.to_list()) == ("float32", [dt.timedelta(hours=1, minutes=2)])
    with pytest.raises(hr.UnsupportedError, match="binary data"):
        hr.read_parquet(content.getvalue())


def test_50_plain_text() -> None:
    data = {"c": pd.Categorical(["a", "b"]), "n": [1.0, None]}
    theirs = pd.DataFrame(data)
    ours = hr.from_pandas(theirs)
    assert theirs.c.to_string() == f"{ours.c.to_string()}\nCategories (2, str): ['a', 'b']"
    assert hr.Series([1, None], dtype="Int64").to_string() == "0      1\n1    NaN"
