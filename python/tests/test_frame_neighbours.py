# SPDX-License-Identifier: Apache-2.0
"""Rows that take values of their neighbours or of an earlier row, and texts that are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

SIZES = [0, 1, 5, 63, 64, 65, 2 * 131_072 + 77]
FAR = "a text that is no longer inlined"


def missing_as_none(values: list[Any]) -> list[Any]:
    return [None if v is None or v != v else v for v in values]


@pytest.fixture(params=SIZES)
def floats(request: pytest.FixtureRequest) -> Any:
    random = np.random.default_rng(3)
    values = random.random(request.param)
    values[random.random(request.param) < 0.3] = np.nan
    return values


@pytest.mark.parametrize("threads", [1, 2])
def test_fills_and_shifts_as_in_pandas(floats: Any, threads: int) -> None:
    texts = [None if v != v else "é" * int(v * 20) for v in floats]
    bools = [None if v != v else v > 0.5 for v in floats]
    nulls = hr.Series(floats).where(~hr.Series(floats).is_nan())
    with hr.threads(threads):
        for ours, theirs in (
            (hr.Series(floats), pd.Series(floats)),
            (nulls, pd.Series(floats)),
            (nulls[len(floats) // 3 :], pd.Series(floats[len(floats) // 3 :])),
            (hr.Series(texts, dtype="string"), pd.Series(texts, dtype=object)),
            (hr.Series(texts, dtype="category"), pd.Series(texts, dtype=object)),
            (hr.Series(bools, dtype="bool"), pd.Series(bools, dtype=object)),
        ):
            for way in ("ffill", "bfill"):
                wanted = missing_as_none(getattr(theirs, way)().tolist())
                assert missing_as_none(getattr(ours, way)().to_list()) == wanted
            for periods in (0, 1, -1, 3, -70, 10**6):
                wanted = missing_as_none(theirs.shift(periods).tolist())
                assert missing_as_none(ours.shift(periods).to_list()) == wanted


def test_a_leading_null_stays_null_and_nan_stays_nan() -> None:
    values = hr.DataFrame({"x": [None, 1.0]}).x
    made = hr.concat([values.head(1), hr.Series([np.nan, 2.0, np.nan])]).ffill()
    assert (made.is_null().to_list(), made.is_nan().to_list()) == (
        [True, False, False, False],
        [False, True, False, False],
    )


def test_duplicated_as_in_pandas(floats: Any) -> None:
    keys = np.random.default_rng(4).integers(0, max(len(floats) // 3, 1), len(floats))
    data = {"k": keys, "x": floats}
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    for keep in ("first", "last", False):
        for subset in (["k"], ["k", "x"], ["x"]):
            made = ours.duplicated(subset, keep).to_list()
            assert made == theirs.duplicated(subset, keep).tolist()


def test_chosen_texts(floats: Any) -> None:
    mask = np.nan_to_num(floats) > 0.5
    texts = [None if v != v else "é" * int(v * 20) for v in floats]
    column = hr.Series(texts, dtype="string")
    for yes, no in (("p", "n"), (FAR, "n"), ("p", FAR), (column, FAR), (FAR, column)):
        every = [x.to_list() if x is column else [x] * len(floats) for x in (yes, no)]
        made = np.where(hr.Series(mask), yes, no)
        assert made.dtype == "string"
        assert made.to_list() == [a if m else b for m, a, b in zip(mask, *every, strict=True)]
    assert column.fillna(FAR).to_list() == [FAR if v is None else v for v in texts]


@pytest.mark.parametrize("keys", [3, 5000, 100_000])
@pytest.mark.parametrize("missing", [False, True])
def test_running_results_of_groups_as_in_pandas(floats: Any, keys: int, missing: bool) -> None:
    random = np.random.default_rng(5)
    key = random.integers(0, keys, len(floats)).astype(float)
    if missing:
        key[random.random(len(floats)) < 0.2] = np.nan
    data = {"k": key, "x": floats, "i": random.integers(-9, 9, len(floats))}
    data["k"] = pd.array(np.where(np.isnan(key), 0, key), dtype="Int64")
    data["k"][np.isnan(key)] = pd.NA
    theirs = pd.DataFrame(data)
    ours = hr.from_pandas(theirs)
    bits = set()
    for threads in (1, 2):
        with hr.threads(threads):
            for how in ("cumsum", "cummax", "cummin", "cumprod"):
                for name in ("x", "i"):
                    made = getattr(ours.groupby("k")[name], how)()
                    wanted = getattr(theirs.groupby("k")[name], how)()
                    if how == "cumprod" and name == "i":
                        continue
                    values = made.astype("float64").to_numpy()
                    np.testing.assert_allclose(values, wanted.astype("float64"), rtol=1e-9)
                    if (how, name) == ("cumsum", "x"):
                        bits.add(values.tobytes())
                    assert made.is_null().to_list() == theirs.k.isna().tolist()
    assert len(bits) == 1


@pytest.mark.parametrize("way", ["lower", "higher", "nearest", "midpoint", "linear"])
def test_quantiles_of_groups_between_two_values(floats: Any, way: str) -> None:
    key = np.random.default_rng(6).integers(0, max(len(floats) // 9, 1), len(floats))
    ours, theirs = (m.DataFrame({"k": key, "x": floats}).groupby("k").x for m in (hr, pd))
    for q in (0.0, 0.25, 0.9):
        np.testing.assert_allclose(
            ours.quantile(q, interpolation=way).to_numpy(),
            theirs.quantile(q, interpolation=way).to_numpy(),
            rtol=1e-12,
        )


def test_numbers_in_one_array(floats: Any) -> None:
    whole = np.arange(len(floats))
    columns = {"x": floats, "i": whole, "s": whole.astype("int8"), "x2": floats * 2}
    for names in (["x"], ["x", "x2"], ["x", "i"], ["i", "i2"], ["s", "i"], list(columns)):
        data = {name: columns[name.replace("i2", "i")] for name in names}
        made, wanted = hr.DataFrame(data).to_numpy(), pd.DataFrame(data).to_numpy()
        assert (made.dtype, made.flags.writeable) == (wanted.dtype, True)
        np.testing.assert_array_equal(made, wanted)
    nulls = hr.DataFrame({"x": [1.5, None], "i": [1, 2]})
    np.testing.assert_array_equal(nulls.to_numpy(), [[1.5, 1.0], [np.nan, 2.0]])


def test_totals_of_rows_as_in_pandas(floats: Any) -> None:
    data = {"a": floats, "b": floats[::-1].copy(), "c": np.arange(len(floats), dtype="float64")}
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    for how in ("sum", "count", "mean", "var"):
        np.testing.assert_allclose(
            getattr(ours, how)(axis=1).to_numpy(),
            getattr(theirs, how)(axis=1).to_numpy(),
            rtol=1e-9,
            atol=1e-12,
        )


def test_reductions_and_choices_over_nulls(floats: Any) -> None:
    """Null in some words of the bitmap, from any row on; NaN among the values."""
    random = np.random.default_rng(7)
    values = np.where(random.random(len(floats)) < 0.1, np.nan, random.random(len(floats)))
    there = random.random(len(floats)) < 0.9
    there[64:192] = True
    for begin in (0, 3):
        for dtype in ("float64", "float32"):
            data = values[begin:].astype(dtype)
            ours = hr.Series(values.astype(dtype)).where(hr.Series(there))[begin:]
            present = data[there[begin:] & ~np.isnan(data)].astype("float64")
            made = np.where(there[begin:], data, np.nan)
            np.testing.assert_array_equal(ours.to_numpy(), made)
            np.testing.assert_array_equal(ours.fillna(7.0).to_numpy(), np.nan_to_num(made, nan=7.0))
            assert ours.isna().to_list() == np.isnan(made).tolist()
            assert ours.is_null().to_list() == (~there[begin:]).tolist()
            if len(present) > 1:
                for how in ("sum", "mean", "std", "min", "max"):
                    options = {"ddof": 1} if how == "std" else {}
                    wanted = getattr(present, how)(**options)
                    assert float(getattr(ours, how)()) == pytest.approx(
                        wanted, rel=1e-9 if dtype == "float64" else 1e-6
                    )


def test_a_row_of_columns_that_are_there_is_the_same_row() -> None:
    frame = hr.DataFrame({"a": [1, None, 3], "b": ["x", None, "z"], "t": [None, 1.5, 2.5]})
    lazy = frame.assign(a=frame.a + 0)
    hr.eval(frame)
    for at in (0, 1, 2, -1, -3):
        ready, made = frame.iloc[at], lazy.iloc[at]
        assert ready.name == made.name == at % 3
        assert [str(v) for v in ready] == [str(v) for v in made]
        if at >= 0:
            assert [str(v) for v in frame.loc[at]] == [str(v) for v in made]
    with pytest.raises(IndexError):
        frame.iloc[3]
    with pytest.raises(KeyError):
        frame.loc[3]
    kept = frame[frame.t > 1]
    hr.eval(kept)
    assert (kept.iloc[0].name, kept.iloc[0].b) == (1, None)
