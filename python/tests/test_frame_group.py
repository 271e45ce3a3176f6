# SPDX-License-Identifier: Apache-2.0
"""Group-by against pandas."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

AGGREGATES = [
    "sum", "prod", "mean", "min", "max", "var", "std", "count", "first", "last", "median",
    "nunique", "any", "all",
]  # fmt: skip


def columns_of(result: hr.DataFrame) -> dict[str, list[object]]:
    """Python values; NaN as None."""
    return {
        name: [None if isinstance(v, float) and math.isnan(v) else v for v in values]
        for name, values in result.to_dict().items()
    }


def close(ours: object, theirs: object) -> bool:
    missing = theirs is None or theirs is pd.NaT or (isinstance(theirs, float) and theirs != theirs)
    if ours is None or missing:
        return ours is None and missing
    if isinstance(theirs, float) and isinstance(ours, float | int):
        return math.isclose(float(ours), theirs, rel_tol=1e-9, abs_tol=1e-9)
    return bool(ours == theirs)


def frames(keys: dict[str, list[object]], x: list[float | None], y: list[int]) -> tuple:
    ours = hr.DataFrame({**keys, "x": hr.Series(x, dtype="float64"), "y": y})
    theirs = pd.DataFrame(
        {
            **{k: pd.Series(v, dtype=object) for k, v in keys.items()},
            "x": np.array(x, float),
            "y": y,
        }
    )
    return ours, theirs


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 9)), max_size=30),
    st.integers(-3, 3),
)
def test_shift_inside_of_groups_is_that_of_pandas(rows: list, periods: int) -> None:
    columns = {name: [row[i] for row in rows] for i, name in enumerate("ksx")}
    theirs = pd.DataFrame(columns)
    ours = hr.DataFrame(
        {
            "k": np.array(columns["k"], "i8"),
            "s": hr.Series(columns["s"], dtype="string"),
            "x": np.array(columns["x"], "i8"),
        }
    )
    for by in ("k", ["s", "k"]):
        wanted = [None if v != v else v for v in theirs.groupby(by).x.shift(periods)]
        assert ours.groupby(by).x.shift(periods).to_list() == wanted
    kept = ours[ours.x > 3]
    kept["before"] = kept.groupby("k").x.shift(periods)
    left = theirs[theirs.x > 3]
    wanted = [None if v != v else v for v in left.groupby("k").x.shift(periods)]
    assert kept.before.to_list() == wanted


def test_shift_of_missing_keys() -> None:
    ours = hr.DataFrame({"k": [1.0, None, 1.0, None], "x": [1, 2, 3, 4]})
    assert ours.groupby("k").x.shift().to_list() == [None, None, 1, None]
    assert ours.groupby("k", dropna=False).x.shift().to_list() == [None, None, 1, 2]
    assert ours.groupby("k")[["x"]].shift(-1).to_dict() == {"x": [3, None, None, None]}


def same(ours: hr.DataFrame, theirs: pd.DataFrame, keys: list[str]) -> None:
    ours = ours.reset_index() if ours._labels else ours
    ours_values = columns_of(ours)
    theirs = theirs.reset_index()
    assert ours.columns == list(theirs.columns)
    for name in theirs.columns:
        expected = theirs[name].tolist()
        assert len(ours_values[name]) == len(expected), name
        for a, b in zip(ours_values[name], expected, strict=True):
            assert close(a, b), (name, ours_values[name], expected)


KEYS = st.sampled_from(["a", "b", "long enough to lie outside", "", None])
ROWS = st.lists(
    st.tuples(
        KEYS,
        st.integers(-3, 3),
        st.sampled_from([0.0, 1.5, -2.25, 1e6, float("nan"), None]),
        st.integers(-5, 5),
    ),
    max_size=40,
)


@given(ROWS, st.booleans(), st.booleans(), st.sampled_from(AGGREGATES))
def test_equals_pandas(rows: list[tuple], sort: bool, dropna: bool, aggregate: str) -> None:
    if not rows:
        return
    name, number, x, y = (list(column) for column in zip(*rows, strict=True))
    ours, theirs = frames({"name": name, "number": number}, x, y)
    for by in (["name"], ["number"], ["name", "number"]):
        got = ours.groupby(by, sort=sort, dropna=dropna)[["x", "y"]].agg(aggregate)
        grouped = theirs.groupby(by, sort=sort, dropna=dropna)[["x", "y"]]
        want = grouped.any() if aggregate == "any" else grouped.agg(aggregate)
        if aggregate in ("any", "all"):  # pandas takes NaN as true
            skip = theirs.assign(x=theirs.x.fillna(0.0 if aggregate == "any" else 1.0))
            want = skip.groupby(by, sort=sort, dropna=dropna)[["x", "y"]].agg(aggregate)
        same(got, want, by)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(allow_nan=True)), min_size=1, max_size=30))
def test_float_keys(rows: list[tuple[int, float]]) -> None:
    y, key = [r[0] for r in rows], [r[1] for r in rows]
    ours = hr.DataFrame({"k": key, "y": y})
    theirs = pd.DataFrame({"k": key, "y": y})
    for dropna in (True, False):
        got = ours.groupby("k", dropna=dropna).y.sum().reset_index()
        same(got, theirs.groupby("k", dropna=dropna)[["y"]].sum(), ["k"])


def test_the_forms() -> None:
    df = hr.DataFrame({"id": [2, 1, 2], "x": [1.0, 5.0, 3.0], "y": [1, 2, 3]})
    expected = {"id": [1, 2], "x": [5.0, 2.0]}
    for result in (
        df.groupby("id").x.mean(),
        df.groupby("id")["x"].mean(),
        df.groupby("id")[["x"]].mean(),
        df.x.groupby(df.id).mean(),
        df.groupby(df.id).x.mean(),
        df.groupby(["id"]).agg({"x": "mean"}),
        df.groupby("id").agg(x=("x", "mean")),
        df.groupby("id").x.agg("mean"),
    ):
        assert result.reset_index().to_dict() == expected
    assert df.groupby("id").agg({"x": ["min", "max"], "y": "sum"}).reset_index().to_dict() == {
        ("id", ""): [1, 2],
        ("x", "min"): [5.0, 1.0],
        ("x", "max"): [5.0, 3.0],
        ("y", "sum"): [2, 4],
    }
    assert df.groupby("id").x.agg(["sum", "count"]).to_dict() == {
        "sum": [5.0, 4.0],
        "count": [1, 2],
    }
    assert df.groupby("id").agg(["sum"]).columns == [("x", "sum"), ("y", "sum")]
    assert df.groupby("id").size().reset_index().to_dict() == {"id": [1, 2], 0: [1, 2]}
    assert df.groupby(df.y > 1).x.sum().reset_index().to_dict() == {
        "y": [False, True],
        "x": [1.0, 8.0],
    }
    assert df.groupby("id").id.count().to_dict() == {1: 1, 2: 2}
    assert df.groupby("id", sort=False).x.sum().reset_index().to_dict() == {
        "id": [2, 1],
        "x": [4.0, 5.0],
    }
    assert df.groupby("id").x.quantile(0.25).to_list() == [5.0, 1.5]
    assert df.groupby("id").x.idxmax().to_list() == [1, 2]
    assert df.groupby("id").x.sum(min_count=2).to_list() == [None, 4.0]


def test_series_with_keys() -> None:
    df = hr.DataFrame({"a": [2, 1, 2], "b": ["x", "y", "x"], "v": [1.0, 5.0, 3.0]})
    one = df.groupby("a").v.sum()
    assert one.name == "v"
    assert one.index.to_list() == [1, 2]
    assert (one * 2).to_list() == [10.0, 8.0]
    two = df.groupby(["a", "b"]).v.sum()
    assert two.to_dict() == {(1, "y"): 5.0, (2, "x"): 4.0}
    assert two.index.names == ["a", "b"]
    assert one.to_pandas().to_dict() == {1: 5.0, 2: 4.0}
    assert "a" in repr(one)
    assert "table" in one._repr_html_()


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(1, 4))
def test_top(rows: list[tuple], n: int) -> None:
    if not rows:
        return
    _, number, x, y = (list(column) for column in zip(*rows, strict=True))
    ours, theirs = frames({"number": number}, x, y)
    for name in ("x", "y"):
        for least in (False, True):
            got = ours.groupby("number")[name]
            got = got.nsmallest(n) if least else got.nlargest(n)
            want = theirs.dropna(subset=[name]).groupby("number")[name]
            want = want.nsmallest(n) if least else want.nlargest(n)
            if len(want):
                assert got.index.tolist() == want.index.tolist()
                same(got.droplevel(1).reset_index(), want.droplevel(1).to_frame(), ["number"])


TOPS = {
    "rows": lambda d: d.groupby("k").n.nlargest(2),
    "smallest": lambda d: d.groupby("k").n.nsmallest(2),
    "first seen": lambda d: d.groupby("k", sort=False).n.nlargest(2),
    "no keys": lambda d: d.groupby("k", group_keys=False).n.nlargest(2),
    "labels": lambda d: d.set_index("x").groupby("k").n.nlargest(2),
    "filtered": lambda d: d[d.n > 1].groupby("k").n.nlargest(1),
    "sorted": lambda d: d.sort_values("n").groupby("k").n.nlargest(2),
    "two keys": lambda d: d.groupby(["k", "n"]).x.nlargest(1),
    "without rows": lambda d: d.groupby("k").n.nlargest(2).droplevel(1),
    "of sums": lambda d: d.groupby(["k", "n"]).n.sum().groupby(level=0).nlargest(1).droplevel(0),
}


@pytest.mark.parametrize("name", TOPS)
def test_top_keeps_the_labels_of_rows(name: str) -> None:
    keys = ["b", "a", "b", "b", None, "a", "c"]
    data = {"k": keys, "x": [1.5, 2, 1, 4, 6, 3, 5], "n": [3, 3, 1, 2, 2, 1, 1]}
    got, want = TOPS[name](hr.DataFrame(data)), TOPS[name](pd.DataFrame(data))
    assert got.index.names == list(want.index.names)
    assert list(got.items()) == list(want.items())


def test_transform() -> None:
    df = hr.DataFrame({"id": [2, None, 1, 2], "x": [1.0, 2.0, 5.0, 3.0]})
    assert df.groupby("id").x.transform("mean").to_list() == [2.0, None, 5.0, 2.0]
    assert df.groupby("id", dropna=False).x.transform("sum").to_list() == [4.0, 2.0, 5.0, 4.0]
    df["share"] = df.x / df.groupby("id").x.transform("sum")
    assert df.share.to_list() == [0.25, None, 1.0, 0.75]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["b", "a", None]),
            st.none() | st.integers(-20, 20).map(lambda i: i / 4),
            st.integers(-5, 5),
            st.booleans(),
        ),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([("corr", {}), ("cov", {}), ("cov", {"ddof": 0})]),
)
def test_matrices_of_groups(rows: list[Any], asked: tuple[str, dict[str, int]]) -> None:
    kind, options = asked
    names = ["k", "x", "i", "b"]
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    if options:  # pandas has ddof=1 where values are missing
        columns["x"] = [x or 0 for x in columns["x"]]
    ours = hr.DataFrame(
        {n: hr.Series(columns[n], dtype=d) for n, d in zip(names[:2], ("string", "float64"))}
        | {n: columns[n] for n in names[2:]}
    )
    theirs = pd.DataFrame({**columns, "x": np.array(columns["x"], float)})
    if theirs.k.isna().all():
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of too few rows
        wanted = getattr(theirs.groupby("k"), kind)(**options).reset_index()
    got = getattr(ours.groupby("k"), kind)(**options).reset_index()
    assert got.columns == list(wanted.columns) == ["k", "level_1", "x", "i", "b"]
    assert (got.k.to_list(), got.level_1.to_list()) == (wanted.k.tolist(), wanted.level_1.tolist())
    for name in names[1:]:
        values = np.array(got[name].to_list(), float)
        np.testing.assert_allclose(values, wanted[name].to_numpy(), rtol=1e-9, atol=1e-9)


def test_matrices_of_groups_are_labelled() -> None:
    df = hr.DataFrame({"k": [1, 1, 1], "x": [1.0, 2.0, 4.0], "t": ["a", "b", "c"]})
    assert df.groupby("k").cov(numeric_only=True).x.to_dict() == {(1, "x"): pytest.approx(7 / 3)}
    with pytest.raises(hr.TypeMismatchError, match="corr does not support these columns"):
        df.groupby("k")[["t"]].corr()
    with pytest.raises(hr.TypeMismatchError, match=r"cov does not support these columns.*'t'"):
        df.groupby("k").cov()
    assert df[:0].groupby("k").corr(numeric_only=True).x.to_list() == []


def test_correlation() -> None:
    random = np.random.default_rng(0)
    k, x = random.integers(0, 5, 1000), random.standard_normal(1000)
    y = x + random.standard_normal(1000)
    x[::7] = np.nan
    got = hr.DataFrame({"k": k, "x": x, "y": y}).groupby("k").corr("x", "y")["corr"].to_list()
    theirs = pd.DataFrame({"k": k, "x": x, "y": y}).groupby("k")[["x", "y"]]
    np.testing.assert_allclose(got, theirs.apply(lambda g: g.x.corr(g.y)).to_numpy())


@pytest.mark.parametrize("constant", [0.1, 0.3, 7.7, 1e5 / 3])
@pytest.mark.parametrize("rows", [3, 7, 1000, 200_003])
def test_equal_values_do_not_vary(constant: float, rows: int) -> None:
    df = hr.DataFrame({"g": [0] * rows, "x": constant, "y": np.arange(float(rows))})
    assert df.groupby("g").x.var().to_list() == df.groupby("g").x.std().to_list() == [0]
    assert df.groupby("g").corr("x", "y")["corr"].to_list() == [None]
    assert df.groupby("g").corr("y", "x")["corr"].to_list() == [None]


def test_variance_of_what_is_nearly_equal_stays() -> None:
    x = np.full(1000, 7.7)
    x[0] = np.nextafter(x[0], 8)
    df = hr.DataFrame({"g": [0] * 1000, "x": x, "y": x})
    assert df.groupby("g").x.var().to_list()[0] == pytest.approx(np.spacing(7.7) ** 2 / 1000)
    assert df.groupby("g").corr("x", "y")["corr"].to_list()[0] == pytest.approx(1)


def test_categories_dates_and_times() -> None:
    kind = hr.Series(["low", "high", "low", None], dtype="category")
    day = np.array(["2024-01-02", "2024-01-01", "2024-01-01", "NaT"], "datetime64[us]")
    df = hr.DataFrame({"kind": kind, "day": day, "x": [1, 2, 3, 4]})
    assert df.groupby("kind").x.sum().to_dict() == {"high": 2, "low": 4}
    assert df.groupby("x", sort=False).kind.max().to_list() == ["low", "high", "low", None]
    assert df.groupby(hr.Series([1, 1, 1, 1])).kind.min().to_list() == ["high"]
    got = df.groupby("day").agg(x=("x", "sum"), kind=("kind", "first"))
    assert got.x.to_list() == [5, 1]
    assert got.kind.to_list() == ["high", "low"]
    assert df.groupby("kind").day.max().to_list() == [day[1].item(), day[0].item()]


def test_distinct() -> None:
    s = hr.Series(["b", "a", "b", None, "a"], name="s")
    assert s.unique().to_list() == ["b", "a", None]
    assert int(s.nunique()) == 2
    assert int(s.nunique(dropna=False)) == 3
    counts = s.value_counts()
    assert counts.to_dict() == {"b": 2, "a": 2}
    assert counts.name == "count"
    assert s.value_counts(dropna=False, sort=False).to_dict() == {"b": 2, "a": 2, None: 1}
    df = hr.DataFrame({"s": s, "x": [1, 2, 1, 4, 5]})
    assert df.drop_duplicates().x.to_list() == [1, 2, 4, 5]
    assert df.drop_duplicates("s").x.to_list() == [1, 2, 4]


def test_empty() -> None:
    df = hr.DataFrame({"k": [1, 2], "x": [1.0, 2.0]})
    none = df[df.k > 5]
    assert none.groupby("k").agg(["sum", "mean", "median", "first"]).to_dict() == {
        ("x", "sum"): [],
        ("x", "mean"): [],
        ("x", "median"): [],
        ("x", "first"): [],
    }


def test_errors_name_the_fault() -> None:
    df = hr.DataFrame({"key": [1, 2], "name": ["a", "b"], "x": [1.0, 2.0]})
    with pytest.raises(hr.ColumnNotFoundError, match="did you mean"):
        df.groupby("keyy")
    with pytest.raises(hr.ColumnNotFoundError, match="did you mean"):
        df.groupby("key")["nameq"]
    with pytest.raises(hr.TypeMismatchError, match="mean"):
        df.groupby("key").name.mean()
    with pytest.raises(hr.InvalidArgumentError, match="no such aggregate"):
        df.groupby("key").x.agg("average")
    with pytest.raises(hr.InvalidArgumentError, match="expected=2, got=3"):
        df.groupby(hr.Series([1, 2, 3])).x.sum()
    for keys in (hr.Series([1, 2, 3, 4, 5]), hr.Series([1])):
        with pytest.raises(hr.InvalidArgumentError, match=r"does not match the frame.*expected="):
            df.groupby(keys).size()
    with pytest.raises(hr.InvalidArgumentError):
        df.groupby([])
    with pytest.raises(hr.InvalidArgumentError, match="has the name of the labels"):
        df.groupby("key").agg(key=("x", "sum")).reset_index()
    with pytest.raises(hr.InvalidArgumentError, match=r"duplicate key name: name='x'.*rename"):
        df.groupby([df.x % 2, df.x // 2])


def test_only_what_is_wanted_runs() -> None:
    df = hr.scan_csv(b"k,x,y\n1,2,3\n1,4,5\n")
    result = df.groupby("k").agg(["sum", "max"])
    assert result["x"]["sum"].to_list() == [6]


def many(rows: int) -> hr.DataFrame:
    random = np.random.default_rng(2)
    return hr.DataFrame(
        {
            "few": random.integers(0, 50, rows),
            "many": random.integers(0, rows, rows) * 0x9E3779B97F4A7C1,
            "x": random.standard_normal(rows) * 10.0 ** random.integers(-9, 9, rows),
        }
    )


def bits(result: hr.DataFrame) -> list[bytes]:
    return [result[name].to_numpy().tobytes() for name in result.columns]


def test_same_bits_for_any_threads() -> None:
    df = many(400_000)
    for key in ("few", "many"):
        found = []
        for threads in (1, 2, 4):
            with hr.threads(threads):
                found.append(bits(df.groupby(key).x.agg(["sum", "mean", "std", "median"])))
        assert found[0] == found[1] == found[2]


@pytest.mark.pool
def test_more_than_the_limit() -> None:
    df = many(3_000_000)
    hr.eval(df.few, df.many, df.x)
    before = bits(df.groupby("many").x.agg(["sum", "count"]))
    start = hr.memory.spill().written_bytes
    base = hr.memory.stats().used_bytes
    with hr.memory.limit(base + 40_000_000):
        result = df.groupby("many").x.agg(["sum", "count"])
        hr.eval(*[result[name] for name in result.columns])
        assert hr.memory.spill().written_bytes > start
        after = bits(result)
    assert after == before


def test_distinct_values_and_medians_of_one_column_in_one_walk() -> None:
    frame = hr.DataFrame({"k": [1] * 8, "x": [-55.0, -82.0, -26.0, -37.0] * 2})
    made = frame.groupby("k").agg(n=("x", "nunique"), middle=("x", "median")).to_dict()
    assert (made["n"], made["middle"]) == ([4], [-46.0])


def test_aggregates_of_the_same_groups_go_together() -> None:
    df = hr.DataFrame({"k": [2, 1, 2, None], "x": [1, 5, 3, 9], "y": [0.5, 0.5, 1.5, 9.0]})
    shares = df.groupby("k").x.sum() / df.groupby("k").x.count()
    assert shares.to_dict() == {1: 5.0, 2: 2.0}
    made = hr.DataFrame({"sum": df.groupby("k").x.sum(), "n": df.groupby("k").y.count()})
    assert made[made["n"] > 1].to_dict() == {"sum": [4], "n": [2]}
    for other in (df.groupby("x").x.sum(), df.groupby("k", sort=False).x.sum()):
        with pytest.raises(hr.InvalidArgumentError, match="different rows"):
            shares + other
    with pytest.raises(hr.InvalidArgumentError, match="different rows"):
        shares + df.groupby("k", dropna=False).x.sum()


def test_keys_of_labels_and_values() -> None:
    df = hr.DataFrame({"a": [1, 1, 2, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    assert df.groupby(lambda row: row % 2).x.sum().to_list() == [4.0, 6.0]
    assert df.groupby({0: "p", 1: "q", 2: "p", 3: "q"}).x.sum().to_list() == [4.0, 6.0]
    assert df.groupby([1, 1, 2, 1]).x.sum().to_list() == [7.0, 3.0]
    assert df.x.groupby([1, 1, 2, 1]).sum().to_list() == [7.0, 3.0]
    assert df.groupby(hr.Grouper(key="a")).x.sum().to_dict() == {1: 3.0, 2: 7.0}
    assert df.set_index("a").x.groupby({1: "p", 2: "q"}).sum().to_list() == [3.0, 7.0]
    assert df[df.x > 1].groupby(lambda row: row % 2).x.sum().to_dict() == {0: 3.0, 1: 6.0}


def test_a_label_slice_with_a_step() -> None:
    df = hr.DataFrame({"x": range(10)})
    assert df.loc[1::4].x.to_list() == [1, 5, 9]
    assert df.loc[2:7:3].x.to_list() == [2, 5]
    assert df.loc[::4].x.to_list() == [0, 4, 8]
    df.loc[1::4, "x"] = -1
    assert df.x.to_list() == [0, -1, 2, 3, 4, -1, 6, 7, 8, -1]


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("dropna", [True, False])
@pytest.mark.parametrize(
    "words", [{}, {"normalize": True}, {"ascending": True}, {"dropna": False}, {"sort": False}]
)
def test_value_counts_of_groups(words: dict[str, Any], dropna: bool, sort: bool) -> None:
    data = {"k": ["b", "a", "b", "a", "b", None], "v": [1, 2, 1, None, 3, 4]}
    ours = hr.DataFrame(data).groupby("k", dropna=dropna, sort=sort).v.value_counts(**words)
    theirs = pd.DataFrame(data).groupby("k", dropna=dropna, sort=sort).v.value_counts(**words)
    assert ours.to_list() == theirs.to_list()
    found = ours.reset_index()
    for name in ("k", "v"):
        wanted = theirs.reset_index()[name]
        assert found[name].to_list() == [None if pd.isna(v) else v for v in wanted]


def test_rows_of_groups() -> None:
    df = hr.DataFrame({"k": ["b", "a", "b", None], "v": [4, 5, 6, 7]})
    assert {k: v.to_list() for k, v in df.groupby("k").groups.items()} == {"a": [1], "b": [0, 2]}
    assert df.groupby("k").indices["b"].tolist() == [0, 2]
    labelled = df.set_index("v").groupby("k").groups
    assert {k: v.to_list() for k, v in labelled.items()} == {"a": [5], "b": [4, 6]}
    assert df[:0].groupby("k").groups == {}


@pytest.mark.parametrize("name", ["sum", "mean", "median", "min", "first", "last", "any", "all"])
def test_groups_with_missing_values(name: str) -> None:
    data = {"k": [1, 1, 1, 2, 2, 3], "v": [3.0, None, 1.0, None, 3.0, None]}
    ours, theirs = hr.DataFrame(data).groupby("k").v, pd.DataFrame(data).groupby("k").v
    for words in (
        {},
        {"skipna": False},
        {"min_count": 2} if name in ("sum", "min", "last") else {},
    ):
        found = getattr(ours, name)(**words).to_list()
        wanted = getattr(theirs, name)(**words).tolist()
        assert found == [None if v != v else v for v in wanted] or (
            [None if v is None or v != v else v for v in found]
            == [None if v != v else v for v in wanted]
        )


@pytest.mark.parametrize("method", ["average", "min", "max", "first", "dense"])
@pytest.mark.parametrize("na_option", ["keep", "top", "bottom"])
@pytest.mark.parametrize("pct", [True, False])
def test_ranks_of_missing_values(method: Any, na_option: Any, pct: bool) -> None:
    data = {"k": [1, 1, 1, 2, 2, 2, 1], "v": [3.0, None, 1.0, 3.0, None, 2.0, 5.0]}
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    words = {"method": method, "na_option": na_option, "pct": pct, "ascending": False}
    for found, wanted in (
        (ours.v.rank(**words), theirs.v.rank(**words)),
        (ours.groupby("k").v.rank(**words), theirs.groupby("k").v.rank(**words)),
    ):
        np.testing.assert_allclose(found.to_pandas().astype(float), wanted)


def test_options_of_aggregates() -> None:
    df = hr.DataFrame({"k": [1, 1, 2], "v": [1.0, 2.0, 4.0]})
    groups = df.groupby("k").v
    assert groups.agg("var", ddof=0).to_list() == [0.25, 0.0]
    assert groups.agg(lambda v, by: v.max() * by, by=3).to_list() == [6.0, 12.0]
    assert groups.transform(lambda v, by: v * by, 2).to_list() == [2.0, 4.0, 8.0]
    assert groups.agg("shift").to_list() == [None, 1.0, None]
    assert groups.transform("shift", -1).to_list() == [2.0, None, None]


def test_transform_with_options_and_truth() -> None:
    data = {"k": [2, 1, 2, None], "v": [1.0, 5.0, 2.0, 7.0], "s": ["a", "", "b", "c"]}
    ours, theirs = hr.DataFrame(data).groupby("k"), pd.DataFrame(data).groupby("k")
    found = ours.v.transform("quantile", 0.25).to_list()
    assert found[:3] == theirs.v.transform("quantile", 0.25).to_list()[:3]
    assert found[3] is None
    assert ours.transform("size").to_list()[:3] == [2, 1, 2]
    texts = hr.DataFrame(data).astype({"s": "category"}).groupby("k").s
    for made in (ours.s, texts):
        assert made.all().to_list() == theirs.s.all().to_list()
        assert made.any().to_list() == theirs.s.any().to_list()


def test_frames_fill_up_to_a_limit() -> None:
    data = {"x": [None, 1.0, None, None, 4.0, None], "y": [1.0, None, None, 4.0, None, None]}
    for name, words in (
        ("ffill", {"limit": 1}),
        ("bfill", {"limit_area": "inside"}),
        ("interpolate", {"limit": 1, "limit_direction": "both"}),
    ):
        ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
        found, wanted = getattr(ours, name)(**words), getattr(theirs, name)(**words)
        np.testing.assert_array_equal(found.to_pandas().astype(float), wanted)
        assert getattr(ours, name)(inplace=True, **words) is None
        np.testing.assert_array_equal(ours.to_pandas().astype(float), wanted)


@pytest.mark.parametrize("name", [None, "value"])
def test_results_of_a_series_have_its_name(name: str | None) -> None:
    days = hr.date_range("2024-01-01", periods=3)
    groups = hr.Series([1, 2, 3], name=name).groupby([1, 1, 2])
    spans = hr.Series([1, 2, 3], days, name=name).resample("2D")
    for made in (
        *(getattr(groups, how)() for how in ("sum", "cumsum", "shift", "head", "nunique")),
        *(groups.agg("sum"), groups.transform("sum"), groups.apply(lambda part: part.head(1))),
        *(spans.sum(), spans.nearest(), spans.interpolate(), spans.transform("sum")),
        *(part for _, part in (*groups, *spans)),
    ):
        assert made.name == name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("keys", ["k", ["k", "j"]])
@pytest.mark.parametrize(
    "words",
    [{}, {"dropna": False}, {"normalize": True}, {"sort": False}, {"ascending": True}],
)
def test_counting_in_bins(keys: Any, words: dict[str, Any]) -> None:
    values = [1.0, 1.0, 2.0, 5.0, 9.0, np.nan]
    theirs = pd.DataFrame({"k": list("xyxyxz"), "j": [1, 1, 2, 2, 1, 1], "x": values})
    ours = hr.DataFrame(theirs).groupby(keys).x.value_counts(bins=[0, 2, 5], **words)
    wanted = theirs.groupby(keys).x.value_counts(bins=[0, 2, 5], **words)
    assert list(ours.to_dict().items()) == [
        ((*label[:-1], str(label[-1])), value) for label, value in wanted.items()
    ]
    assert ours.name == wanted.name and ours.index.names == list(wanted.index.names)


def test_bins_of_several_columns_raise() -> None:
    with pytest.raises(ValueError, match="one column"):
        hr.DataFrame({"k": [1], "x": [1], "y": [2]}).groupby("k").value_counts(bins=[0, 2])


@pytest.mark.parametrize("kind", ["determined", "last row", "negative zero", "nulls"])
@pytest.mark.parametrize("groups", [10, 2000])
@pytest.mark.parametrize("rows", [1023, 1024, 5000, 140_000])
def test_keys_that_another_key_determines(rows: int, groups: int, kind: str) -> None:
    rng = np.random.default_rng(rows)
    key = rng.integers(-5, groups - 5, rows)
    names = np.array([f"a customer's name, {i * 7919 % groups}" for i in range(groups)], object)
    frame = pd.DataFrame({"k": key, "s": names[key], "d": (np.arange(groups) * 0.5)[key]})
    frame["x"] = rng.random(rows)
    if kind == "last row":
        frame.loc[rows - 1, "s"] = "another"
    elif kind == "negative zero":
        frame.loc[(frame.d == 0) & (frame.x < 0.5), "d"] = -0.0
    elif kind == "nulls":
        frame.loc[frame.d == 1, "s"] = None
    for by in (["k", "s"], ["s", "d", "k"]):
        for sort in (True, False):
            aggregates = {"t": ("x", "sum"), "n": ("x", "size"), "m": ("x", "max")}
            wanted = frame.groupby(by, sort=sort, as_index=False, dropna=False).agg(**aggregates)
            made = hr.from_pandas(frame).groupby(by, sort=sort, as_index=False, dropna=False)
            got = made.agg(**aggregates).to_pandas()
            pd.testing.assert_frame_equal(got, wanted, check_dtype=False)
