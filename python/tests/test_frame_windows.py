# SPDX-License-Identifier: Apache-2.0
"""Windows over rows and within groups, against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

AGGREGATES = ("sum", "mean", "min", "max", "var", "std", "median", "count")
NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, -3.25, 1e6, float("nan")]))
KEYS = st.sampled_from(["a", "b", "c", None])


def plain(values: Any) -> list[Any]:
    """Without NaN, rounded as sums in another order need it."""
    return [None if v is None or v != v else pytest.approx(v, rel=1e-9, abs=1e-6) for v in values]


@given(st.lists(NUMBERS, max_size=70), st.integers(1, 80), st.integers(0, 80), st.booleans())
def test_rolling_is_that_of_pandas(values: list[Any], window: int, few: int, center: bool) -> None:
    few = min(few, window)
    ours = hr.Series(values, dtype="float64").rolling(window, min_periods=few, center=center)
    theirs = pd.Series(values, dtype="float64").rolling(window, min_periods=few, center=center)
    for name in AGGREGATES:
        assert getattr(ours, name)().to_list() == plain(getattr(theirs, name)()), name


@given(st.lists(st.tuples(KEYS, NUMBERS), max_size=70), st.integers(1, 5), st.booleans())
def test_rolling_within_groups_is_that_of_pandas(
    rows: list[Any], window: int, center: bool
) -> None:
    data = {"k": [k for k, _ in rows], "x": [x for _, x in rows]}
    ours = hr.DataFrame(
        {"k": hr.Series(data["k"], dtype="string"), "x": hr.Series(data["x"], dtype="float64")}
    )
    theirs = pd.DataFrame(data).astype({"k": "str", "x": "float64"})
    if all(k is None for k, _ in rows):
        assert ours.groupby("k").x.rolling(window).sum().to_list() == []
        return
    for name in ("sum", "std", "min", "median"):
        got = getattr(ours.groupby("k").x.rolling(window, 1, center), name)().to_list()
        grouped = theirs.groupby("k").x.rolling(window, 1, center)
        assert got == plain(getattr(grouped, name)()), name


@given(st.lists(st.tuples(KEYS, st.one_of(st.none(), st.integers(-5, 5))), max_size=70))
def test_running_results_and_ranks_within_groups(rows: list[Any]) -> None:
    k, x = [k for k, _ in rows], [x for _, x in rows]
    ours = hr.DataFrame({"k": hr.Series(k, dtype="string"), "x": hr.Series(x, dtype="int64")})
    theirs = pd.DataFrame({"k": pd.Series(k, dtype="str"), "x": pd.Series(x, dtype="float64")})
    for name in ("cumsum", "cumprod", "cummin", "cummax", "diff", "shift"):
        wanted = getattr(theirs.groupby("k").x, name)()
        got = getattr(ours.groupby("k").x, name)().to_list()
        if name.startswith("cum"):  # pandas loses the key's rows to NaN, we do too
            wanted = wanted.where(theirs.k.notna())
        assert got == plain(wanted), name
        assert ours.groupby("k").x.transform(name).to_list() == got
    for method in ("average", "min", "max", "first", "dense"):
        for ascending in (True, False):
            wanted = theirs.groupby("k").x.rank(method=method, ascending=ascending)
            got = ours.groupby("k").x.rank(method, ascending).to_list()
            assert got == plain(wanted), (method, ascending)
    places = theirs.groupby("k").cumcount().where(theirs.k.notna())
    assert ours.groupby("k").cumcount().to_list() == plain(places)


OF_GROUPS = {
    "series": lambda f: f.groupby("k").x.rolling(2).sum(),
    "frame": lambda f: f.drop(columns="t").groupby("k").rolling(2).sum(),
    "two keys": lambda f: f.groupby(["k", "g"])[["x", "y"]].rolling(2, min_periods=1).sum(),
    "first order": lambda f: f.groupby("k", sort=False).x.rolling(2, min_periods=1).mean(),
    "center": lambda f: f.groupby("k").x.rolling(3, center=True, min_periods=1).max(),
    "expanding": lambda f: f.groupby("k").x.expanding().agg(["sum", "mean"]),
    "ewm": lambda f: f.groupby("k")[["x", "y"]].ewm(alpha=0.5).mean(),
    "list": lambda f: f.groupby("k").x.rolling(2).agg(["sum", "mean"]),
    "lists": lambda f: f.groupby("k")[["x", "y"]].rolling(2).agg(["sum", "mean"]),
    "dict": lambda f: f.groupby("k").rolling(2).agg({"x": "sum", "y": "max"}),
    "dict of lists": lambda f: f.groupby("k").rolling(2).agg({"x": ["sum", "min"], "y": ["max"]}),
    "apply": lambda f: f.groupby("k").x.rolling(2).apply(lambda v: v[0] - v[1] * 2, raw=True),
    "columns": lambda f: f.groupby("k", as_index=False)[["x", "y"]].rolling(2).sum(),
    "one column": lambda f: f.groupby("k", as_index=False).x.rolling(2, min_periods=1).sum(),
    "selected later": lambda f: f.groupby("k", as_index=False).rolling(2).x.sum(),
    "list of columns": lambda f: f.groupby("k", as_index=False).x.rolling(2).agg(["sum", "max"]),
    "labels": lambda f: f.set_index("y").groupby("k").x.rolling(2).sum(),
    "levels": lambda f: f.set_index(["g", "y"]).groupby("k").x.rolling(2).sum(),
    "filtered": lambda f: f[f.x > 1].groupby("k").x.rolling(2, min_periods=1).sum(),
    "by a series": lambda f: f.x.groupby(f.x > 2).rolling(2).sum(),
    "times": lambda f: f.groupby("k").rolling("3D", on="t").sum(),
    "times of a column": lambda f: f.groupby("k").rolling("3D", on="t").x.sum(),
    "times of columns": lambda f: f.groupby("k").rolling("3D", on="t")[["x", "y"]].sum(),
    "times of lists": lambda f: f.groupby("k").rolling("3D", on="t").x.agg(["sum", "max"]),
    "time labels": lambda f: f.set_index("t").groupby("k").x.rolling("3D").agg(["sum", "max"]),
    "selected": lambda f: f.groupby("k").x.rolling(2, min_periods=1).sum().loc["a"],
    "unstacked": lambda f: f.groupby("k").x.rolling(2, min_periods=1).sum().unstack(0),
    "as columns": lambda f: f.groupby("k").x.rolling(2, min_periods=1).sum().reset_index(),
    "assigned": lambda f: f.assign(
        r=f.groupby("k").x.rolling(2).sum().reset_index(level=0, drop=True)
    ),
    "row numbers": lambda f: (
        f.groupby("k").x.expanding().sum().reset_index(level=0, drop=True).reset_index()
    ),
    "dropped level": lambda f: f.assign(r=f.groupby("k").x.expanding().sum().droplevel(0)),
}


@pytest.mark.parametrize("name", OF_GROUPS)
def test_labels_of_windows_of_groups(name: str) -> None:
    data = {
        "k": ["b", "a", "b", None, "a", "b"],
        "g": [1, 1, 2, 1, 1, 2],
        "x": [1.0, 2.0, None, 4.0, 5.0, 8.0],
        "y": [5.0, 4.0, 3.0, 2.0, 1.0, 0.0],
        "t": pd.date_range("2024-01-01", periods=6),
    }
    found, wanted = (OF_GROUPS[name](lib.DataFrame(data)) for lib in (hr, pd))
    assert list(found.index.names) == list(wanted.index.names)
    found = found.to_pandas()
    assert found.index.to_list() == wanted.index.to_list()
    if isinstance(wanted, pd.Series):
        assert found.name == wanted.name
        found, wanted = found.to_frame(), wanted.to_frame()
    assert list(found.columns) == list(wanted.columns)
    for mine, theirs in zip(found.items(), wanted.items(), strict=True):
        values = [None if pd.isna(each) else each for each in mine[1]]
        assert values == [None if pd.isna(each) else each for each in theirs[1]], mine[0]


def test_null_keys_are_a_group_with_dropna_false() -> None:
    df = hr.DataFrame({"k": ["a", None, "a", None], "x": [1, 2, 4, 8]})
    assert df.groupby("k").x.cumsum().to_list() == [1, None, 5, None]
    assert df.groupby("k", dropna=False).x.cumsum().to_list() == [1, 2, 5, 10]
    assert df.groupby("k", dropna=False).x.rolling(2).sum().to_list() == [None, 5, None, 10]


def test_frames_keep_rows_and_labels() -> None:
    df = hr.DataFrame({"id": ["u", "v", "w"], "a": [1, 2, 4], "s": ["x", "y", "z"]})
    df = df.set_index("id")
    rolled = df.rolling(2).sum()
    assert rolled.a.to_dict() == {"u": None, "v": 3, "w": 6}
    assert rolled.a.loc["w"] == 6
    df["b"] = df.a.rolling(2, min_periods=1).mean()
    df["c"] = df.groupby("s").a.cumsum()
    assert df.b.to_list() == [1.0, 1.5, 3.0]
    assert df[df.a > 1].rolling(2).max().a.to_list() == [None, 4]
    grouped = df.groupby("s").rolling(1).sum()
    assert grouped.columns == ["a", "b", "c"]
    assert hr.Series([True, False, True]).rolling(2).sum().to_list() == [None, 1, 1]


def test_dtypes_and_numbers_that_pandas_loses() -> None:
    s = hr.Series([2**62, 1, -5])
    assert str(s.rolling(2).sum().dtype) == "int64"
    assert s.rolling(2).sum().to_list() == [None, 2**62 + 1, -4]
    assert str(hr.Series([1.5], dtype="float32").rolling(1).mean().dtype) == "float32"
    assert hr.Series([1e300, 1.0, 2.0]).rolling(2).sum().to_list() == [None, 1e300, 3.0]
    infinite = hr.Series([float("inf"), 1.0, 2.0]).rolling(2)
    assert infinite.sum().to_list() == [None, float("inf"), 3.0]
    assert infinite.var().to_list()[2] == 0.5


def test_errors_name_the_fix() -> None:
    s = hr.Series([1.0])
    with pytest.raises(hr.InvalidArgumentError, match="window=0"):
        s.rolling(0)
    with pytest.raises(hr.InvalidArgumentError, match="min_periods=3, window=2"):
        s.rolling(2, min_periods=3)
    with pytest.raises(hr.TypeMismatchError, match=r"window=2\.5"):
        s.rolling(2.5)
    with pytest.raises(hr.TypeMismatchError, match="dtype='string'"):
        hr.Series(["a"]).rolling(2).sum()
    with pytest.raises(hr.TypeMismatchError, match="no numeric column"):
        hr.DataFrame({"s": ["a"]}).rolling(2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_groups_over_morsels_have_the_same_bits(threads: int) -> None:
    rng = np.random.default_rng(1)
    rows = 400_000
    keys = rng.integers(0, 1000, rows)
    values = rng.normal(size=rows) * 10.0 ** rng.integers(-6, 6, rows)
    df = hr.DataFrame({"k": keys, "x": values})
    with hr.threads(threads):
        mean = df.groupby("k").x.rolling(20).mean().loc[7].to_numpy()
        total = df.groupby("k").x.cumsum().to_numpy()
    with hr.threads(1):
        one = df[df.k == 7].x.rolling(20).mean().to_numpy()
        assert np.array_equal(mean, one, equal_nan=True)
        assert np.array_equal(total, df.groupby("k").x.cumsum().to_numpy())
    wanted = pd.Series(values).groupby(keys).cumsum().to_numpy()
    assert np.allclose(total, wanted, rtol=1e-9)


@pytest.mark.pool
def test_windows_under_a_limit_have_the_same_bits() -> None:
    rng = np.random.default_rng(2)
    rows = 1_000_000
    x = hr.DataFrame({"k": rng.integers(0, 5000, rows), "x": rng.normal(size=rows)})
    wanted = [x.groupby("k").x.rolling(5).mean().to_numpy(), x.x.rolling(200_000).std().to_numpy()]
    with hr.memory.limit(hr.memory.stats().used_bytes + 24_000_000):
        got = [x.groupby("k").x.rolling(5).mean(), x.x.rolling(200_000).std()]
        hr.eval(*got)
        assert all(
            np.array_equal(a, b.to_numpy(), equal_nan=True)
            for a, b in zip(wanted, got, strict=True)
        )


@given(st.lists(st.tuples(KEYS, NUMBERS), min_size=1, max_size=60), st.integers(0, 3))
def test_expanding_is_that_of_pandas(rows: list[Any], few: int) -> None:
    data = {"k": [k for k, _ in rows], "x": [x for _, x in rows]}
    ours = hr.DataFrame(
        {"k": hr.Series(data["k"], dtype="string"), "x": hr.Series(data["x"], dtype="float64")}
    )
    theirs = pd.DataFrame(data).astype({"k": "str", "x": "float64"})
    for name in AGGREGATES:
        got = getattr(ours.x.expanding(few), name)().to_list()
        assert got == plain(getattr(theirs.x.expanding(few), name)()), name
    assert ours[["x"]].expanding(few).max().x.equals(ours.x.expanding(few).max())
    if any(k is not None for k, _ in rows):
        grouped = theirs.groupby("k").x.expanding(2).mean()
        assert ours.groupby("k").x.expanding(2).mean().to_list() == plain(grouped)
    assert "all rows" in repr(ours.x.expanding())


@pytest.mark.parametrize("rows", [50_000, 100_000, 300_000])
def test_places_in_groups_across_morsels(rows: int) -> None:
    keys = np.random.default_rng(0).integers(0, 5, rows)
    ours, theirs = hr.DataFrame({"k": keys, "x": keys}), pd.DataFrame({"k": keys, "x": keys})
    with hr.threads(4):
        got = ours.groupby("k").cumcount().to_numpy()
        moved = ours.groupby("k").x.shift(2).fill_null(-1).to_numpy()
    assert (got == theirs.groupby("k").cumcount()).all()
    assert (moved == theirs.groupby("k").x.shift(2).fillna(-1)).all()


PAIRS = {
    "corr": lambda d: d.rolling(3).corr(),
    "cov": lambda d: d.rolling(3, min_periods=2).cov(),
    "expanding": lambda d: d.expanding().corr(),
    "ewm": lambda d: d.ewm(alpha=0.5).corr(),
    "ewm cov": lambda d: d.ewm(alpha=0.5).cov(),
    "two frames": lambda d: d[["x", "y"]].rolling(3).corr(d[["x", "y"]], pairwise=True),
    "same columns": lambda d: (
        d[["x", "y"]].rolling(3).corr(d[["z", "x"]].set_axis(["x", "y"], axis=1))
    ),
    "filtered": lambda d: d[d.x < 0.5].rolling(3).corr(),
    "labels": lambda d: d.set_index("z").rolling(2).cov(),
    "one pair": lambda d: d.rolling(3).corr().dropna().loc[(slice(None), "x"), ["y"]],
    "unstacked": lambda d: d.rolling(3).corr().unstack(),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_of_columns(name: str) -> None:
    rng = np.random.default_rng(3)
    data = {each: rng.normal(size=40) for each in "xyz"}
    data["y"][7] = np.nan
    ours, theirs = PAIRS[name](hr.DataFrame(data)), PAIRS[name](pd.DataFrame(data))
    assert list(ours.columns) == list(theirs.columns)
    assert ours.index.tolist() == theirs.index.tolist()
    np.testing.assert_allclose(ours.to_numpy().astype(float), theirs.to_numpy(), atol=1e-9)


def test_running_results_of_many_groups_keep_a_total_each() -> None:
    rng = np.random.default_rng(4)
    data = {"k": rng.integers(0, 60_000, 300_000), "x": rng.random(300_000)}
    want = pd.DataFrame(data).groupby("k").x.cumsum()
    found = []
    for count in (1, 2, 4):
        with hr.threads(count):
            found.append(hr.DataFrame(data).groupby("k").x.cumsum().to_numpy())
    np.testing.assert_allclose(found[0], want, rtol=1e-12)
    assert all(each.tobytes() == found[0].tobytes() for each in found)
