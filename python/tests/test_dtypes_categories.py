# SPDX-License-Identifier: Apache-2.0
"""Categories: pandas, Arrow and Polars in and out, codes shared, identity kept, rows picked."""

import datetime
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

WORDS = ["low", "high", "a text of more than twelve bytes", ""]


def test_a_list_of_strings_becomes_categories() -> None:
    kind = hr.Series(["b", None, "a", "b"], name="kind", dtype="category")
    assert kind.dtype == "category"
    assert (kind.dtype.kind, kind.dtype.itemsize) == ("O", 4)
    assert kind.to_list() == ["b", None, "a", "b"]
    assert kind.cat.categories.to_list() == ["a", "b"]
    assert kind.cat.codes.to_list() == [1, -1, 0, 1]
    assert kind.cat.codes.dtype == "int32"
    assert kind.cat.ordered is False
    assert list(kind.to_numpy()) == ["b", None, "a", "b"]
    assert "category" in repr(kind)
    assert repr(kind).splitlines()[:4] == ["0       b", "1    null", "2       a", "3       b"]
    with pytest.raises(hr.TypeMismatchError, match=r"cat:.*astype\('category'\)"):
        _ = hr.Series([1]).cat
    with pytest.raises(hr.UnsupportedError, match=r"categories cannot.*astype\('string"):
        hr.Series([Decimal(1)]).astype("category")


@given(st.lists(st.none() | st.text(max_size=20), max_size=60))
def test_strings_to_categories_and_back(values: list[str | None]) -> None:
    strings = hr.Series(values, dtype="string")
    kind = strings.astype("category")
    assert kind.to_list() == values
    distinct = {value for value in values if value is not None}
    assert kind.cat.categories.to_list() == sorted(distinct, key=str.encode)
    assert kind.astype("string").to_list() == values
    assert hr.Series(values, dtype="category").cat.codes.to_list() == kind.cat.codes.to_list()


@pytest.mark.parametrize(
    "index", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint32(), pa.uint64()]
)
@pytest.mark.parametrize("entry", [pa.string(), pa.large_string(), pa.string_view()])
def test_arrow_dictionaries_of_each_layout(index: pa.DataType, entry: pa.DataType) -> None:
    codes = pa.array([3, None, 0, 1, 0, 2], index)
    array = pa.DictionaryArray.from_arrays(codes, pa.array(WORDS, entry))
    expected = array.to_pylist()
    for part in (array, array[1:4], array[:0]):
        series = hr.Series(part)
        assert series.dtype == "category"
        assert series.cat.categories.to_list() == WORDS
        assert series.to_list() == part.to_pylist()
        assert series.to_arrow().to_pylist() == part.to_pylist()
    narrow = index.bit_width == 32
    shared = hr.Series(array).to_arrow().indices.buffers()[1].address
    assert (shared == codes.buffers()[1].address) == narrow
    assert hr.Series(array).to_arrow().cast(pa.string()).to_pylist() == expected


def test_codes_of_32_bits_are_not_copied() -> None:
    codes = pa.array(np.arange(100_000, dtype="int32") % 4)
    array = pa.DictionaryArray.from_arrays(codes, pa.array(WORDS, pa.string_view()))
    with hr.no_copies():
        series = hr.Series(array)
        assert len(series) == 100_000
    hr.memory.ledger().clear()
    series.to_arrow()
    assert 0 < hr.memory.ledger().total_bytes < 200  # the four strings


def test_identity_survives_a_round_trip() -> None:
    kind = hr.Series(WORDS, dtype="category")
    back = hr.Series(kind.to_arrow())
    assert back.cat.categories._value().address == kind.cat.categories._value().address
    other = hr.Series([*WORDS, "more"], dtype="category")
    assert other.cat.categories._value().address != kind.cat.categories._value().address


def test_chunks_with_other_dictionaries_get_one() -> None:
    parts = [["b", "a", None], ["c", "a"], [], ["a", "b"]]
    chunked = pa.chunked_array([pa.array(p, pa.string()).dictionary_encode() for p in parts])
    series = hr.Series(chunked)
    assert series.to_list() == [value for part in parts for value in part]
    assert series.cat.categories.to_list() == ["b", "a", "c"]
    table = pa.table({"k": chunked, "x": range(7)})
    assert hr.from_arrow(table).k.to_list() == series.to_list()


def test_broken_dictionaries_are_refused() -> None:
    codes = pa.array([0, 5], pa.int32())
    wrong = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    with pytest.raises(hr.InvalidArgumentError, match=r"out of range of its dictionary.*index=5"):
        hr.Series(wrong)
    prices = pa.array([Decimal("1.5"), Decimal("2.5")])
    with pytest.raises(hr.UnsupportedError, match="categories cannot"):
        hr.Series(pa.DictionaryArray.from_arrays(pa.array([0, 1]), prices))


def test_pandas_categories_in_and_out() -> None:
    for values in (
        pd.Categorical(["b", None, "a", "b"]),
        pd.Categorical(["b", None], categories=["c", "b"], ordered=True),
        pd.Categorical.from_codes(np.arange(1000) % 300, [f"v{i}" for i in range(300)]),
    ):
        frame = pd.DataFrame({"k": values})
        ours = hr.from_pandas(frame)
        assert ours.dtypes == {"k": "category"}
        assert ours.k.cat.categories.to_list() == values.categories.to_list()
        assert ours.k.cat.ordered == values.ordered
        pd.testing.assert_frame_equal(ours.to_pandas(), frame)
        assert hr.Series(frame.k).to_list() == ours.k.to_list()
    assert pd.Series(["a"]).astype(hr.Series(["a"], dtype="category").to_pandas().dtype).size == 1
    assert hr.Series(["a"], dtype=pd.CategoricalDtype()).dtype == "category"


def test_polars_reads_and_gives_them() -> None:
    frame = pl.DataFrame({"k": pl.Series(["b", None, "a"], dtype=pl.Categorical)})
    ours = hr.DataFrame(frame)
    assert ours.k.dtype == "category"
    assert ours.k.to_list() == ["b", None, "a"]
    assert pl.DataFrame(ours)["k"].cast(pl.String).to_list() == ["b", None, "a"]
    enum = pl.DataFrame({"k": pl.Series(["b", "a"], dtype=pl.Enum(["a", "b"]))})
    assert hr.DataFrame(enum).k.cat.categories.to_list() == ["a", "b"]


def test_rows_are_picked_as_of_any_column() -> None:
    rows = 300_000
    rng = np.random.default_rng(1)
    texts = np.array(WORDS, object)[rng.integers(0, 4, rows)]
    texts[::9] = None
    values = pa.array(texts, pa.string())
    expected: Any = None
    for threads in (1, 2, 4):
        with hr.threads(threads):
            frame = hr.DataFrame({"k": hr.Series(values).astype("category"), "x": np.arange(rows)})
            picked = frame[frame.x % 5 == 2]
            assert picked.k.to_list() == values.take(pa.array(np.arange(2, rows, 5))).to_pylist()
            made = (picked.k.cat.codes.to_list(), picked.k.cat.categories.to_list())
            expected = expected or made
            assert made == expected
    assert frame.k[[3, -1]].to_list() == [texts[3], texts[-1]]
    assert frame[10:20].k.to_list() == list(texts[10:20])
    assert frame.head(4).k.to_list() == list(texts[:4])
    assert frame.tail(4).k.to_list() == list(texts[-4:])
    assert int(frame.k.count()) == rows - len(texts[::9])
    assert frame[frame.k.is_null()].shape[0] == len(texts[::9])
    assert len(frame.k.dropna()) == rows - len(texts[::9])
    assert frame.count().k.item() == rows - len(texts[::9])


def test_what_does_not_work_says_so() -> None:
    kind = hr.Series(WORDS, dtype="category")
    for wrong in (
        lambda: kind + 1,
        lambda: (kind < kind).to_list(),
        lambda: (kind < "low").to_list(),
        lambda: (kind < kind.astype("string")).to_list(),
        lambda: kind.shift().fillna(1),
        lambda: hr.Series([1]).astype("category") + 1,
        lambda: (hr.Series([1]).astype("category") < 1).to_list(),
    ):
        with pytest.raises((hr.TypeMismatchError, hr.UnsupportedError)):
            wrong()
    with pytest.raises(hr.TypeMismatchError, match=r"cat\.codes"):
        kind.to_array()
    assert (kind == kind).to_list() == [None if w is None else True for w in WORDS]
    assert (kind == "low").to_list() == [None if w is None else w == "low" for w in WORDS]
    with pytest.raises(hr.ExchangeError):
        np.from_dlpack(kind)


def test_categories_of_pandas_keep_their_order() -> None:
    kind = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    texts = ["hi", "lo", None, "mid", "zz"]
    for ours in (hr.Series(texts).astype(kind), hr.Series(texts, dtype=kind)):
        assert ours.cat.ordered and ours.cat.categories.to_list() == ["lo", "mid", "hi"]
        assert ours.sort_values().to_list() == ["lo", "mid", "hi", None, None]
    df = hr.DataFrame({"c": ["b", "a"]}).astype({"c": pd.CategoricalDtype(ordered=True)})
    assert df.c.cat.ordered and df.c.cat.categories.to_list() == ["a", "b"]
    assert not hr.Series(["b"], dtype=pd.CategoricalDtype()).cat.ordered


def test_a_categorical_of_pandas_stays_one() -> None:
    values = pd.Categorical(["b", None, "a"], categories=["c", "b", "a"], ordered=True)
    frame = hr.DataFrame({"k": values, "x": [1, 2, 3]})
    frame["again"] = values[::-1]
    for column in (hr.Series(values), frame.k):
        assert (column.dtype, column.to_list()) == ("category", ["b", None, "a"])
        assert column.cat.categories.to_list() == ["c", "b", "a"] and column.cat.ordered
    assert frame.again.to_list() == ["a", None, "b"]
    assert not hr.Series(pd.Categorical(["a"])).cat.ordered
    assert hr.Series(pd.Categorical([], categories=["a"])).cat.categories.to_list() == ["a"]


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, None, 3],
        [1.5, None, -0.5, 0.0],
        [True, None, False, True],
        [datetime.date(2024, 2, 29), None, datetime.date(2024, 1, 1)],
        [datetime.datetime(2024, 2, 29, 1), None, datetime.datetime(2024, 1, 1)],
        [datetime.timedelta(1), None, datetime.timedelta(0)],
    ],
)
def test_categories_of_other_values(values: list[Any], tmp_path: Path) -> None:
    column = hr.Series(values)
    distinct = sorted(set(values) - {None})
    for made in (
        column.astype("category"),
        hr.Series(values, dtype="category"),
        hr.Series(pa.array(values).dictionary_encode()).cat.set_categories(distinct),
        hr.Series(pd.Categorical(values, categories=distinct)),
        pickle.loads(pickle.dumps(column.astype("category"))),
    ):
        assert made.dtype == "category" and made.to_list() == values
        assert made.cat.categories.to_list() == distinct
        assert made.cat.codes.to_list() == [-1 if v is None else distinct.index(v) for v in values]
        assert (made == values[0]).to_list() == [v == values[0] for v in values]
        assert made.sort_values().to_list() == [*sorted(v for v in values if v is not None), None]
        assert made.astype(column.dtype).to_list() == values
    kind = column.astype("category")
    assert pa.array(kind).to_pylist() == values
    frame = hr.DataFrame({"k": kind, "x": range(len(values))})
    if kind.cat.categories.dtype != "date":
        theirs = pd.Series(pd.Categorical(values, distinct), name="k")
        pd.testing.assert_series_equal(frame.to_pandas().k, theirs)
    frame.to_csv(tmp_path / "k.csv")
    frame.assign(k=column).to_csv(tmp_path / "v.csv")
    assert (tmp_path / "k.csv").read_text() == (tmp_path / "v.csv").read_text()
    known = frame.groupby("k").x.sum()
    assert known.to_dict() == frame.assign(k=column).groupby("k").x.sum().to_dict()
    other = hr.DataFrame({"k": distinct, "y": range(len(distinct))})
    both = frame.merge(other, on="k")
    assert both.y.to_list() == [distinct.index(v) for v in values if v is not None]
    assert frame.merge(other.astype({"k": "category"}), on="k").y.to_list() == both.y.to_list()


@pytest.mark.parametrize("rows", [0, 1, 64, 65, 131_072, 131_073, 300_000])
def test_encoded_values_come_back(rows: int) -> None:
    rng = np.random.default_rng(rows)
    for values in (
        rng.integers(-99, 99, rows),
        np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 9, rows) / 2),
        rng.random(rows) < 0.5,
    ):
        made = [
            (kind.to_arrow(), kind.cat.categories.to_list())
            for threads in (1, 2)
            for kind in [in_threads(threads, values)]
        ]
        assert made[0][0].equals(made[1][0]) and made[0][1] == sorted(made[0][1])
        theirs = pd.Series(values).astype("category")
        assert made[0][1] == theirs.cat.categories.tolist()
        codes = hr.Series(made[0][0]).cat.codes.to_numpy()
        np.testing.assert_array_equal(codes, theirs.cat.codes)


def in_threads(threads: int, values: Any) -> hr.Series:
    with hr.threads(threads):
        made = hr.Series(values).astype("category")
        hr.eval(made)
        return made


def test_ordered_categories_of_numbers() -> None:
    kind = hr.Series([3, 1, 2, None]).astype(hr.CategoricalDtype([3, 1, 2], ordered=True))
    assert kind.sort_values().to_list() == [3, 1, 2, None]
    assert (kind > 3).to_list() == [False, True, True, False]
    assert (kind <= 1.0).to_list() == [True, True, False, False]
    assert (kind < kind.cat.set_categories([3, 1, 2])).to_list() == [False] * 4
    assert (kind.min(), kind.max()) == (3, 2)
    for wrong in (lambda: kind > 9, lambda: kind > "a", lambda: kind < hr.Series([1, 2, 3, 4])):
        with pytest.raises(hr.TypeMismatchError):
            wrong().to_list()
    days = hr.to_datetime(hr.Series(["2024-01-02", "2024-01-01"])).astype("category")
    days = days.cat.as_ordered()
    assert (days > "2024-01-01").to_list() == [True, False]
    assert hr.cut(hr.Series([1, 5]), [0, 2, 9], labels=[10, 20]).to_list() == [10, 20]


def test_other_categories_of_numbers() -> None:
    kind = hr.Series([3, 1, 3]).astype("category")
    assert kind.cat.set_categories([3.0, 1.5]).to_list() == [3.0, None, 3.0]
    assert kind.cat.set_categories(["a"]).to_list() == [None] * 3
    assert kind.cat.rename_categories(lambda v: f"v{v}").to_list() == ["v3", "v1", "v3"]
    assert kind.map({1: "x"}).to_list() == [None, "x", None]
    assert hr.concat([kind, hr.Series([9]).astype("category")]).cat.categories.to_list() == [
        1,
        3,
        9,
    ]
    assert hr.concat([kind, hr.Series([9])]).dtype == "int64"
    with pytest.raises(hr.InvalidArgumentError, match="distinct"):
        kind.cat.set_categories([1, 1])
    with pytest.raises(hr.InvalidArgumentError, match="unknown"):
        kind.cat.remove_categories([7])


def test_no_categories() -> None:
    got = hr.Series(["b", "a", None], dtype="category").cat.set_categories([])
    assert (got.to_list(), got.cat.categories.to_list()) == ([None] * 3, [])
    none = hr.Series([], dtype="category").cat.remove_unused_categories()
    assert (str(none.dtype), none.to_list()) == ("category", [])


def test_dtypes_know_their_categories() -> None:
    theirs = pd.Series(["b", None, "a"]).astype(pd.CategoricalDtype(["c", "b", "a"], ordered=True))
    ours = hr.Series(["b", None, "a"]).astype(theirs.dtype)
    assert ours.dtype.categories.to_list() == list(theirs.dtype.categories)
    assert ours.dtype.ordered and not ours.cat.as_unordered().dtype.ordered
    values = ["a", "c", None]
    again = hr.Series(values).astype(ours.dtype)
    assert again.to_list() == values and again.dtype.categories.to_list() == ["c", "b", "a"]
    assert hr.Series(["z"]).astype(ours.dtype).to_list() == [None]
    assert hr.Series(["a"], dtype=ours.dtype).dtype.categories.to_list() == ["c", "b", "a"]
    assert pickle.loads(pickle.dumps(ours.dtype)) == "category"
    pd.testing.assert_extension_array_equal(pd.Categorical(ours), theirs.array)


FILLS = {
    "known": lambda m, s: s.fillna("a"),
    "filtered": lambda m, s: s[s != "b"].fillna("b"),
    "added": lambda m, s: s.cat.add_categories(["z"]).fillna("z"),
    "column": lambda m, s: s.fillna(m.Series(["b", "b", "a", "a"])),
    "mode": lambda m, s: s.fillna(s.mode()[0]),
    "ordered": lambda m, s: s.astype(m.CategoricalDtype(["b", "a"], ordered=True)).fillna("b"),
    "nothing to fill": lambda m, s: s.dropna().fillna("z"),
    "numbers": lambda m, s: m.Series([2.5, None, 1]).astype("category").fillna(1),
    "frame": lambda m, s: m.DataFrame({"k": [1, 2, 3, 4], "s": s}).set_index("k").fillna("b").s,
}


@pytest.mark.parametrize("name", FILLS)
def test_filled_categories_stay_categories(name: str) -> None:
    values = ["a", None, "b", "a"]
    ours = FILLS[name](hr, hr.Series(values, dtype="category"))
    theirs = FILLS[name](pd, pd.Series(values, dtype="category"))
    assert ours.dtype == "category"
    assert list(ours.items()) == list(theirs.items())
    assert ours.cat.categories.to_list() == theirs.cat.categories.tolist()
    assert ours.cat.codes.to_list() == theirs.cat.codes.tolist()
    assert ours.cat.ordered == theirs.cat.ordered


@pytest.mark.parametrize("module", [hr, pd])
def test_only_categories_fill_categories(module: Any) -> None:
    column = module.Series(["a", None, "b"], dtype="category")
    for value in ("z", 0, module.Series(["a", "z", "b"])):
        with pytest.raises(TypeError, match="categor"):
            column.fillna(value)
    with pytest.raises(TypeError, match="categor"):
        module.DataFrame({"c": column}).fillna({"c": "z"})
