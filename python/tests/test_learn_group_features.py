# SPDX-License-Identifier: Apache-2.0
"""Statistics of groups and values of rows before, against pandas."""

from __future__ import annotations

import numpy as np
import pytest

import headrace as hr

pandas = pytest.importorskip("pandas")


def sales(rows, seed=0):
    rng = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "shop": rng.choice(["a", "bb", "c" * 20, None], rows, p=[0.4, 0.3, 0.2, 0.1]),
            "item": rng.integers(0, 5, rows),
            "price": np.where(rng.random(rows) < 0.1, np.nan, rng.normal(size=rows).round(3)),
            "day": rng.integers(0, 1000, rows),
            "pieces": rng.integers(1, 9, rows),
        }
    )


@pytest.mark.parametrize("rows", [1, 64, 65, 140_000])
@pytest.mark.parametrize("by", ["shop", ["shop", "item"]])
def test_statistics_are_those_of_pandas(rows, by):
    train, test = sales(rows), sales(500, seed=1)
    stats = ["count", "sum", "mean", "std", "var", "min", "max", "median", "nunique"]
    ours = hr.learn.GroupStatistics(by=by, columns=["price", "pieces"], stats=stats)
    ours.fit(hr.DataFrame(train)).set_output(transform="headrace")
    made = ours.transform(hr.DataFrame(test))
    keys = [by] if isinstance(by, str) else by
    table = train.groupby(keys)[["price", "pieces"]].agg(stats)
    table.columns = [f"{'_'.join(keys)}_{column}_{stat}" for column, stat in table.columns]
    expected = test[keys].merge(table.reset_index(), on=keys, how="left")[table.columns]
    assert list(made.columns) == list(table.columns)
    for name in table.columns:
        got = made[name].astype("float64").fill_null(float("nan")).to_numpy()
        np.testing.assert_allclose(got, expected[name].to_numpy(float), rtol=1e-9, atol=1e-9)
    matrix = ours.set_output(transform="default").transform(test)
    np.testing.assert_allclose(matrix, expected.to_numpy(float), rtol=1e-9, atol=1e-9)


def test_statistics_join_the_rows_they_come_from():
    frame = hr.DataFrame(sales(1000))
    step = hr.learn.GroupStatistics(by="item", columns="pieces", stats=["mean"])
    step.set_output(transform="headrace")
    both = frame.assign(**{"mean": step.fit_transform(frame)["item_pieces_mean"]})
    plain = frame.groupby("item")["pieces"].transform("mean")
    np.testing.assert_allclose(both["mean"].to_numpy(), plain.to_numpy())


@pytest.mark.parametrize("rows", [1, 64, 65, 140_000])
def test_lags_are_those_of_pandas(rows):
    frame = sales(rows).assign(shop=lambda f: f["shop"].fillna("none"))
    lag = hr.learn.Lag(
        by=["shop", "item"], order="day", lags=[1, 3, -2], columns=["price", "pieces"]
    )
    made = lag.fit_transform(hr.DataFrame(frame)).to_numpy()
    groups = frame.sort_values("day", kind="stable").groupby(["shop", "item"])
    expected = pandas.DataFrame(
        {
            f"{column}_lag{k}": groups[column].shift(k).sort_index()
            for column in ("price", "pieces")
            for k in (1, 3, -2)
        }
    )
    assert lag.get_feature_names_out().tolist() == list(expected.columns)
    np.testing.assert_array_equal(made, expected.to_numpy(float))


def test_lags_keep_dtypes_in_frames():
    frame = hr.DataFrame({"u": [1, 1, 2], "t": [2, 1, 1], "w": ["x", "y", "z"], "n": [5, 6, 7]})
    made = hr.learn.Lag(by="u", order="t").set_output(transform="headrace").fit_transform(frame)
    assert made.to_dict() == {"w_lag1": ["y", None, None], "n_lag1": [6, None, None]}
    both = frame.assign(before=made["n_lag1"])
    assert both["before"].to_list() == [6, None, None]


def test_wrong_parameters():
    frame = hr.DataFrame({"u": [1], "t": [2], "n": [5]})
    statistics = hr.learn.GroupStatistics
    for step, error, message in [
        (statistics("u", "n", ["mode"]), hr.InvalidArgumentError, "stats=.*'mode'"),
        (statistics("q", "n"), hr.ColumnNotFoundError, "by=.*'q'"),
        (statistics("u", "q"), hr.ColumnNotFoundError, "columns=.*'q'"),
        (hr.learn.Lag("u", "t", [0]), hr.InvalidArgumentError, "lags=.0."),
        (hr.learn.Lag("u", "q"), hr.ColumnNotFoundError, "order=.*'q'"),
    ]:
        with pytest.raises(error, match=message):
            step.fit(frame)
    with pytest.raises(hr.TypeMismatchError, match="expected a frame"):
        statistics("u", "n").fit(np.zeros((2, 2)))
    with pytest.raises(hr.InvalidArgumentError, match=r"name of a result.*u_n_mean"):
        statistics("u", "n", ["mean"]).fit(frame.assign(u_n_mean=[1]))


def test_files_hold_the_models(tmp_path):
    frame = hr.DataFrame(sales(300))
    for step in (
        hr.learn.GroupStatistics(["shop", "item"], ["price", "pieces"], ["mean", "max"]),
        hr.learn.Lag("shop", "day", [1, 2], ["price"]),
        hr.learn.HashEncoder(10),
    ):
        part = frame if not isinstance(step, hr.learn.HashEncoder) else frame[["shop", "item"]]
        made = step.fit(part).transform(part).to_numpy()
        step.save(tmp_path / "step.hrm")
        again = hr.learn.load(tmp_path / "step.hrm")
        np.testing.assert_array_equal(again.transform(part).to_numpy(), made)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_same_bits_for_any_number_of_threads(threads):
    frame = hr.DataFrame(sales(300_000))
    step = hr.learn.GroupStatistics("item", "price", ["mean", "std"])
    with hr.threads(1):
        expected = step.fit_transform(frame).to_numpy().tobytes()
    with hr.threads(threads):
        assert step.fit_transform(frame).to_numpy().tobytes() == expected


def test_missing_results_are_saved(tmp_path):
    frame = hr.DataFrame({"k": ["a", "a", "b"], "v": [1.0, 2.0, 3.0]})
    model = hr.learn.GroupStatistics(by="k", columns=["v"], stats=["std", "mean"]).fit(frame)
    model.save(tmp_path / "model")
    found = hr.learn.load(tmp_path / "model").transform(frame)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(model.transform(frame)))
