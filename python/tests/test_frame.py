# SPDX-License-Identifier: Apache-2.0
"""Frames and series beside pandas: columns, rows, missing values, reductions, text and HTML."""

from __future__ import annotations

import html.parser
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

INTEGERS = st.one_of(st.none(), st.integers(-100, 100))
FLOATS = st.one_of(st.none(), st.floats(-1e6, 1e6), st.just(math.nan))
TEXTS = st.one_of(st.none(), st.text(max_size=20))


def as_pandas(values: list[Any], dtype: str) -> pd.Series:
    return pd.Series(values, dtype=dtype)


def python_list(series: pd.Series) -> list[Any]:
    return [None if v is pd.NA else v for v in series.astype(object)]


def same(got: list[Any], expected: list[Any]) -> None:
    assert [repr(v) for v in got] == [repr(v) for v in expected]


@st.composite
def frames(draw: st.DrawFn, min_size: int = 0) -> dict[str, list[Any]]:
    size = draw(st.integers(min_size, 70))

    def column(values: st.SearchStrategy[Any]) -> list[Any]:
        return draw(st.lists(values, min_size=size, max_size=size))

    bools = column(st.one_of(st.none(), st.booleans()))
    return {"i": column(INTEGERS), "f": column(FLOATS), "s": column(TEXTS), "b": bools}


def frame_of(data: dict[str, list[Any]]) -> hr.DataFrame:
    dtypes = {"i": "int64", "f": "float64", "s": "string", "b": "bool"}
    return hr.DataFrame({k: hr.Series(v, dtype=dtypes[k]) for k, v in data.items()})


# ---- construction and columns ----------------------------------------------------------------
@given(frames())
def test_values_come_back_as_they_went_in(data: dict[str, list[Any]]) -> None:
    df = frame_of(data)
    assert df.columns == ["i", "f", "s", "b"]
    assert df.shape == (len(data["i"]), 4)
    assert len(df) == len(data["i"])
    for name, values in data.items():
        same(df[name].to_list(), values)
    assert list(df.to_dict()) == list(data)


def test_dtypes_are_known_before_anything_runs() -> None:
    df = hr.DataFrame(
        {"x": np.arange(3, dtype="int16"), "y": [1.5, None, 2], "s": ["a", None, "b"]}
    )
    assert df.dtypes == {"x": "int16", "y": "float64", "s": "string"}
    df["z"] = df.x / 2 > df.y
    assert df.dtypes["z"] == "bool"
    assert df.x is not df.x
    assert "x" in dir(df)
    assert "x" in df
    assert list(df) == ["x", "y", "s", "z"]


def test_a_frame_takes_tables_and_single_values() -> None:
    columns = {"a": [1, 2], "b": ["x", "y"]}
    for table in (pd.DataFrame(columns), pa.table(columns), pl.DataFrame(columns)):
        assert hr.DataFrame(table).to_dict() == columns
    df = hr.DataFrame({"n": 7, "a": [1, 2], "t": "x"})
    assert df.to_dict() == {"n": [7, 7], "a": [1, 2], "t": ["x", "x"]}
    for bad in (3, "a", pa.array([1])):
        with pytest.raises(hr.TypeMismatchError, match="pass columns by name"):
            hr.DataFrame(bad)
    with pytest.raises(hr.TypeMismatchError, match="pass a list"):
        hr.DataFrame({"a": 3})


def test_names_that_repeat_are_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(hr.InvalidArgumentError, match="'a'"):
        hr.from_arrow(table)
    with pytest.raises(hr.InvalidArgumentError, match="'a'"):
        hr.from_pandas(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_selecting_assigning_renaming_and_dropping() -> None:
    df = hr.DataFrame({"a": [1, 2, 3], "b": [4.0, 5.0, 6.0]})
    assert df[["b", "a"]].columns == ["b", "a"]
    other = df.assign(c=df.a * 2, d=lambda f: f.c + f.a, e=7, t="text", flag=True)
    assert df.columns == ["a", "b"]
    assert other.d.to_list() == [3, 6, 9]
    assert other.e.to_list() == [7, 7, 7]
    assert other.t.to_list() == ["text"] * 3
    assert other.flag.to_list() == [True] * 3
    assert other.drop("c").columns == ["a", "b", "d", "e", "t", "flag"]
    assert other.drop(["a", "b", "c"]).columns == ["d", "e", "t", "flag"]
    assert df.rename({"a": "z"}).columns == ["z", "b"]
    with pytest.raises(hr.Error, match="duplicate"):
        df.rename({"a": "b"})
    kept = df.a
    df["a"] = [7, 8, 9]
    assert kept.to_list() == [1, 2, 3]
    assert df.a.to_list() == [7, 8, 9]


@pytest.mark.parametrize(
    "call", [lambda d: d["prize"], lambda d: d[["prize"]], lambda d: d.drop("prize")]
)
def test_an_unknown_column_is_named_with_its_neighbour(call: Any) -> None:
    df = hr.DataFrame({"price": [1], "size": [2]})
    with pytest.raises(hr.ColumnNotFoundError, match=r"prize.*price") as caught:
        call(df)
    assert isinstance(caught.value, KeyError)
    with pytest.raises(AttributeError, match="did you mean 'price'"):
        df.prize
    with pytest.raises(AttributeError, match=r"Series has no attribute .*did you mean 'quantile'"):
        df.price.quantil
    with pytest.raises(AttributeError, match=r"no attribute 'zzz'$"):
        df.price.zzz
    with pytest.raises(AttributeError, match="only available for arrays on a CUDA device"):
        df.price.__cuda_array_interface__


def test_columns_of_other_lengths_are_refused() -> None:
    with pytest.raises(hr.InvalidArgumentError, match=r"column='?b.*rows=2.*frame_rows=3"):
        hr.DataFrame({"a": [1, 2, 3], "b": [1, 2]})
    df = hr.DataFrame({"a": [1, 2, 3]})
    with pytest.raises(hr.InvalidArgumentError, match="rows=2"):
        df["b"] = [1, 2]
    assert df.columns == ["a"]
    with pytest.raises(hr.InvalidArgumentError, match="shapes"):
        df.a + hr.Series([1, 2])
    with pytest.raises(hr.InvalidArgumentError, match="mask=2, rows=3"):
        df[hr.Series([True, False])]


def test_rows_of_two_frames_do_not_mix() -> None:
    df = hr.DataFrame({"a": [1, 2, 3, 4]})
    small, large = df[df.a < 3], df[df.a > 2]
    with pytest.raises(hr.InvalidArgumentError, match="merge or join"):
        small.a + large.a
    small["b"] = large.a  # by row number
    assert small.b.to_list() == [None, None]
    assert (small.a + small.a.to_array()).to_list() == [2, 4]
    assert (small.a + small["a"] * 2).to_list() == [3, 6]


# ---- rows ------------------------------------------------------------------------------------
@given(frames(), st.data())
def test_masks_slices_head_and_tail_equal_pandas(
    data: dict[str, list[Any]], draw: st.DataObject
) -> None:
    df, size = frame_of(data), len(data["i"])
    mask = draw.draw(st.lists(st.one_of(st.none(), st.booleans()), min_size=size, max_size=size))
    cut = draw.draw(st.slices(size))
    count = draw.draw(st.integers(0, 80))
    picked, sliced = df[hr.Series(mask, dtype="bool")], df[cut]
    for name, values in data.items():
        same(picked[name].to_list(), [v for v, m in zip(values, mask, strict=True) if m])
        same(sliced[name].to_list(), values[cut])
        same(df.head(count)[name].to_list(), values[:count])
        same(df.tail(count)[name].to_list(), values[max(size - count, 0) :])
        same(df[name][cut].to_list(), values[cut])
        same([df[name][i] for i in (0, -1) if size], [values[i] for i in (0, -1) if size])
    assert len(picked) == sum(bool(m) for m in mask)


def test_arithmetic_goes_on_over_picked_rows() -> None:
    x = pd.DataFrame({"a": np.arange(300_000), "b": np.arange(300_000) % 7})
    df = hr.from_pandas(x)
    big, expected = df[df.b > 3], x[x.b > 3]
    got = ((big.a + big.b) * 2)[big.b == 5]
    want = ((expected.a + expected.b) * 2)[expected.b == 5]
    assert got.to_list() == want.to_list()
    assert int(big.a.sum()) == expected.a.sum()


def test_bad_keys_are_refused() -> None:
    df = hr.DataFrame({"a": [1, 2, 3]})
    with pytest.raises(TypeError, match="a name, a list of names, a mask or a slice"):
        df[None]
    for key in (0, 1.5, ("a",)):
        with pytest.raises(KeyError, match="no such column"):
            df[key]
    with pytest.raises(IndexError, match="row=3, rows=3"):
        df.a[3]
    with pytest.raises(hr.TypeMismatchError, match=r"mask must be|positions must be"):
        df[df.a / 2]


def test_negative_counts_leave_rows_out_as_in_pandas() -> None:
    df, p = hr.DataFrame({"a": [1, 2, 3, 4]}), pd.DataFrame({"a": [1, 2, 3, 4]})
    for rows in (-1, -3, -4, -9, 0, 2, 9):
        assert df.head(rows).a.to_list() == p.head(rows)["a"].tolist()
        assert df.tail(rows).a.to_list() == p.tail(rows)["a"].tolist()
        assert df.a.head(rows).to_list() == p["a"].head(rows).tolist()
        assert df.a.tail(rows).to_list() == p["a"].tail(rows).tolist()


def test_no_silent_truth() -> None:
    df = hr.DataFrame({"a": [1, 2]})
    for value in (df, df.a > 1, df.a):
        with pytest.raises(hr.InvalidArgumentError, match="truth value"):
            bool(value)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(hr.asarray([1, 2]))
    assert (df.a > 1).any()


# ---- missing values --------------------------------------------------------------------------
@given(st.lists(FLOATS, max_size=70))
def test_null_and_nan_are_two_things(values: list[float | None]) -> None:
    s = hr.Series(values, dtype="float64")
    nan = [v is not None and math.isnan(v) for v in values]
    null = [v is None for v in values]
    assert s.is_null().to_list() == null
    assert s.is_nan().fill_null(False).to_list() == nan
    assert s.isna().to_list() == [a or b for a, b in zip(nan, null, strict=True)]
    assert s.notna().to_list() == [not (a or b) for a, b in zip(nan, null, strict=True)]
    same(s.fill_null(7).to_list(), [7.0 if v is None else v for v in values])
    same(
        s.fillna(7).to_list(),
        [7.0 if a or b else v for v, a, b in zip(values, nan, null, strict=True)],
    )
    same(
        s.dropna().to_list(), [v for v, a, b in zip(values, nan, null, strict=True) if not (a or b)]
    )
    assert int(s.count()) == sum(not (a or b) for a, b in zip(nan, null, strict=True))


def test_a_list_becomes_the_dtype_that_is_asked_for() -> None:
    assert hr.Series([], dtype="string").dtype == "string"
    assert hr.Series([2**53 + 1, None], dtype="uint64").to_list() == [2**53 + 1, None]
    with pytest.raises(hr.InvalidArgumentError, match=r"row=1, value='?300"):
        hr.Series([1, 300], dtype="int8")
    with pytest.raises(hr.TypeMismatchError, match="row=1"):
        hr.Series(["a", 1], dtype="string")


def test_filling_keeps_the_dtype_but_for_floats_in_integers() -> None:
    s = hr.Series([1, None])
    assert s.fillna(2).dtype == "int64"
    assert s.fillna(2.5).to_list() == [1.0, 2.5]
    with pytest.raises(hr.TypeMismatchError, match="astype"):
        s.fill_null(2.5)
    with pytest.raises(hr.InvalidArgumentError, match="300"):
        hr.Series([1, None], dtype="int8").fillna(300)
    assert hr.Series([True, None]).fillna(False).to_list() == [True, False]


@given(st.lists(INTEGERS, max_size=70), st.lists(INTEGERS, max_size=70))
def test_arithmetic_and_comparison_equal_pandas(left: list[Any], right: list[Any]) -> None:
    size = min(len(left), len(right))
    x, y = as_pandas(left[:size], "Int64"), as_pandas(right[:size], "Int64")
    a, b = hr.Series(left[:size], dtype="int64"), hr.Series(right[:size], dtype="int64")
    cases = [
        (a + b, x + y),
        (a - b * 3, x - y * 3),
        (-a, -x),
        (abs(a), abs(x)),
        (a.clip(-5, 5), x.clip(-5, 5)),
    ]
    for got, expected in cases:
        same(got.to_list(), python_list(expected))
    x, y = as_pandas(left[:size], "float64"), as_pandas(right[:size], "float64")
    cases = [(a < b, x < y), (a >= 3, x >= 3), (a == b, x == y), (a != b, x != y)]
    cases += [((a < 0) & (b < 0), (x < 0) & (y < 0)), ((a < 0) | (b < 0), (x < 0) | (y < 0))]
    cases += [((a < 0) ^ (b < 0), (x < 0) ^ (y < 0)), (~(a < 0), ~(x < 0))]
    for got, expected in cases:
        same(got.to_list(), python_list(expected))


# ---- reductions ------------------------------------------------------------------------------
@given(st.lists(FLOATS, min_size=1, max_size=70))
def test_reductions_skip_what_is_missing_as_pandas(values: list[float | None]) -> None:
    s, p = hr.Series(values, dtype="float64"), pd.Series(values, dtype="float64")
    for name in ("sum", "mean", "min", "max", "count", "std", "var", "median"):
        got, expected = float(getattr(s, name)()), float(getattr(p, name)())
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-6, nan_ok=True), name
    for q in (0, 0.1, 0.5, 1):
        assert float(s.quantile(q)) == pytest.approx(
            p.quantile(q), rel=1e-12, abs=1e-9, nan_ok=True
        )


def test_medians_and_quantiles_take_an_infinity_for_what_it_is() -> None:
    inf = float("inf")
    cases = [([1.0, 2.0, inf], 2.0), ([inf, inf], inf), ([1.0, inf], inf), ([-inf, 1.0], -inf)]
    for values, expected in cases:
        s = hr.Series(values)
        grouped = hr.DataFrame({"g": [0] * len(values), "x": s}).groupby("g").x.median()
        rolled = s.rolling(len(values)).median().to_list()[-1]
        assert [s.median().item(), grouped.to_list()[0], rolled] == [expected] * 3, values
    s = hr.Series([1.0, 2.0, inf])
    assert s.quantile([0, 0.25, 0.5, 0.75, 1]).tolist() == [1, 1.5, 2, inf, inf]
    df = hr.DataFrame({"x": s})
    assert df.median().x.item() == 2
    assert df.describe().loc["50%", "x"] == 2
    assert hr.qcut(hr.Series([1.0, 2.0, 3.0, inf, 0.0]), 2, labels=False).to_list() == [
        0,
        0,
        1,
        1,
        0,
    ]


@pytest.mark.parametrize(("mean", "spread"), [(1e7, 1), (1e6, 1e3), (0, 5e37)])
def test_correlation_and_covariance_of_float32_are_made_in_float64(
    mean: float, spread: float
) -> None:
    x, y = (np.random.default_rng(0).normal(mean, spread, (2, 20))).astype("float32")
    ours, theirs = hr.DataFrame({"x": x, "y": y}), pd.DataFrame({"x": x, "y": y}, dtype="float64")
    np.testing.assert_allclose(ours.corr().to_numpy(), theirs.corr(), atol=1e-9)
    scale = spread * spread
    np.testing.assert_allclose(ours.cov().to_numpy() / scale, theirs.cov() / scale, atol=1e-9)
    assert ours.x.corr(ours.x).item() <= 1


@pytest.mark.parametrize("constant", [[0.3] * 7, [0.1] * 3, [7.7] * 1000])
def test_correlation_with_a_constant_is_nan(constant: list[float]) -> None:
    df = hr.DataFrame({"x": constant, "y": [float(i) for i in range(len(constant))]})
    assert np.isnan(df.x.corr(df.y).item())
    np.testing.assert_allclose(df.corr().to_numpy(), [[np.nan, np.nan], [np.nan, 1]])
    assert df.cov().loc["x", "x"] == df.cov().loc["x", "y"] == 0


@given(frames(min_size=1))
def test_describe_equals_pandas(data: dict[str, list[Any]]) -> None:
    got = frame_of(data).describe()
    p = pd.DataFrame(
        {"i": as_pandas(data["i"], "Float64"), "f": pd.Series(data["f"], dtype="float64")}
    )
    expected = p.astype("float64").describe()
    assert got.columns == ["i", "f"]
    assert got.index.to_list() == list(expected.index)
    for name in ("i", "f"):
        assert got[name].to_list() == pytest.approx(
            expected[name].tolist(), rel=1e-9, abs=1e-6, nan_ok=True
        )
    assert hr.Series([1, 2], name="n").describe().to_frame().columns == ["n"]


def test_describe_counts_texts_and_refuses_no_columns() -> None:
    got = hr.DataFrame({"s": ["a", None, "b", "b"]}).describe()
    assert got.s.to_dict() == {"count": "3", "unique": "2", "top": "b", "freq": "2"}
    with pytest.raises(TypeError, match="no column"):
        hr.DataFrame().describe()


def test_reductions_of_nothing() -> None:
    s = hr.Series([], dtype="float64")
    assert (float(s.sum()), int(s.count())) == (0, 0)
    assert math.isnan(s.mean())
    assert math.isnan(s.min())
    with pytest.raises(hr.InvalidArgumentError, match="check count"):
        hr.Series([None, None], dtype="int64").max().item()
    with pytest.raises(hr.InvalidArgumentError):
        hr.asarray(np.zeros(0)).max().item()


# ---- empty -----------------------------------------------------------------------------------
def test_an_empty_frame_works() -> None:
    df = hr.DataFrame()
    assert (df.shape, df.columns, df.to_dict()) == ((0, 0), [], {})
    assert repr(df) == "shape: (0, 0)"
    assert "(0, 0)" in df._repr_html_()
    assert df.head().shape == (0, 0)
    assert df.to_pandas().shape == (0, 0)
    df["x"] = [1, 2]
    assert df.shape == (2, 1)
    none = hr.DataFrame({"x": [], "s": hr.Series([], dtype="string")})
    assert none.shape == (0, 2)
    assert none[none.x > 0].shape == (0, 2)
    assert "shape: (0, 2)" in repr(none)
    assert none.to_pandas().shape == (0, 2)


# ---- text and HTML ---------------------------------------------------------------------------
def test_the_text_shows_the_first_rows() -> None:
    df = hr.DataFrame({"n": list(range(25)), "x": [None, math.nan, *[i / 3 for i in range(23)]]})
    text = repr(df)
    assert text.splitlines()[0] == "shape: (25, 2)"
    assert "int64" in text
    assert "float64" in text
    assert "null" in text
    assert "NaN" in text
    lines = [line for line in text.splitlines() if line.startswith("│")]
    assert [line.split("┆")[0].strip("│ ") for line in lines[2:]] == [
        f"{i} ║ {i:>5}" for i in range(25)
    ]
    assert len({len(line) for line in text.splitlines()[1:]}) == 1
    assert "shape" not in repr(hr.Series([1, None, 3], name="n"))


def test_text_stands_in_columns_whatever_is_in_it() -> None:
    odd = hr.DataFrame(
        {"名前": ["日本語", "e\u0301", "tab\t\x1b[31m", "語" * 40], "line\nbreak": 1, "n" * 99: 2}
    )
    with hr.option_context("display.max_colwidth", 30, "display.width", 100):
        lines = repr(odd).splitlines()
    assert lines[1:5] == [
        "┌───╥───────────────────────────────┬─────────────┬────────────────────────────────┐",
        f"│   ║ 名前{' ' * 25} ┆ line\\nbreak ┆ {'n' * 29}… │",
        f"│   ║ string{' ' * 23} ┆ int64       ┆ int64{' ' * 25} │",
        "╞═══╬═══════════════════════════════╪═════════════╪════════════════════════════════╡",
    ]
    assert [line.split(" ┆")[0] for line in lines[5:9]] == [
        f"│ 0 ║ 日本語{' ' * 23}",
        f"│ 1 ║ e\u0301{' ' * 28}",
        f"│ 2 ║ tab\\t\\x1b[31m{' ' * 16}",
        f"│ 3 ║ {'語' * 14}…",
    ]


def test_the_html_is_well_formed_and_escaped() -> None:
    df = hr.DataFrame({"<b>": ["<script>alert(1)</script>", None], "n": [1, 2]})
    text = df._repr_html_()
    assert "<script>" not in text
    assert "&lt;b&gt;" in text
    open_tags: list[str] = []

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            open_tags.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_tags.pop() == tag

    Parser().feed(text)
    assert not open_tags
    assert text.count("<tr>") == 4
    assert hr.Series([1])._repr_html_().startswith('<table class="series headrace"')


def test_looking_at_the_head_reads_only_the_head(tmp_path: Any) -> None:
    path = tmp_path / "x.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(200_000)))
    df = hr.scan_csv(str(path))
    df["y"] = df.x * 2
    assert df.head(3).y.to_list() == [0, 2, 4]
    assert repr(df).splitlines()[0] == "shape: (?, 2)"
    assert not df.x._node.is_ready
    assert len(df) == 200_000


def test_a_frame_that_is_shown_whole_tells_its_rows() -> None:
    df = hr.DataFrame({"x": range(40)})
    for rows in (0, 1, 9, 39):
        text = repr(df[df.x < rows]).splitlines()
        assert text[0] == f"shape: ({rows}, 1)"
        assert len(text) == 6 + rows
    with hr.option_context("display.max_rows", 10):
        text = repr(df[df.x < 11])
    assert text.startswith("shape: (?, 1)")
    assert "…" in text


PICTURES: dict[str, Callable[[hr.DataFrame], Any]] = {
    "frame": lambda f: f,
    "chain": lambda f: f.assign(z=f.x * 2),
    "sort": lambda f: f.sort_values("x", ascending=False),
    "filter": lambda f: f[f.x > 3],
    "chain of a filter": lambda f: f[f.x > 3].assign(z=lambda g: g.x * 2),
    "sort of a filter": lambda f: f[f.x > 3].sort_values("x", ascending=False),
    "few": lambda f: f[f.x < 5],
    "none": lambda f: f[f.x < 0],
    "groups": lambda f: f.groupby("k").x.sum(),
    "join": lambda f: f.merge(f, on="x"),
    "labels": lambda f: f.set_index("x")[["k"]],
    "series": lambda f: f.x[f.x > 3],
    "concat": lambda f: hr.concat([f[f.x > 3], f]),
    "first rows": lambda f: f[f.x > 3].head(20),
}


@pytest.mark.parametrize("name", PICTURES)
@pytest.mark.parametrize("source", ["frame", "scan"])
def test_the_picture_does_not_depend_on_who_looked(name: str, source: str) -> None:
    def fresh() -> hr.DataFrame:
        text = b"x,k\n" + b"".join(b"%d,%d\n" % (i, i % 13) for i in range(40))
        return hr.scan_csv(text) if source == "scan" else hr.read_csv(text)

    made = PICTURES[name](fresh())
    before, page = repr(made), made._repr_html_()
    hr.eval(made)
    assert len(made) >= 0
    assert (repr(made), made._repr_html_()) == (before, page)
    looked = fresh()
    hr.eval(looked)
    assert len(looked) == 40 and repr(PICTURES[name](looked)) == before
    pictures = []
    for look in (False, True):
        step = fresh().pipe(lambda f: f[f.x > 3])
        if look:
            hr.eval(step)
        pictures.append(repr(step.sort_values("x").assign(z=lambda g: g.x + 1)))
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("kind", ["sum", "mean", "median", "std", "var", "min", "max", "count"])
def test_frame_reductions_are_what_pandas_gives(kind: str) -> None:
    data = {"i": [1, 5, 9, 2], "f": [0.5, math.nan, 2.5, 4.0], "s": ["a", None, "b", "c"]}
    expected = getattr(pd.DataFrame(data), kind)(
        **({} if kind == "count" else {"numeric_only": True})
    )
    words: dict[str, Any] = {} if kind == "count" else {"numeric_only": True}
    got = getattr(hr.DataFrame(data), kind)(**words)
    assert got.to_dict() == {name: got[name].item() for name in got.index} == expected.to_dict()


def test_frame_reductions_without_numbers_say_so() -> None:
    with pytest.raises(hr.TypeMismatchError, match="mean: unsupported columns"):
        hr.DataFrame({"s": ["a"]}).mean()


def test_texts_in_arithmetic_are_refused_with_a_way_out() -> None:
    with pytest.raises(hr.UnsupportedError, match=r"value='x', type='str'; .*to_pandas"):
        hr.Series(["x", "y"]) - "x"


@given(
    st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=40),
    st.lists(st.one_of(st.none(), st.integers(0, 2**64 - 1)), max_size=40),
    st.integers(-(2**63), 2**64 - 1),
)
def test_integers_of_any_sign_compare_exactly_with_nulls(
    left: list[Any], right: list[Any], literal: int
) -> None:
    size = min(len(left), len(right))
    a, b = hr.Series(left[:size], dtype="int64"), hr.Series(right[:size], dtype="uint64")
    compares = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
    for compare in compares:
        pairs = list(zip(left[:size], right[:size], strict=True))
        missing = compare is operator.ne
        expected = [missing if x is None or y is None else compare(x, y) for x, y in pairs]
        assert compare(a, b).to_list() == expected
        expected = [missing if x is None or y is None else compare(y, x) for x, y in pairs]
        assert compare(b, a).to_list() == expected
        for s, values in ((a, left), (b, right)):
            expected = [missing if x is None else compare(x, literal) for x in values[:size]]
            assert compare(s, literal).to_list() == expected
