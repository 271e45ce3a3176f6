# SPDX-License-Identifier: Apache-2.0
"""Samples, codes, bins, pivot tables, mappings and Python functions, against pandas."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

FLOATS = st.floats(-100, 100) | st.none()


def missing_as_none(values: Any) -> list[Any]:
    return [None if pd.isna(v) else v for v in values]


# ---- frames from rows ----------------------------------------------------------------------------
def test_frames_from_rows() -> None:
    rows = [[1, "a", None], [2, None, 0.5]]
    assert hr.DataFrame(rows, columns=["i", "s", "f"]).to_dict() == {
        "i": [1, 2], "s": ["a", None], "f": [None, 0.5]
    }  # fmt: skip
    assert hr.DataFrame([(1, 2)]).columns == [0, 1]
    assert hr.DataFrame([{"a": 1}, {"b": 2}]).to_dict() == {"a": [1, None], "b": [None, 2]}
    assert hr.DataFrame(np.array([[1, 2], [3, 4]]), columns=["p", "q"]).q.to_list() == [2, 4]
    assert hr.DataFrame({"a": [1], "b": [2]}, columns=["b"]).columns == ["b"]
    assert hr.DataFrame([]).shape == (0, 0)
    with pytest.raises(hr.InvalidArgumentError, match="row=1, values=1, columns=2"):
        hr.DataFrame([[1, 2], [3]])


# ---- samples -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [{"n": 3}, {"frac": 0.5}, {"frac": 1}, {"n": 20, "replace": True}, {}],
)
def test_sample_is_that_of_pandas(options: dict[str, Any]) -> None:
    columns = {"a": list(range(11)), "b": [str(i) for i in range(11)]}
    ours = hr.DataFrame(columns).sample(**options, random_state=7)
    theirs = pd.DataFrame(columns).sample(**options, random_state=7)
    assert ours.to_dict() == theirs.to_dict("list")
    assert hr.Series(columns["a"]).sample(**options, random_state=7).to_list() == theirs.a.tolist()


def test_wrong_samples_say_so() -> None:
    frame = hr.DataFrame({"a": [1]})
    for wrong in ({"n": 1, "frac": 0.5}, {"n": 2}, {"n": -1}):
        with pytest.raises(hr.InvalidArgumentError, match="sample"):
            frame.sample(**wrong)


# ---- codes and bins ------------------------------------------------------------------------------
@given(st.lists(st.none() | st.sampled_from("abcd"), max_size=40), st.booleans())
def test_factorize_is_that_of_pandas(texts: list[Any], sort: bool) -> None:
    codes, uniques = hr.Series(texts, dtype="string").factorize(sort=sort)
    wanted, labels = pd.factorize(np.array(texts, object), sort=sort)
    assert codes.to_list() == wanted.tolist() and uniques.to_list() == list(labels)
    numbers = [None if t is None else float(ord(t)) for t in texts]
    codes, uniques = hr.factorize(hr.Series(numbers, dtype="float64"), sort=sort)
    assert codes.to_list() == wanted.tolist()
    assert uniques.to_list() == [float(ord(t)) for t in labels]


def test_codes_are_columns_of_their_frame() -> None:
    frame = hr.DataFrame({"s": ["b", "a", "b", "c"], "x": [1, 2, 3, 4]})
    kept = frame[frame.x > 1]
    kept["code"] = kept.s.factorize()[0]
    kept["bin"] = hr.cut(kept.x, [0, 2, 9], labels=["few", "many"])
    kept["word"] = kept.s.map({"a": "A", "b": "B"})
    kept["twice"] = kept.s.map(lambda s: s * 2)
    assert kept.to_dict() == {
        "s": ["a", "b", "c"], "x": [2, 3, 4], "code": [0, 1, 2],
        "bin": ["few", "many", "many"], "word": ["A", "B", None], "twice": ["aa", "bb", "cc"],
    }  # fmt: skip


@given(
    st.lists(FLOATS, min_size=1, max_size=40).filter(
        lambda v: len({x for x in v if x is not None}) > 0
    ),
    st.integers(1, 7),
    st.booleans(),
)
def test_cut_into_equal_bins_is_that_of_pandas(values: Any, bins: int, right: bool) -> None:
    theirs = np.array([np.nan if v is None else v for v in values])
    ours = hr.Series(values, dtype="float64")
    wanted = pd.cut(theirs, bins, right=right, labels=False)
    got = hr.cut(ours, bins, right=right, labels=False)
    assert got.to_list() == missing_as_none(wanted)
    assert len(hr.cut(ours, bins).cat.categories) == bins


@given(
    st.lists(st.integers(-99, 99), min_size=1, max_size=9),
    st.integers(-12, 12).map(lambda power: 10.0**power),
    st.integers(1, 7),
    st.booleans(),
    st.booleans(),
)
def test_names_of_bins_are_those_of_pandas(
    values: list[int], unit: float, bins: int, right: bool, lowest: bool
) -> None:
    options = {"right": right, "include_lowest": lowest}
    scaled = np.array(values) * unit
    wanted = pd.cut(scaled, bins, **options).categories
    assert hr.cut(scaled, bins, **options).cat.categories.to_list() == [*map(str, wanted)]


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("lowest", [True, False])
@pytest.mark.parametrize(
    "edges",
    [[0, 5, 10, 20], [0.0, 0.25, 5.5, 20.125], [-1, 3], [0.01234567, 1.01234567], [-1e-7, 2e18]],
)
def test_cut_by_edges_is_that_of_pandas(edges: Any, lowest: bool, right: bool) -> None:
    values = [0, 1, 5, 7, 10, 19, 20, 21, -1, 3]
    options = {"right": right, "include_lowest": lowest}
    got = hr.cut(hr.Series(values), edges, **options)
    wanted = pd.cut(np.array(values), edges, **options)
    expected = [None if c < 0 else str(wanted.categories[c]) for c in wanted.codes]
    assert got.to_list() == expected
    assert got.cat.categories.to_list() == [*map(str, wanted.categories)] and got.cat.ordered
    named = hr.cut(hr.Series(values), edges, labels=list("xyz")[: len(edges) - 1], **options)
    theirs = pd.cut(np.array(values), edges, labels=list("xyz")[: len(edges) - 1], **options)
    assert named.to_list() == missing_as_none(theirs)


def test_bins_sort_by_their_edges() -> None:
    frame = hr.DataFrame({"x": [15, 1, 9, 150]})
    frame["bin"] = hr.cut(frame.x, [0, 2, 10, 100, 1000])
    assert frame.groupby("bin").x.sum().to_dict() == {
        "(0, 2]": 1, "(2, 10]": 9, "(10, 100]": 15, "(100, 1000]": 150
    }  # fmt: skip


def test_many_bins_and_wrong_ones() -> None:
    values = np.random.default_rng(3).uniform(0, 1, 1000)
    got = hr.cut(hr.Series(values), 200, labels=False).to_list()
    assert got == pd.cut(values, 200, labels=False).tolist()
    x = hr.Series([1.0, 2.0])
    for wrong in (
        lambda: hr.cut(x, []),
        lambda: hr.cut(x, [2, 1]),
        lambda: hr.cut(x, 0),
        lambda: hr.cut(x, [0, 1, 2], labels=["a"]),
        lambda: hr.cut(x, [0, 1, 2], labels=["a", "a"]),
        lambda: hr.cut(hr.Series([float("inf")]), 2),
        lambda: hr.cut(hr.Series(["a"]), 2),
        lambda: hr.qcut(hr.Series([1, 1, 1]), 2),
        lambda: hr.qcut(x, 2, duplicates="keep"),
    ):
        with pytest.raises(hr.Error, match="cut: "):
            wrong()


# ---- pivot tables --------------------------------------------------------------------------------
@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from("pqr"), FLOATS, st.integers(-5, 5)),
        min_size=1,
        max_size=40,
    ),
    st.sampled_from(["mean", "sum", "max", "count"]),
)
def test_pivot_tables_are_those_of_pandas(rows: Any, how: str) -> None:
    columns = dict(zip("ksxy", map(list, zip(*rows, strict=True)), strict=True))
    ours = hr.DataFrame({**columns, "x": hr.Series(columns["x"], dtype="float64")})
    theirs = pd.DataFrame({**columns, "x": np.array(columns["x"], float)})
    got = ours.pivot_table(values="y", index="k", columns="s", aggfunc=how)
    wanted = theirs.pivot_table(values="y", index="k", columns="s", aggfunc=how)
    assert got.columns == list(wanted.columns) and got.index.to_list() == wanted.index.tolist()
    for name in wanted.columns:
        expected = missing_as_none(wanted[name])
        assert got[name].to_list() == pytest.approx(expected)
    flat = ours.pivot_table(values=["y"], index=["k", "s"], aggfunc=how)
    plain = theirs.pivot_table(values="y", index=["k", "s"], aggfunc=how)
    assert flat.y.to_list() == pytest.approx(plain.y.tolist())


def test_pivot_of_several_values() -> None:
    frame = hr.DataFrame({"k": [1, 1, 2], "s": ["a", "b", "a"], "x": [1, 2, 3], "y": [4, 5, 6]})
    got = frame.pivot_table(index="k", columns="s", aggfunc="sum", fill_value=0)
    assert got.to_dict() == {
        ("x", "a"): [1, 3], ("x", "b"): [2, 0], ("y", "a"): [4, 6], ("y", "b"): [5, 0]
    }  # fmt: skip
    with pytest.raises(hr.InvalidArgumentError, match="pivot_table"):
        frame.pivot_table(values="x", columns="s")


def test_melt_is_that_of_pandas() -> None:
    columns = {"id": [1, 2], "a": [3.0, None], "b": [5.0, 6.0], "c": [7.0, 8.0]}
    ours, theirs = hr.DataFrame(columns), pd.DataFrame(columns)
    for options in (
        {"id_vars": "id"},
        {"id_vars": ["id", "a"], "value_vars": ["c"]},
        {"value_vars": ["a", "b"], "var_name": "n", "value_name": "v"},
    ):
        got, wanted = ours.melt(**options).to_dict(), theirs.melt(**options)
        assert got == {name: missing_as_none(wanted[name]) for name in wanted.columns}


# ---- statistics of frames ------------------------------------------------------------------------
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), FLOATS), min_size=1, max_size=40), st.integers(0, 9))
def test_frame_statistics_are_those_of_pandas(rows: Any, n: int) -> None:
    a, b = map(list, zip(*rows, strict=True))
    ours = hr.DataFrame({"a": a, "b": hr.Series(b, dtype="float64")})
    theirs = pd.DataFrame({"a": a, "b": np.array(b, float)})
    described, wanted = ours.describe(), theirs.describe()
    assert described.index.to_list() == wanted.index.tolist()
    for name in "ab":
        np.testing.assert_allclose(
            np.asarray(described[name].to_list()), wanted[name].to_numpy(), rtol=1e-9, atol=1e-9
        )
        for levels in (0.3, [0.1, 0.9]):
            got = np.asarray(ours.quantile(levels)[name], float)
            np.testing.assert_allclose(got, theirs[name].quantile(levels))
    assert ours.nunique().to_dict() == theirs.nunique().to_dict()
    for options in ({}, {"ascending": True}, {"sort": False}, {"normalize": True}):
        for subset in (None, ["b", "a"], "a"):
            counted, other = (
                ours.value_counts(subset, **options),
                theirs.value_counts([subset] if isinstance(subset, str) else subset, **options),
            )
            keys = [key[0] if subset == "a" else key for key in other.index]
            assert list(counted.to_dict().items()) == list(zip(keys, other, strict=True))
    assert ours.nlargest(n, "a").a.to_list() == theirs.nlargest(n, "a").a.tolist()
    assert ours.nsmallest(n, "a").a.to_list() == theirs.nsmallest(n, "a").a.tolist()
    assert len(ours.drop_duplicates()) == len(theirs.drop_duplicates())
    assert ours.drop_duplicates("a").a.to_list() == theirs.drop_duplicates("a").a.tolist()
    assert ours.a.drop_duplicates().to_list() == theirs.a.drop_duplicates().tolist()


@given(
    st.lists(st.integers(-30, 30).map(lambda i: i / 4), min_size=1, max_size=30),
    st.one_of(st.integers(1, 6), st.just([-3, 0, 2.5, 6]), st.just([90, 91])),
    st.booleans(),
    st.booleans(),
)
def test_counts_of_bins_are_those_of_pandas(
    values: list[float], bins: Any, sort: bool, normalize: bool
) -> None:
    ours, theirs = hr.Series([*values, None], name="x"), pd.Series([*values, np.nan])
    for options in ({}, {"ascending": True}, {"dropna": False}):
        options = {"bins": bins, "sort": sort, "normalize": normalize, **options}
        counted, wanted = ours.value_counts(**options), theirs.value_counts(**options)
        assert counted.reset_index().columns == ["x", "proportion" if normalize else "count"]
        assert list(counted.to_dict()) == [str(each) for each in wanted.index]
        assert counted.to_list() == wanted.tolist()


# ---- mappings and functions ----------------------------------------------------------------------
@given(
    st.lists(st.none() | st.sampled_from("abcd"), max_size=30),
    st.dictionaries(st.sampled_from("abz"), st.integers(-3, 3)),
)
def test_map_of_a_dict_is_that_of_pandas(texts: list[Any], words: dict[str, int]) -> None:
    got = hr.Series(texts, dtype="string").map(words).to_list()
    assert got == [words.get(t) for t in texts] or not words
    assert words or got == [None] * len(texts)


def test_map_of_other_mappings() -> None:
    s = hr.Series(["a", None, "b"])
    counts = collections.Counter(a=3)
    assert s.map(counts).to_list() == [3, 0, 0]
    assert s.map({None: "none", "a": "A"}).to_list() == ["A", "none", None]
    assert s.astype("category").map({"a": 1}).to_list() == [1, None, None]
    for wrong in (3, [1]):
        with pytest.raises(hr.TypeMismatchError, match="map"):
            s.map(wrong)


def test_functions_are_traced_or_told() -> None:
    hr._core.clear_fallbacks()
    hr._core.clear_advice()
    s = hr.Series([1, 2, None])
    assert s.map(lambda v: v * v + 1).to_list() == [2, 5, None]
    with hr.strict():
        assert s.map(lambda v: 0 if v != v else 1).to_list() == [1, 1, 0]
        assert s.apply(lambda v: abs(v) - 1).to_list() == [0, 1, None]
    assert not hr.fallbacks() and not hr.advice()
    with hr.strict():
        assert s.map(lambda v: "odd" if v % 2 else "even").to_list() == ["odd", "even", "odd"]
    assert s.map(lambda v: f"<{v}>").to_list() == ["<1>", "<2>", "<nan>"]
    ((op, reason, seconds),) = hr.fallbacks()
    assert op == "map" and "lambda" in reason and seconds >= 0
    ((op, line, text),) = hr.advice()
    assert op == "map" and line.startswith("test_frame_reshaping.py:") and "per row" in text
    with hr.strict(), pytest.raises(hr.UnsupportedError, match=r"map: .*strict"):
        s.map(lambda v: str(v))
    with pytest.raises(ZeroDivisionError):
        hr.Series(["a"]).map(lambda v: 1 / 0)


def test_apply_over_rows_and_columns() -> None:
    columns = {"a": [1, 5], "b": [4, 2]}
    ours, theirs = hr.DataFrame(columns), pd.DataFrame(columns)
    for function in (
        lambda r: r.a + r["b"],
        lambda r: r.a if r.a > r.b else -r.b,
        lambda r: f"{r['a']}-{r['b']}",
    ):
        assert ours.apply(function, axis=1).to_list() == theirs.apply(function, axis=1).tolist()
    assert ours.apply(lambda c: c * 2).to_dict() == {"a": [2, 10], "b": [8, 4]}
    assert ours.apply(lambda c: c.sum()).to_dict() == {"a": 6, "b": 6}
    labelled = ours.assign(id=["p", "q"]).set_index("id")
    assert labelled.apply(lambda r: r.a if r.a > 1 else 0, axis=1).loc["q"] == 5
    assert ours.pipe((lambda n, d: d.a * n, "d"), 2).to_list() == [2, 10]
    assert [tuple(r) for r in ours.itertuples()] == [tuple(r) for r in theirs.itertuples()]
    assert next(iter(ours.itertuples(index=False, name=None))) == (1, 4)
    assert [(i, r["a"]) for i, r in labelled.iterrows()] == [("p", 1), ("q", 5)]
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="itertuples"):
        ours.itertuples()


def test_aggregates_by_functions() -> None:
    columns = {"k": [1, 1, 2], "x": [1.0, 2.0, 5.0]}
    ours, theirs = hr.DataFrame(columns).groupby("k"), pd.DataFrame(columns).groupby("k")
    for spec in (np.mean, sum, {"x": max}, [np.sum, "min"]):
        got = [c.to_list() for c in map(ours.agg(spec).__getitem__, ours.agg(spec).columns)]
        expected = theirs.agg({"x": spec} if not isinstance(spec, dict) else spec)
        assert got == [expected.iloc[:, i].tolist() for i in range(expected.shape[1])]
    assert ours.agg(top=("x", np.max)).top.to_list() == [2.0, 5.0]
    assert ours.x.agg(top="max", low="min").top.to_list() == [2.0, 5.0]
    with pytest.raises(hr.TypeMismatchError, match="agg"):
        ours.agg(spread=3)


def test_growing_a_frame_is_advised_against() -> None:
    hr._core.clear_advice()
    frame = hr.DataFrame({"a": [0]})
    for i in range(10):
        frame = hr.concat([frame, hr.DataFrame({"a": [i]})])
    assert [op for op, _, _ in hr.advice()] == ["concat"]


def test_advice_on_values_that_come_back_from_pandas() -> None:
    hr._core.clear_advice()
    away = hr.DataFrame({"x": [3, 1, 2]}).to_pandas()
    assert hr.DataFrame(pd.DataFrame({"x": [1]})).x.to_list() == [1]
    assert not hr.advice()
    assert hr.DataFrame(away[away.x > 1]).x.to_list() == [3, 2]
    ((op, _, text),) = hr.advice()
    assert op == "from_pandas"
    assert "went to pandas at test_frame_reshaping.py:" in text


@pytest.mark.parametrize(
    "loop",
    [
        lambda df: [df.x[k] for k in range(300)],
        lambda df: [df.loc[k, "x"] for k in range(300)],
        lambda df: [df.iloc[k].x for k in range(300)],
        lambda df: [value for value in df.x],
    ],
)
def test_advice_on_value_after_value(loop: Any) -> None:
    df = hr.DataFrame({"x": range(300)})
    before = len(hr.advice())
    loop(df)
    (found,) = hr.advice()[before:]
    assert found[1].startswith("test_frame_reshaping.py:") and "to_list()" in found[2]


def test_a_frame_that_grows_by_append_is_named() -> None:
    """The slow method of figure 5.3 of the report."""
    hr._core.clear_advice()
    frame = hr.DataFrame(columns=["latitude", "sample", "name"])
    for at in range(9):
        frame = frame.append({"latitude": at / 2, "sample": at, "name": "n"}, ignore_index=True)
    assert frame.tail(1).to_dict() == {"latitude": [4.0], "sample": [8], "name": ["n"]}
    assert [op for op, _, _ in hr.advice()] == ["append"]


def test_crosstab_takes_arrays_beside_filtered_rows() -> None:
    frames = []
    for module in (hr, pd):
        data = module.DataFrame({"a": ["x", "y", "x", "z"], "n": [1, 2, 3, 4]})
        rows, words = data[data.n > 1], np.array(["u", "v", "u"])
        frames.append(
            [
                module.crosstab(rows.a, words),
                module.crosstab(words, rows.a),
                module.crosstab(np.where(rows.n > 3, "p", "q"), rows.a.values),
            ]
        )
    for ours, theirs in zip(*frames, strict=True):
        assert ours.to_dict("list") == theirs.to_dict("list")
        assert ours.index.tolist() == theirs.index.tolist()


def test_sizes_with_margins_count_all_rows() -> None:
    keys = {"a": ["x", "y", "x", None], "b": ["p", "q", "p", "q"]}
    data = {**keys, "n": [1.0, None, 3.0, 4.0], "m": 1}
    table = hr.DataFrame(data).pivot_table(
        index="a", columns="b", aggfunc="size", margins=True, fill_value=0
    )
    known = pd.DataFrame(keys).dropna()
    theirs = pd.crosstab(known.a, known.b, margins=True)
    assert table.to_dict("list") == theirs.to_dict("list")
    assert table.index.tolist() == theirs.index.tolist()
