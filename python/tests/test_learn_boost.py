# SPDX-License-Identifier: Apache-2.0
"""Matrices for XGBoost against its own of NumPy's and pandas' data."""

import gc
import sys

import numpy as np
import pytest

import headrace as hr
from headrace import learn
from headrace.learn import boost

LOGISTIC = {"objective": "binary:logistic", "max_depth": 4, "seed": 1}


def test_missing_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(hr.UnsupportedError, match=r"pip install 'headrace\[xgboost\]'"):
        learn.xgboost_matrix(hr.DataFrame({"x": [1.0]}))


@pytest.fixture(name="xgboost")
def _xgboost():
    return pytest.importorskip("xgboost")


def numbers(rows=3000, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "f64": rng.normal(size=rows),
        "f32": rng.normal(size=rows).astype("f4"),
        "i64": rng.integers(-50, 50, rows),
        "u8": rng.integers(0, 9, rows).astype("u1"),
        "flag": rng.random(rows) < 0.4,
    }
    y = (columns["f64"] + columns["flag"] * columns["i64"] / 20 + columns["f32"] > 0).astype("f4")
    return columns, y


def matrix_of(xgboost, columns, y, **more):
    values = np.column_stack([np.asarray(each, "f8") for each in columns.values()])
    return xgboost.QuantileDMatrix(values, y, feature_names=list(columns), **more)


def same_models(xgboost, ours, theirs, parameters=None, rounds=8):
    for a, b in zip(ours.get_quantile_cut(), theirs.get_quantile_cut(), strict=True):
        np.testing.assert_array_equal(a, b)
    made = [xgboost.train(parameters or LOGISTIC, matrix, rounds) for matrix in (ours, theirs)]
    found = [booster.predict(m) for booster, m in zip(made, (ours, theirs), strict=True)]
    assert len(np.unique(found[0])) > 10
    np.testing.assert_array_equal(*found)
    return made[0]


@pytest.mark.parametrize("rows", [1 << 20, 1000, 64])
def test_like_numpy(xgboost, monkeypatch, rows):
    monkeypatch.setattr(boost, "_ROWS", rows)
    columns, y = numbers()
    weight = np.random.default_rng(1).random(len(y)) + 0.5
    frame, label, shared = hr.DataFrame(columns), hr.Series(y), hr.asarray(weight)
    with hr.memory.no_copies():
        ours = learn.xgboost_matrix(frame, label=label, weight=shared)
    assert isinstance(ours, xgboost.DMatrix)
    assert ours.feature_names == list(columns)
    assert ours.feature_types == ["float", "float", "int", "int", "i"]
    np.testing.assert_array_equal(ours.get_label(), y)
    np.testing.assert_array_equal(ours.get_weight(), weight.astype("f4"))
    same_models(xgboost, ours, matrix_of(xgboost, columns, y, weight=weight))


def test_plain_matrix_gives_the_same(xgboost):
    columns, y = numbers()
    ours = learn.xgboost_matrix(hr.DataFrame(columns), label=y)
    values = np.column_stack([np.asarray(each, "f8") for each in columns.values()])
    theirs = xgboost.DMatrix(values, y, feature_names=list(columns))
    made = [xgboost.train(LOGISTIC, matrix, 8).predict(matrix) for matrix in (ours, theirs)]
    np.testing.assert_array_equal(*made)


def test_columns_are_not_touched_by_a_copy(xgboost):
    columns, y = numbers(50_000)
    frame = hr.DataFrame(columns | {"y": y})
    hr.eval(frame)
    hr.memory.ledger().clear()
    learn.xgboost_matrix(frame, label="y")
    assert hr.memory.ledger().total_bytes == 0


def test_the_frame_is_let_go_of(xgboost):
    columns, y = numbers(50_000)
    before = hr.memory.stats().used_bytes
    frame = hr.DataFrame(columns) * 1
    hr.eval(frame)
    gc.disable()  # the matrix must not leave cycles of references to the frame
    try:
        matrix = learn.xgboost_matrix(frame, label=y)
        del frame
        assert hr.memory.stats().used_bytes <= before + 4096
        assert matrix.num_row() == len(y)
    finally:
        gc.enable()


@pytest.mark.parametrize("begin", [0, 8, 3])
@pytest.mark.parametrize("rows", [1 << 20, 500])
def test_nulls_are_missing(xgboost, monkeypatch, begin, rows):
    monkeypatch.setattr(boost, "_ROWS", rows)
    columns, y = numbers()
    gone = {name: np.random.default_rng(2).random(len(y)) < 0.2 for name in columns}
    lists = {
        name: [None if none else value for value, none in zip(each.tolist(), gone[name])]
        for name, each in columns.items()
    }
    frame = hr.DataFrame(lists).iloc[begin:]
    holes = {name: np.where(gone[name], np.nan, each)[begin:] for name, each in columns.items()}
    with hr.memory.no_copies():
        ours = learn.xgboost_matrix(frame, label=y[begin:])
    assert ours.num_nonmissing() == sum(int(np.isfinite(each).sum()) for each in holes.values())
    same_models(xgboost, ours, matrix_of(xgboost, holes, y[begin:]))


def categories(rows=2000, seed=0):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    word = np.array(["ä", "bb", "c", "dddd", "e"], dtype=object)[rng.integers(0, 5, rows)]
    number = rng.integers(0, 4, rows) * 10
    y = (np.isin(word, ["ä", "dddd"]) ^ (number == 20)).astype("f4")
    x = rng.normal(size=rows)
    table = pandas.DataFrame({"word": word, "number": number, "x": x})
    table.loc[::7, "word"] = None
    return table.astype({"word": "category", "number": "category"}), y


@pytest.mark.parametrize("rows", [1 << 20, 300])
def test_categories(xgboost, monkeypatch, rows):
    monkeypatch.setattr(boost, "_ROWS", rows)
    table, y = categories()
    frame = hr.DataFrame(table)
    hr.eval(frame)
    with hr.memory.no_copies():
        ours = learn.xgboost_matrix(frame, label=y)
    assert ours.feature_types == ["c", "c", "float"]
    theirs = xgboost.QuantileDMatrix(table, y, enable_categorical=True)
    same_models(xgboost, ours, theirs, LOGISTIC | {"max_cat_to_onehot": 1})


def test_reference_gives_bins_and_categories(xgboost):
    table, y = categories()
    train = learn.xgboost_matrix(hr.DataFrame(table), label=y)
    booster = xgboost.train(LOGISTIC, train, 8)
    test = categories(400, seed=5)[0]
    expected = booster.predict(xgboost.DMatrix(test, enable_categorical=True))
    other = test.copy()
    other["word"] = other["word"].cat.reorder_categories(["e", "dddd", "c", "bb", "ä"])
    for each in (test, other):
        matrix = learn.xgboost_matrix(hr.DataFrame(each), reference=train)
        np.testing.assert_array_equal(booster.predict(matrix), expected)


def test_names_of_columns_and_groups(xgboost, monkeypatch):
    monkeypatch.setattr(boost, "_ROWS", 100)
    columns, y = numbers(600)
    query = np.repeat(np.arange(30), 20)
    frame = hr.DataFrame(columns | {"y": y, "query": query})
    weight = np.linspace(1, 2, 30)
    ours = learn.xgboost_matrix(frame, label="y", group="query", weight=weight)
    assert ours.feature_names == list(columns)
    theirs = matrix_of(xgboost, columns, y, qid=query, weight=weight)
    ranking = {"objective": "rank:ndcg", "max_depth": 3, "seed": 1}
    same_models(xgboost, ours, theirs, ranking)


def test_lazy_frame_and_max_bin(xgboost):
    columns, y = numbers()
    frame = hr.DataFrame(columns)
    frame["more"] = frame["f64"] * 2 + frame["i64"]
    frame = frame[frame["u8"] > 2]
    keep = columns["u8"] > 2
    ours = learn.xgboost_matrix(frame, label=hr.Series(y)[keep], max_bin=32)
    columns["more"] = columns["f64"] * 2 + columns["i64"]
    theirs = matrix_of(xgboost, {n: each[keep] for n, each in columns.items()}, y[keep], max_bin=32)
    same_models(xgboost, ours, theirs, LOGISTIC | {"max_bin": 32})


@pytest.mark.pool
def test_same_model_under_a_memory_limit(xgboost):
    columns = {f"x{i}": np.random.default_rng(i).normal(size=100_000) for i in range(12)}
    models = []
    for limit in (None, 6 << 20):  # of 9.6 MB
        with hr.memory.limit(limit and hr.memory.stats().used_bytes + limit):
            frame = hr.DataFrame(columns) * 2.0
            frame["y"] = (frame["x0"] > frame["x1"]).astype("float32")
            with hr.memory.no_copies():
                matrix = learn.xgboost_matrix(frame, label="y")
            models.append(xgboost.train(LOGISTIC, matrix, 3).save_raw())
    assert models[0] == models[1]


@pytest.mark.parametrize(
    ("data", "more", "error", "words"),
    [
        ({"s": ["a", "b"]}, {}, hr.TypeMismatchError, "columns=\\['s'\\]"),
        ({"x": [1, 2]}, {"label": [1.0]}, hr.InvalidArgumentError, "values=1, rows=2"),
        ({"x": [1, 2]}, {"label": ["a", "b"]}, hr.TypeMismatchError, "label must be numbers"),
        ({"x": [1, 2]}, {"label": "x"}, hr.InvalidArgumentError, "shape=\\(2, 0\\)"),
        ({"x": [1, 2]}, {"label": "nope"}, hr.ColumnNotFoundError, "nope"),
    ],
)
def test_bad_input(xgboost, data, more, error, words):
    with pytest.raises(error, match=words):
        learn.xgboost_matrix(hr.DataFrame(data), **more)


def test_refusals(xgboost):
    with pytest.raises(hr.TypeMismatchError, match="expected a frame"):
        learn.xgboost_matrix(np.ones((2, 2)))
    frame = hr.DataFrame({"x": [1.0, 2.0], "y": [1.0, None]})
    with pytest.raises(xgboost.core.XGBoostError, match="Label contains NaN"):
        learn.xgboost_matrix(frame, label="y")
    with pytest.raises(xgboost.core.XGBoostError, match="inf"):
        learn.xgboost_matrix(hr.DataFrame({"x": [1.0, np.inf]}))
