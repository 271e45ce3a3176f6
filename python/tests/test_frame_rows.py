# SPDX-License-Identifier: Apache-2.0
"""Rows by what they hold, and frames on top of each other, against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

FLOATS = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan"), float("inf")]))
WORDS = st.one_of(st.none(), st.sampled_from(["", "a", "b", "a text that is not inline"]))


def key(value: Any) -> Any:
    """Null, NaN and numbers as what they equal."""
    return "nan" if value != value else value


@given(st.lists(FLOATS, max_size=70), st.lists(FLOATS, max_size=4))
def test_isin_of_floats(values: list[Any], wanted: list[Any]) -> None:
    found = hr.Series(values, dtype="float64").isin(wanted).to_list()
    assert found == [key(v) in [key(w) for w in wanted] for v in values]


@given(st.lists(WORDS, max_size=70), st.lists(WORDS, max_size=4))
def test_isin_of_strings(values: list[Any], wanted: list[Any]) -> None:
    column = hr.Series(values, dtype="string")
    assert column.isin(wanted).to_list() == [v in wanted for v in values]
    assert column.astype("category").isin(hr.Series(wanted, dtype="category")).to_list() == [
        v in wanted for v in values
    ]


def test_isin_over_morsels_and_dtypes() -> None:
    values = np.arange(300_000) % 1000
    assert hr.Series(values).isin([3, 5.0, 7.5]).to_numpy().tolist() == (
        np.isin(values, [3, 5]).tolist()
    )
    assert (
        hr.Series(values.astype("int8")).isin(range(3)).sum().item()
        == np.isin(values.astype("int8"), range(3)).sum()
    )
    with pytest.raises(hr.TypeMismatchError, match="values='abc'"):
        hr.Series(["a"]).isin("abc")
    with pytest.raises(hr.TypeMismatchError, match="int64"):
        hr.Series([1]).isin(["a"])


@given(st.lists(st.one_of(st.none(), st.integers(-5, 5)), max_size=70), st.integers(-80, 80))
def test_shift_and_diff(values: list[Any], periods: int) -> None:
    column = hr.Series(values, dtype="int64")
    at = [i - periods for i in range(len(values))]
    before = [values[i] if 0 <= i < len(values) else None for i in at]
    assert column.shift(periods).to_list() == before
    assert column.diff(periods).to_list() == [
        None if a is None or b is None else a - b for a, b in zip(values, before, strict=True)
    ]


def test_shift_over_morsels_goes_with_its_frame() -> None:
    frame = hr.DataFrame({"x": np.arange(300_000.0)})
    frame["before"] = frame.x.shift(131_073)
    got = frame.before.to_numpy()
    assert np.isnan(got[:131_073]).all() and (got[131_073:] == np.arange(300_000 - 131_073)).all()


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummin", "cummax"])
@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16", "float64", "bool"])
def test_running_results_are_those_of_pandas(name: str, dtype: str) -> None:
    random = np.random.default_rng(6)
    values = (random.integers(-3, 4, 300_000) % 100).astype(dtype)
    if dtype == "float64":
        values[random.random(len(values)) < 0.1] = np.nan
    column = hr.Series(values)
    theirs = getattr(pd.Series(values.astype("int64") if dtype != "float64" else values), name)()
    ours = getattr(column, name)()
    assert len(ours) == len(theirs)
    np.testing.assert_allclose(
        ours.to_numpy().astype("float64"), theirs.to_numpy().astype("float64"), rtol=1e-9
    )


@given(
    st.lists(FLOATS, max_size=70),
    st.sampled_from(["average", "min", "max", "first", "dense"]),
    st.booleans(),
)
def test_ranks_are_those_of_pandas(values: list[Any], method: Any, ascending: bool) -> None:
    theirs = pd.Series(values, dtype="float64").rank(method=method, ascending=ascending)
    ours = hr.Series(values, dtype="float64").rank(method=method, ascending=ascending)
    np.testing.assert_array_equal(ours.to_numpy(), theirs.to_numpy())


def test_ranks_of_texts_over_morsels() -> None:
    words = [f"w{i * 7919 % 5003}" for i in range(150_000)]
    theirs = pd.Series(words).rank(method="dense")
    assert (hr.Series(words).rank(method="dense").to_numpy() == theirs.to_numpy()).all()
    with pytest.raises(hr.InvalidArgumentError, match="method='best'"):
        hr.Series([1]).rank(method="best")  # type: ignore[arg-type]


def test_ranks_refuse_a_method_as_axis_and_texts_as_numbers() -> None:
    assert hr.Series([3, 1, 1]).rank("rows", "dense").to_list() == [2.0, 1.0, 1.0]
    for axis in ("dense", 1, True):
        with pytest.raises(hr.InvalidArgumentError, match=f"axis={axis!r}; name the method"):
            hr.Series([3, 1, 1]).rank(axis)  # type: ignore[arg-type]
    with pytest.raises(hr.TypeMismatchError, match="dtype='string'; leave out numeric_only"):
        hr.Series(["b", "a"]).rank(numeric_only=True)
    assert hr.Series([True, False]).rank(numeric_only=True).to_list() == [2.0, 1.0]


def test_results_of_one_element_go_into_lists() -> None:
    x = hr.Series([1.0, 2.0, 6.0])
    frame = hr.DataFrame({"what": ["mean", "max", "one"], "value": [x.mean(), x.max(), 1.0]})
    assert frame.value.to_list() == [3.0, 6.0, 1.0]
    with pytest.raises(ValueError, match="size"):
        hr.Series([x.to_array(), 1.0])


def test_between_where_mask_replace() -> None:
    column = hr.Series([1, 2, 3, None])
    plain = pd.Series([1, 2, 3], dtype="int64")
    for inclusive in ("both", "neither", "left", "right"):
        assert column[:3].between(1, 3, inclusive).to_list() == (
            plain.between(1, 3, inclusive).to_list()
        )
    assert column.where(column > 1).to_list() == [None, 2, 3, None]
    assert column.where(column > 1, -column).to_list()[:3] == [-1, 2, 3]
    assert column.mask(column > 1, 0).to_list()[:3] == [1, 0, 0]
    assert column.replace({1: 10, 3: 30}).to_list() == [10, 2, 30, None]
    assert column.replace(2, 5).to_list() == [1, 5, 3, None]
    with pytest.raises(hr.InvalidArgumentError, match="inclusive='no'"):
        column.between(1, 2, "no")  # type: ignore[arg-type]


TEXTS = st.lists(st.tuples(WORDS, WORDS), max_size=140)
ORDERS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@given(TEXTS, WORDS.filter(lambda w: w is not None), st.sampled_from(sorted(ORDERS)))
def test_texts_compare_by_their_bytes(rows: list[Any], word: str, op: str) -> None:
    frame = hr.DataFrame(
        {
            "a": hr.Series([a for a, _ in rows], dtype="string"),
            "b": hr.Series([b for _, b in rows], dtype="string"),
        }
    )
    compare = ORDERS[op]

    def expected(pairs: list[Any]) -> list[Any]:
        return [op == "!=" if a is None or b is None else compare(a, b) for a, b in pairs]

    by_category = [(frame.a.astype("category"), frame.b)] if op in ("==", "!=") else []
    for a, b in [(frame.a, frame.b), *by_category]:
        assert compare(a, b).to_list() == expected(rows)
        assert compare(a, word).to_list() == expected([(x, word) for x, _ in rows])
        assert compare(word, a).to_list() == expected([(word, x) for x, _ in rows])
        chosen = a.where(compare(a, word), b).to_list()
        kept = expected([(x, word) for x, _ in rows])
        assert chosen == [x if k else y for k, (x, y) in zip(kept, rows, strict=True)]
    assert frame.a.fillna(word).to_list() == [word if a is None else a for a, _ in rows]


def test_ordered_categories_compare_by_their_order() -> None:
    words = pd.Categorical(["low", "high", None, "mid"], ["low", "mid", "high"], ordered=True)
    column = hr.from_pandas(pd.Series(words))
    assert (column < "high").to_list() == [True, False, False, True]
    assert (column >= column).to_list() == [True, True, False, True]
    with pytest.raises(hr.TypeMismatchError, match="not one of the categories"):
        (column < "higher").to_list()


def test_texts_over_morsels_slices_and_wrong_sides() -> None:
    words = [f"name {i % 977} that is long" for i in range(150_000)]
    column = hr.Series(words)[7:]
    assert (column == words[30]).sum().item() == words[7:].count(words[30])
    assert (column > words[30]).sum().item() == sum(w > words[30] for w in words[7:])
    assert column.replace(words[30], "x").isin(["x"]).sum().item() == words[7:].count(words[30])
    with pytest.raises(hr.TypeMismatchError):
        _ = column == 3
    with pytest.raises(hr.Error):
        _ = hr.Series([1]) == "a"
    with pytest.raises(hr.InvalidArgumentError, match="filtered or sorted"):
        _ = column == hr.Series(["a"])


def test_missing_values_of_frames() -> None:
    frame = hr.DataFrame({"x": [1.0, None, float("nan")], "s": ["a", None, "c"], "k": [1, 2, 3]})
    assert frame.isna().to_dict() == {
        "x": [False, True, True],
        "s": [False, True, False],
        "k": [False] * 3,
    }
    assert frame.dropna().k.to_list() == [1]
    assert frame.dropna("s").k.to_list() == [1, 3]
    assert frame.dropna(["x", "s"], how="all").k.to_list() == [1, 3]
    assert frame.fillna({"x": 7.0, "s": "?"}).to_dict() == {
        "x": [1.0, 7.0, 7.0],
        "s": ["a", "?", "c"],
        "k": [1, 2, 3],
    }
    assert frame[["x"]].fillna(0).x.to_list() == [1.0, 0.0, 0.0]
    assert frame.astype({"k": "float32"}).dtypes["k"] == "float32"
    for bad in (
        lambda: frame.fillna({"z": 1}),
        lambda: frame.dropna("z"),
        lambda: frame.astype({"z": "int8"}),
    ):
        with pytest.raises(hr.ColumnNotFoundError, match="z"):
            bad()
    with pytest.raises(hr.InvalidArgumentError, match="how='some'"):
        frame.dropna(how="some")  # type: ignore[arg-type]


def test_concat() -> None:
    random = np.random.default_rng(1)
    parts = [{"x": random.random(n), "k": random.integers(0, 9, n)} for n in (0, 1, 70, 140_000)]
    ours = hr.concat(hr.DataFrame(part) for part in parts)
    theirs = pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)
    assert ours.shape == theirs.shape
    assert (ours.x.to_numpy() == theirs.x.to_numpy()).all()
    assert (ours.k.to_numpy() == theirs.k.to_numpy()).all()
    assert (ours.x * ours.k).sum().item() == pytest.approx((theirs.x * theirs.k).sum())
    mixed = hr.concat(
        [hr.DataFrame({"a": [1], "b": ["u"]}), hr.DataFrame({"b": [None, "v"], "a": [1.5, None]})]
    )
    assert mixed.to_dict() == {"a": [1.0, 1.5, None], "b": ["u", None, "v"]}
    words = hr.concat([hr.Series(["a"], dtype="category"), hr.Series(["b", "a"], dtype="category")])
    assert words.to_list() == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([], "nothing"),
        ([hr.DataFrame({"x": [1]}), hr.Series([1])], r"DataFrame.*Series"),
        ([hr.Series([1]), hr.Series(["a"])], "int64.*string"),
    ],
)
def test_concat_names_what_does_not_fit(parts: list[Any], text: str) -> None:
    with pytest.raises(hr.Error, match=text):
        hr.concat(parts)


FRAME = {"x": [1, 2, 3, 4], "y": [0.5, 1.5, -2.0, 4.0], "a b": ["u", "v", "w", "v"]}


@pytest.mark.parametrize(
    "text",
    [
        "x > 2",
        "1 < x <= 3",
        "x + y > 3 and y > 0",
        "not (x == 2 or x == 3)",
        "x in [1, 4]",
        "x not in [1, 4]",
        "`a b` == 'v'",
        "'v' <= `a b`",
        "`a b` in ['u', 'w'] or x * 2 == 4",
        "x % 2 == 0 & (y > 1)",
        "-y > x / 4",
        "x >= @least",
        "x in @some",
        "x > @some[0] and x < @limits['most']",
        "x == @limits['span'].stop",
        "y.abs() > 1.9",
        '`a b` == "it\'s `x` and @y"',
    ],
)
def test_query_is_what_pandas_finds(text: str) -> None:
    least, some, limits = 3, [1, 2], {"most": 4, "span": range(3)}  # read by the text
    ours = hr.DataFrame(FRAME).query(text)
    theirs = pd.DataFrame(FRAME).query(text, engine="python")
    assert ours.x.to_list() == theirs.x.to_list()
    assert least and some and limits


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("z > 1", "no such column"),
        ("x >", "invalid syntax"),
        ("x > @nothing", "name='nothing'"),
        ("__import__('os').system('true')", "not supported here"),
        ("x.__class__", "not supported here"),
        ("x.to_list()", "a call of anything except"),
        ("(lambda: 1)()", "not supported here"),
        ("[x for x in y]", "not supported here"),
        ("x[0]", "not supported here"),
        ("x > @some[3]", r"at='@some\[3\]'"),
        ("x > @some.nothing", "at='@some.nothing'"),
        ("x > @some.__class__", "not supported here"),
        ("x > @some.pop()", "not supported here"),
        ("x == None", "is_null"),
        ("x + 1", "not a row condition"),
        ("1 in [1]", "without a column"),
        ("", "expected a string"),
        ("x > 1; y", "invalid syntax"),
        ("9" * 5000 + " > x", "invalid syntax"),
    ],
)
def test_query_refuses_what_it_does_not_know(text: str, says: str) -> None:
    frame, some = hr.DataFrame(FRAME), [1, 2]
    with pytest.raises(hr.Error, match=says):
        frame.query(text)
    assert some == [1, 2] and frame.query("x == 1").x.to_list() == [1]


def test_the_same_part_of_a_frame_is_the_same_rows() -> None:
    df = hr.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
    mask = df.x > 1
    assert (df[mask].x + df[mask].y).to_list() == [7, 9]
    assert (df.x[mask] + df[mask].y).to_list() == [7, 9]
    assert (df[1:].x + df[1:].y).to_list() == [7, 9]
    assert (df.iloc[:2].x + df.iloc[:2].y).to_list() == [5, 7]
    assert (df.head(2).x + df.head(2).y).to_list() == [5, 7]
    for part in (
        np.array([True, False, True]),
        [True, False, True],
        hr.asarray([True, False, True]),
    ):
        assert df[part].y.to_list() == [4, 6]
    with pytest.raises(hr.InvalidArgumentError, match="different rows"):
        df.head(2).x + df.tail(2).y
    many = hr.DataFrame({"x": list(range(3000)), "y": list(range(3000))})
    at = np.arange(3000)[::-3]
    assert bool((many.iloc[at].x == many.y.iloc[at]).all())
    with pytest.raises(hr.InvalidArgumentError, match="different rows"):
        many.iloc[at].x + many.iloc[at - 1].y
