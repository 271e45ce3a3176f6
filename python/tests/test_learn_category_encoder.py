# SPDX-License-Identifier: Apache-2.0
"""Category codes against dictionaries of Python, whole and in parts."""

from __future__ import annotations

import datetime
from collections import Counter

import numpy as np
import pytest

import headrace as hr


def codes_of(values, seen, *, min_count=1, max_size=None, buckets=1):
    """Codes by definition; a set of codes where a bucket is meant."""
    counts = Counter(value for value in seen if value is not None)  # in the order first seen
    ranked = sorted(counts, key=lambda value: -counts[value])  # stable
    known = [value for value in ranked if counts[value] >= min_count]
    if max_size is not None:
        known = known[: max_size - 2 - buckets]
    place = {value: 2 + buckets + i for i, value in enumerate(known)}
    shared = range(2, 2 + buckets)
    return [1 if v is None else place.get(v, shared) for v in values], known


def check(made, expected):
    assert len(made) == len(expected)
    for got, want in zip(made, expected, strict=True):
        assert got in want if isinstance(want, range) else got == want


def words(rows, levels, seed=0):
    rng = np.random.default_rng(seed)
    picked = (rng.pareto(1.0, rows) * 3).astype(int) % levels
    made = [f"word {k}" * (1 + k % 3) for k in picked]
    return [None if k % 13 == 5 else word for k, word in zip(picked, made, strict=True)]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 131073])
@pytest.mark.parametrize(
    "params",
    [{}, {"min_count": 3}, {"max_size": 9}, {"min_count": 2, "max_size": 40, "buckets": 7}],
)
def test_codes_follow_the_frequency(rows, params):
    seen = words(rows, 200)
    later = words(200, 400, seed=1)
    encoder = hr.learn.CategoryEncoder(**params).fit(
        hr.DataFrame({"w": hr.Series(seen, dtype="string")})
    )
    expected, known = codes_of(later, seen, **params)
    assert encoder.categories_[0].to_list() == known
    assert encoder.sizes_ == [2 + params.get("buckets", 1) + len(known)]
    made = encoder.transform(hr.DataFrame({"w": later}))
    assert made.dtype == np.int32 and made.shape == (200, 1)
    check(made.to_numpy()[:, 0].tolist(), expected)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_parts_give_the_codes_of_the_whole(threads):
    seen = words(300_000, 5000)
    with hr.threads(threads):
        whole = hr.learn.CategoryEncoder(min_count=2).fit(hr.DataFrame({"w": seen}))
        parts = hr.learn.CategoryEncoder(min_count=2)
        for begin in range(0, len(seen), 70_001):
            part = hr.Series(seen[begin : begin + 70_001], dtype="string")
            parts.partial_fit(hr.DataFrame({"w": part}))
    assert parts.categories_[0].to_list() == whole.categories_[0].to_list()
    assert parts.counts_[0].tolist() == whole.counts_[0].tolist()
    assert whole.counts_[0].to_numpy().sum() + sum(
        count for count in Counter(w for w in seen if w).values() if count < 2
    ) == sum(w is not None for w in seen)


def test_columns_of_other_kinds():
    frame = hr.DataFrame(
        {
            "i": [7, 3, 7, 3, 3],
            "f": [0.5, float("nan"), 0.5, -0.0, 0.0],
            "b": [True, True, False, True, None],
            "t": np.array(["2020-01-02", "NaT", "2020-01-01", "2020-01-02", "2020-01-02"], "M8[D]"),
            "c": hr.Series(["x", "y", "y", None, "y"]).astype("category"),
        }
    )
    encoder = hr.learn.CategoryEncoder().set_output(transform="headrace")
    made = encoder.fit_transform(frame)
    assert list(made.columns) == list(frame.columns)
    assert {str(made[name].dtype) for name in made.columns} == {"int32"}
    assert made.to_dict() == {
        "i": [4, 3, 4, 3, 3],
        "f": [3, 1, 3, 4, 4],
        "b": [3, 3, 4, 3, 1],
        "t": [3, 1, 4, 3, 3],
        "c": [4, 3, 3, 1, 3],
    }
    # Numbers of another width, and floats for integers, are the same values.
    wider = hr.DataFrame({**{n: frame[n] for n in frame.columns}, "i": [7.0, 3.5, 9.0, 3.0, 7.0]})
    assert encoder.transform(wider)["i"].to_list() == [4, 2, 2, 3, 4]
    with pytest.raises(hr.TypeMismatchError, match=r"another dtype than at fit.*'i'"):
        encoder.transform(frame.assign(i=["a"] * 5))
    assert encoder.transform(frame).to_dict() == made.to_dict()


def test_numpy_and_pandas_rows():
    rows = np.array([["a", "x"], ["b", "x"], ["a", "y"]], object)
    encoder = hr.learn.CategoryEncoder()
    made = encoder.fit_transform(rows)
    assert isinstance(made, np.ndarray) and made.tolist() == [[3, 3], [4, 3], [3, 4]]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows, columns=["p", "q"])
    assert hr.learn.CategoryEncoder().fit_transform(frame).tolist() == made.tolist()


@pytest.mark.parametrize(
    ("column", "given"),
    [
        ([1, 2], [1.5, 2.0]),
        ([1, 2], ["1", "2"]),
        (["1", "2"], [1, 2]),
        ([1.0, 2.0], [2**53 + 1]),
        (np.array([1, 2], np.int8), [300]),
        ([1, 2], [True, 2.5]),
        ([1, 2], [1, None]),
        ([-1, 5], np.array([2**64 - 1], np.uint64)),
        (np.array([5], np.uint64), [-1]),
    ],
)
def test_vocabularies_that_columns_cannot_hold(column, given):
    encoder = hr.learn.CategoryEncoder(vocabulary={"a": given})
    with pytest.raises((hr.TypeMismatchError, hr.InvalidArgumentError), match="vocabulary"):
        encoder.fit(hr.DataFrame({"a": column}))


def test_vocabularies_of_other_numbers():
    for column, given in (
        ([1.0, 2.5], [2, 1]),
        ([1, 2], [2.0, 1.0]),
        ([1, 2], np.array([2, 1], "i1")),
    ):
        frame = hr.DataFrame({"a": column})
        codes = hr.learn.CategoryEncoder(vocabulary={"a": given}).fit_transform(frame)
        assert codes.tolist()[0] == [4]


def test_vocabularies_of_dates():
    days = hr.to_datetime(["2020-01-01", "2021-01-01"])
    encoder = hr.learn.CategoryEncoder(vocabulary={"a": days})
    assert encoder.fit_transform(hr.DataFrame({"a": days})).tolist() == [[3], [4]]


def test_vocabularies_of_categories():
    frame = hr.DataFrame({"a": ["x", "y", "z"]})
    given = hr.Series(["z", "x"]).astype("category")
    for column in (frame, frame.astype({"a": "category"})):
        encoder = hr.learn.CategoryEncoder(vocabulary={"a": given})
        assert encoder.fit_transform(column).tolist() == [[4], [2], [3]]
    twice = hr.Series(["z", "x", "z"]).astype("category")
    with pytest.raises(hr.InvalidArgumentError, match="value twice"):
        hr.learn.CategoryEncoder(vocabulary={"a": twice}).fit(frame)


def test_empty_vocabularies():
    days = hr.to_datetime(["2020-01-01", "2021-01-01"])
    for column in (["x", None], [1, 2], [1.5, float("nan")], [True, False], days):
        frame = hr.DataFrame({"a": column})
        for like in (frame, frame.astype({"a": "category"})):
            encoder = hr.learn.CategoryEncoder(vocabulary={"a": []})
            codes = encoder.fit_transform(like).reshape(-1).tolist()
            assert codes == [1 if gone else 2 for gone in frame["a"].isna().to_list()]
            assert encoder.sizes_ == [3]


def test_given_vocabularies():
    frame = hr.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 2]})
    encoder = hr.learn.CategoryEncoder(vocabulary={"a": ["z", "w", "x"]}).fit(frame)
    assert encoder.transform(frame).tolist() == [[5, 4], [2, 3], [3, 3]]
    assert encoder.sizes_ == [6, 5]
    both = hr.learn.CategoryEncoder(vocabulary=[["y"], [2, 1]]).fit(frame)
    assert both.transform(frame).tolist() == [[2, 4], [3, 3], [2, 3]]
    for wrong, message in [
        ({"q": ["x"]}, "of no column.*'q'"),
        ([["x"]], "for each column"),
        ({"a": ["x", "x"]}, "value twice"),
        ({"a": ["x", None]}, "value twice, or a missing one"),
    ]:
        with pytest.raises(hr.InvalidArgumentError, match=message):
            hr.learn.CategoryEncoder(vocabulary=wrong).fit(frame)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"min_count": 0}, "min_count=0"),
        ({"buckets": 0}, "buckets=0"),
        ({"max_size": 2}, "max_size=2; use None or an integer from 3 on"),
        ({"vocabulary": "abc"}, "vocabulary='abc'"),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(hr.InvalidArgumentError, match=message):
        hr.learn.CategoryEncoder(**params).fit(hr.DataFrame({"a": ["x"]}))


def test_parts_after_fit():
    encoder = hr.learn.CategoryEncoder().fit(hr.DataFrame({"a": ["y", "x", "x"]}))
    encoder.partial_fit(hr.DataFrame({"a": ["y", "y", "z"]}))
    assert encoder.categories_[0].to_list() == ["y", "x", "z"]
    assert encoder.counts_[0].tolist() == [3, 2, 1]
    encoder = hr.learn.CategoryEncoder(min_count=2).fit(hr.DataFrame({"a": ["x"]}))
    with pytest.raises(hr.InvalidArgumentError, match="partial_fit\\(\\) from the first part on"):
        encoder.partial_fit(hr.DataFrame({"a": ["x"]}))
    with pytest.raises(hr.TypeMismatchError, match="than in the parts before"):
        hr.learn.CategoryEncoder().partial_fit(hr.DataFrame({"a": ["x"]})).partial_fit(
            hr.DataFrame({"a": [1]})
        )


def test_unseen_values_share_buckets_by_hash():
    frame = hr.DataFrame({"u": [f"user {k}" for k in range(5000)]})
    codes = hr.learn.HashEncoder(buckets=50).fit_transform(frame).to_numpy()[:, 0]
    counts = np.bincount(codes, minlength=52)
    assert counts[:2].tolist() == [0, 0] and len(counts) == 52 and counts[2:].min() > 50
    unseen = hr.learn.CategoryEncoder(buckets=50).fit(frame.head(0 + 1)).transform(frame)
    assert (unseen.to_numpy()[1:, 0] == codes[1:]).all()


@pytest.mark.parametrize("parts", [False, True])
def test_files_hold_the_model(tmp_path, parts):
    frame = hr.DataFrame({"w": words(1000, 50), "i": np.arange(1000) % 7})
    encoder = hr.learn.CategoryEncoder(min_count=3, buckets=4)
    encoder = encoder.partial_fit(frame) if parts else encoder.fit(frame)
    encoder.save(tmp_path / "codes.hrm")
    again = hr.learn.load(tmp_path / "codes.hrm")
    assert again.transform(frame).tolist() == encoder.transform(frame).tolist()
    assert again.sizes_ == encoder.sizes_
    if parts:
        more = again.partial_fit(frame).counts_[1].tolist()
        assert more == encoder.partial_fit(frame).counts_[1].tolist()


def test_column_transformer_keeps_columns_apart():
    frame = hr.DataFrame({"w": ["b", "a", "b"], "x": [1.0, 2.0, 3.0], "k": [1, 2, 3]})
    both = hr.learn.ColumnTransformer(
        [
            ("codes", hr.learn.CategoryEncoder(), ["w"]),
            ("scaled", hr.learn.MinMaxScaler(), ["x"]),
            ("plain", "passthrough", ["k"]),
        ]
    )
    matrix = both.fit_transform(frame)
    made = both.set_output(transform="headrace").fit_transform(frame)
    assert made.to_dict() == {
        "codes__w": [3, 4, 3],
        "scaled__x": [0.0, 0.5, 1.0],
        "plain__k": [1, 2, 3],
    }
    assert str(made["codes__w"].dtype) == "int32" and str(made["plain__k"].dtype) == "int64"
    assert matrix.tolist() == [list(row) for row in zip(*made.to_dict().values(), strict=True)]
    assert both.transform(frame).to_dict() == made.to_dict()


def test_the_plan_is_lazy_by_column(tmp_path):
    frame = hr.DataFrame({"a": words(1000, 50), "b": words(1000, 50, seed=3)})
    frame.to_parquet(tmp_path / "rows.parquet")
    scan = hr.scan_parquet(tmp_path / "rows.parquet")
    made = hr.learn.CategoryEncoder().set_output(transform="headrace").fit(scan).transform(scan)
    plan = made["a"].explain()
    text = str(plan)
    assert "category_codes" in text


def test_beyond_the_memory_limit(tmp_path):
    rows = 400_000
    rng = np.random.default_rng(0)
    frame = hr.DataFrame({f"c{k}": (rng.integers(0, 50_000, rows)).astype(str) for k in range(6)})
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = hr.learn.CategoryEncoder(min_count=3).fit(frame)
    codes = expected.transform(frame).to_numpy()
    del frame
    with hr.memory.limit("24MB"):
        scan = hr.scan_parquet(tmp_path / "rows.parquet")
        encoder = hr.learn.CategoryEncoder(min_count=3).set_output(transform="headrace").fit(scan)
        encoder.transform(scan).to_parquet(tmp_path / "codes.parquet")
        sizes = encoder.sizes_
    assert sizes == expected.sizes_
    again = hr.read_parquet(tmp_path / "codes.parquet")
    for place, name in enumerate(again.columns):
        assert (again[name].to_numpy() == codes[:, place]).all()


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, 1), None, datetime.date(1960, 5, 2)],
        [True, False, None, True],
        [True, False],
        [datetime.datetime(2020, 1, 1, 5), None],
    ],
)
def test_values_of_other_dtypes_are_saved(tmp_path, values):
    frame = hr.DataFrame({"x": values})
    model = hr.learn.CategoryEncoder().fit(frame)
    model.save(tmp_path / "model")
    found = hr.learn.load(tmp_path / "model").transform(frame)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(model.transform(frame)))
