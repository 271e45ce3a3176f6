# SPDX-License-Identifier: Apache-2.0
"""sort_values, argsort, nlargest and nsmallest against pandas and NumPy."""

import datetime
import gc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import headrace as hr

SIZES = [0, 1, 2, 63, 64, 65, 1000, (1 << 17) - 1, (1 << 18) + 3]


def same(ours, theirs):
    """Our frame and pandas' have the same rows in the same order."""
    assert ours.columns == list(theirs.columns)
    for name in ours.columns:
        want = [None if pd.isna(x) else x for x in theirs[name].tolist()]
        have = [None if x is None or x != x else x for x in ours[name].to_list()]
        assert have == want, name


def table(rows, seed=0):
    random = np.random.default_rng(seed)
    words = np.array(["pear", "fig", "apple", "a much longer name of a fruit", ""])
    texts = np.array(["x" * 40 + "a", "x" * 40 + "b", "short"])
    return pd.DataFrame(
        {
            "few": random.integers(0, 5, rows),
            "wide": random.integers(-(1 << 62), 1 << 62, rows),
            "real": np.where(random.random(rows) < 0.1, np.nan, random.standard_normal(rows)),
            "word": pd.Series(words[random.integers(0, 5, rows)], dtype="str"),
            "text": pd.Series(texts[random.integers(0, 3, rows)], dtype="str"),
            "flag": random.random(rows) < 0.5,
            "day": random.integers(0, 400, rows).astype("datetime64[D]").astype("datetime64[s]"),
            "row": np.arange(rows),
        }
    )


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("key", ["few", "wide", "real", "word", "flag", "day"])
def test_one_key(rows, key):
    theirs = table(rows)
    ours = hr.from_pandas(theirs)
    for ascending in (True, False):
        for na in ("first", "last"):
            got = ours.sort_values(key, ascending=ascending, na_position=na)[[key, "row"]]
            want = theirs.sort_values(key, ascending=ascending, na_position=na, kind="stable")
            np.testing.assert_array_equal(got.row.to_numpy(), want["row"].to_numpy())
            if rows <= 1000:
                same(got, want[[key, "row"]])


@pytest.mark.parametrize("rows", [65, 5000, 200_000])
def test_several_keys(rows):
    theirs = table(rows, 1)
    ours = hr.from_pandas(theirs)
    for by, ascending in [
        (["few", "real"], [True, False]),
        (["word", "flag", "wide"], [False, True, False]),
        (["flag", "day", "word"], True),
        (["real", "few"], False),
        (["text", "few", "word"], False),
    ]:
        got = ours.sort_values(by, ascending=ascending)
        want = theirs.sort_values(by, ascending=ascending, kind="stable")
        np.testing.assert_array_equal(got.row.to_numpy(), want["row"].to_numpy())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.integers(-3, 3)),
            st.one_of(st.none(), st.floats(width=32), st.sampled_from([0.0, -0.0])),
            st.one_of(st.none(), st.text(max_size=20)),
        ),
        max_size=60,
    ),
    st.permutations(["a", "b", "c"]),
    st.lists(st.booleans(), min_size=3, max_size=3),
    st.sampled_from(["first", "last"]),
)
def test_random_rows(rows, by, ascending, na):
    frame = hr.DataFrame(
        {
            "a": hr.Series([row[0] for row in rows], dtype="int64"),
            "b": hr.Series([row[1] for row in rows], dtype="float64"),
            "c": hr.Series([row[2] for row in rows], dtype="string"),
            "row": hr.Series(list(range(len(rows))), dtype="int64"),
        }
    )

    def key(name, up, row):
        value = row["abc".index(name)]
        if value is None or value != value:
            return (0 if na == "first" else 2, 0)
        if isinstance(value, str):
            value = value.encode()
        return (1, value)

    order = list(range(len(rows)))
    for name, up in reversed(list(zip(by, ascending, strict=True))):
        missing = [i for i in order if key(name, up, rows[i])[0] != 1]
        there = [i for i in order if key(name, up, rows[i])[0] == 1]
        # Python's sort stays stable when it is reversed.
        there.sort(key=lambda i, name=name, up=up: key(name, up, rows[i])[1], reverse=not up)
        order = missing + there if na == "first" else there + missing
    got = frame.sort_values(by, ascending=ascending, na_position=na)
    assert got.row.to_list() == order
    head = frame.sort_values(by, ascending=ascending, na_position=na).head(3)
    assert head.row.to_list() == order[:3]


def test_nulls_and_nan_are_equal():
    s = hr.Series([None, 2.0, float("nan"), 1.0, None])
    assert s.argsort().tolist() == [3, 1, 0, 2, 4]
    assert s.argsort(na_position="first").tolist() == [0, 2, 4, 3, 1]
    assert s.sort_values().is_null().to_list() == [False, False, True, False, True]


def test_categories_and_dates():
    kind = hr.Series(["low", "high", None, "mid", "low"], dtype="category")
    frame = hr.DataFrame({"kind": kind, "row": [0, 1, 2, 3, 4]})
    assert frame.sort_values("kind").row.to_list() == [1, 0, 4, 3, 2]
    ordered = hr.from_pandas(
        pd.DataFrame({"kind": pd.Categorical(["mid", "low", "high"], ["low", "mid", "high"], True)})
    )
    assert ordered.sort_values("kind").kind.to_list() == ["low", "mid", "high"]
    days = hr.Series([datetime.date(2024, 3, 1), None, datetime.date(1960, 1, 1)])
    assert days.sort_values().to_list() == [
        datetime.date(1960, 1, 1),
        datetime.date(2024, 3, 1),
        None,
    ]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize(
    "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64", "bool"]
)
def test_arrays(rows, dtype):
    random = np.random.default_rng(rows)
    x = (random.standard_normal(rows) * 100).astype(dtype)
    np.testing.assert_array_equal(hr.sort(x).to_numpy(), np.sort(x))
    np.testing.assert_array_equal(hr.argsort(x).to_numpy(), np.argsort(x, kind="stable"))
    ours = hr.asarray(x)
    assert isinstance(np.sort(ours), hr.Array) and hr.sort(ours).dtype == dtype
    np.testing.assert_array_equal(np.sort(ours).to_numpy(), np.sort(x))
    np.testing.assert_array_equal(np.argsort(ours, kind="stable"), np.argsort(x, kind="stable"))
    down = hr.sort(ours[::-2], descending=True).to_numpy()
    np.testing.assert_array_equal(down, np.sort(x[::-2])[::-1])


def test_nan_is_last_in_arrays():
    x = np.array([np.nan, 1.0, -np.inf, np.nan, 0.0, -0.0, np.inf])
    np.testing.assert_array_equal(hr.sort(x).to_numpy(), np.sort(x))
    assert hr.argsort(x, descending=True).tolist() == [6, 1, 4, 5, 2, 0, 3]


@pytest.mark.parametrize("rows", [0, 1, 100, 300_000])
def test_largest_and_smallest(rows):
    theirs = table(rows, 2)
    ours = hr.from_pandas(theirs)
    for n in (0, 1, 7, 70_000):
        for key in ("wide", "few", "day"):
            got = ours.nlargest(n, key)
            want = theirs.sort_values(key, ascending=False, kind="stable").head(n)
            assert got.row.to_list() == want["row"].tolist()
            assert ours.nsmallest(n, [key, "word"]).row.to_list() == (
                theirs.sort_values([key, "word"], kind="stable").head(n)["row"].tolist()
            )
        assert (
            ours.real.nlargest(n).dropna().to_list() == theirs["real"].nlargest(n).dropna().tolist()
        )
        assert (
            ours.real.nsmallest(n).dropna().to_list()
            == theirs["real"].nsmallest(n).dropna().tolist()
        )


def test_head_takes_the_first_rows_only():
    frame = hr.DataFrame({"k": np.random.default_rng(3).permutation(500_000).tolist()})
    frame["v"] = frame.k * 2
    first = frame.sort_values("k").head(3)
    with hr.memory.stats() as stats:
        assert first.v.to_list() == [0, 2, 4]
    assert stats.peak_bytes - hr.memory.stats().used_bytes < 16_000_000
    assert "first 3" in frame.sort_values("k").head(3).explain()


def test_unused_columns_are_not_carried():
    k, v = np.arange(200_000)[::-1].copy(), np.arange(200_000)
    k.flags.writeable = v.flags.writeable = False
    frame = hr.DataFrame({"k": k, "v": v})
    frame["heavy"] = np.sqrt(frame.v + 0.5)
    ordered = frame.sort_values("k")
    assert int(ordered.v.to_numpy()[0]) == 199_999
    assert not frame.heavy._node.is_ready


def test_filter_then_sort():
    frame = hr.DataFrame({"k": [3, 1, 2, 5, 4], "v": list("abcde")})
    assert frame[frame.k > 1].sort_values("k").v.to_list() == ["c", "a", "e", "d"]
    ordered = frame.sort_values("k", ascending=False)
    assert ordered[ordered.k > 2].v.to_list() == ["d", "e", "a"]


def test_sorted_rows_are_shared():
    frame = hr.DataFrame({"k": np.arange(300_000), "v": np.arange(300_000) * 0.5})
    hr.eval(frame)
    with hr.no_copies():
        ordered = frame.sort_values("k")
        assert np.shares_memory(ordered.v.to_numpy(), frame.v.to_numpy())


def test_errors():
    frame = hr.DataFrame({"key": [2, 1], "value": [1.0, 2.0]})
    with pytest.raises(hr.ColumnNotFoundError, match="did you mean 'key'"):
        frame.sort_values("ky")
    with pytest.raises(hr.InvalidArgumentError, match="expected=2, got=1"):
        frame.sort_values(["key", "value"], ascending=[True])
    with pytest.raises(hr.TypeMismatchError, match="expected a bool"):
        frame.sort_values("key", ascending=["up"])
    with pytest.raises(hr.InvalidArgumentError, match="na_position='middle'"):
        frame.sort_values("key", na_position="middle")
    with pytest.raises(hr.InvalidArgumentError, match="missing sort key"):
        frame.sort_values([])
    with pytest.raises(hr.ColumnNotFoundError):
        frame.nlargest(1, "no")
    with pytest.raises(hr.UnsupportedError, match="dimensions=2"):
        hr.sort(np.ones((2, 2)))
    with pytest.raises(hr.InvalidArgumentError, match="axis=1"):
        np.sort(hr.asarray(np.ones(3)), axis=1)
    with pytest.raises(hr.TypeMismatchError):
        hr.argsort(np.ones(3, complex))
    assert frame.sort_values("key").value.to_list() == [2.0, 1.0]


def used():
    gc.collect()
    hr.memory.trim()
    return hr.memory.stats().used_bytes


ROWS = 2_000_000


@pytest.mark.pool
@pytest.mark.parametrize(
    ("key", "threads"), [("wide", 1), ("wide", 2), ("few", 2), ("real", 4), ("word", 2)]
)
def test_the_same_under_a_limit(key, threads):
    frame = hr.from_pandas(table(ROWS, 4))[["wide", "few", "real", "word", "row"]]
    frame["wide"] = frame.wide * 1  # of our own, so it counts
    frame["row"] = frame.row * 1
    hr.eval(frame)
    columns = list(dict.fromkeys([key, "wide", "row"]))
    want = [np.asarray(frame.sort_values(key)[name]) for name in columns]
    before, evicted = used(), hr.memory.spill().evicted_bytes
    with hr.threads(threads), hr.memory.limit(before // 2 + (12 << 20)), hr.memory.stats() as stats:
        limit = before // 2 + (12 << 20)
        ordered = frame.sort_values(key)
        hr.eval(*[ordered[name] for name in columns])
        got = [np.asarray(ordered[name]) for name in columns]
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
    assert stats.peak_bytes <= max(limit, before)
    assert hr.memory.spill().evicted_bytes > evicted


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.5, 1.5, None])), max_size=40),
    st.integers(0, 12),
    st.booleans(),
)
def test_all_that_are_equal_to_the_last(rows, n, largest):
    a, b = [a for a, _ in rows], [b for _, b in rows]
    ours = hr.DataFrame(
        {"a": hr.Series(a, dtype="int64"), "b": hr.Series(b, dtype="float64"), "i": range(len(a))}
    )
    name = "nlargest" if largest else "nsmallest"
    theirs = pd.DataFrame(
        {"a": pd.Series(a, dtype="int64"), "b": pd.Series(b, dtype="float64"), "i": range(len(a))}
    )
    got = getattr(ours, name)(n, "a", keep="all")
    assert got.i.to_list() == getattr(theirs, name)(n, "a", keep="all").i.to_list()
    assert getattr(ours.a, name)(n, keep="all").equals(got.a)
    there = theirs.dropna()
    two = getattr(ours.dropna(), name)(n, ["a", "b"], keep="all")
    wanted = getattr(there, name)(n, ["a", "b"], keep="all")
    assert two.i.to_list() == wanted.i.to_list()
    for word in ("string", "category", "timedelta64[s]"):
        other = ours.a.astype("timedelta64[s]" if word[0] == "t" else "string").astype(word)
        assert len(getattr(other, name)(n, keep="all")) == len(got)
    nulls = getattr(ours.b, name)(n, keep="all")
    assert len(nulls) >= min(n, len(rows))
