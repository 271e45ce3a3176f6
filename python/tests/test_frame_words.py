# SPDX-License-Identifier: Apache-2.0
"""Words of pandas, each with its options: one call beside pandas' own result."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from headrace.errors import InvalidArgumentError, TypeMismatchError

import headrace as hr


def frames(module: Any) -> dict[str, Any]:
    times = ["2024-01-01 10:30:00", "2024-01-02 00:00:00", "2024-01-31 23:59:59"]
    df = module.DataFrame(
        {
            "a": [1.0, np.nan, 3.0, 2.5, -1.0, 4.0],
            "i": [3, 1, 2, 5, 4, 6],
            "s": ["p", "q", "p", "r", None, "q"],
            "b": [True, False, True, True, False, False],
            "t": module.to_datetime(times * 2),
        }
    )
    num = module.DataFrame(
        {
            "x": [1.0, np.nan, 3.0, 2.0, 1.0, np.nan],
            "y": [2.0, 5.0, 1.0, 2.0, 0.5, np.nan],
            "z": [1.5, 1.0, 4.0, 2.0, 3.5, 1.0],
        }
    )
    return {
        "M": module,
        "np": np,
        "df": df,
        "other": df.assign(a=[1.0, np.nan, 3.5, 2.5, -1.0, 4.0], i=[3, 1, 2, 5, 4, 7]),
        "new": module.DataFrame({"x": [9.0, 8.0, np.nan, 7.0], "q": [1.0, 2.0, 3.0, 4.0]}),
        "num": num,
        "left": module.DataFrame(
            {"k": list("aceace"), "v": [1, 2, 3, 1, 2, 3], "g": list("aaabbb")}
        ),
        "right": module.DataFrame({"k": ["b", "c", "d"], "w": [1, 2, 3]}),
    }


def updated(frame: Any, *args: Any, **options: Any) -> Any:
    frame.update(*args, **options)
    return frame


CALLS = """
num.diff(axis=1)
num.diff(2, axis="columns")
num.diff(-1, axis=1)
num.shift(1, axis=1)
num.shift(-1, axis=1, fill_value=0)
num.pct_change(axis=1)
num.cumsum(axis=1)
num.cumprod(axis=1)
num.cummax(axis=1)
num.cummin(axis=1)
num.ffill(axis=1)
num.bfill(axis=1)
num.ffill(axis=1, limit=1)
num.bfill(axis=1, limit=1)
num.interpolate(axis=1)
num.rank(axis=1)
num.rank(axis=1, method="min")
num.rank(axis=1, method="max", ascending=False)
num.rank(axis=1, method="first")
num.rank(axis=1, method="dense")
num.rank(axis=1, method="dense", pct=True)
num.rank(axis=1, pct=True)
num.nunique(axis=1)
num.nunique(axis=1, dropna=False)
num.mode(axis=1)
num.mode(dropna=False)
num.idxmax(axis=1)
num.idxmin(axis=1)
df.idxmax(numeric_only=True)
num.quantile([0.3, 0.6], axis=1)
num.agg("mean", axis=1)
num.sort_index(axis=1, ascending=False)
num.filter(items=[1, 2], axis=0)
num.filter(regex="x|y", axis=1)
num.squeeze("columns")
num[["x"]].squeeze(axis=1)
num.head(1).squeeze("rows")
num.transform(["abs", "sqrt"])
num.corrwith(num[["y", "x"]])
num.clip(lower=[0, 1, 2], axis=1)
num - np.array([1.0, 2.0, 3.0])
num.sub([1, 2, 3])
num > [1, 2, 3]
num.mul(np.arange(6.0), axis=0)
num.to_numpy() - num
np.std(num.z)
np.var(num.z)
np.std(num.z, ddof=1)
num.sample(n=2, axis=1, random_state=2)
df.sample(n=3, weights="i", random_state=1)
df.sample(n=3, weights=df.i, random_state=2)
df.sample(n=9, replace=True, weights=[1, 2, 3, 4, 5, 6], random_state=2)
df.sample(frac=1, random_state=0, ignore_index=True)
df.a.sample(n=3, weights=df.i, random_state=3)
df.groupby("s").sample(n=1, random_state=1)
df.groupby("s").sample(n=2, replace=True, random_state=1)
df.groupby("s").sample(frac=0.5, random_state=1, weights=df.i)
df.groupby("s").a.sample(n=1, random_state=1)
df.describe(include=["number"])
df.describe(exclude=[np.number, "datetime"])[["s"]].astype(str)
df.a.describe(percentiles=[0.05])
df.groupby("s").a.describe(percentiles=[0.1])
df.groupby("s").describe(include=[np.number])
df.compare(other)
df.compare(other, keep_shape=True)
df.compare(other, keep_equal=True)
df.compare(other, align_axis=0)
df.compare(other, result_names=("l", "r"))
df.set_index("s").compare(other.set_index("s"))
df.a.compare(other.a)
df.a.compare(other.a, keep_shape=True)
df.a.compare(other.a, align_axis=0)
updated(num, new)
updated(num, new, overwrite=False)
updated(num, M.DataFrame({"y": [7.0, 8.0]}, index=[4, 1]))
updated(num.x, M.Series([9.0, 8.0], index=[1, 3]))
updated(M.DataFrame({"i": [1, 2, 3]}), M.DataFrame({"i": [9.0, np.nan]}))
M.merge_ordered(left, right)
M.merge_ordered(left, right, fill_method="ffill")
M.merge_ordered(left, right, on="k", left_by="g", fill_method="ffill")
M.merge_ordered(left, right.rename(columns={"k": "j"}), left_on="k", right_on="j")
M.merge_ordered(left, right, how="inner")
M.crosstab(df.s, df.b)
M.crosstab(df.s, df.b, margins=True)
M.crosstab(df.s, df.b, normalize="index", rownames=["S"], colnames=["B"])
df.pivot_table(index="s", columns="b", values="a", aggfunc="sum")
num.first_valid_index()
num.x.iloc[1:].last_valid_index()
num.combine(num * 2, lambda a, b: a + b)
df.t.dt.time.astype(str)
""".strip().splitlines()


def plain(value: Any) -> Any:
    value = value.to_pandas() if hasattr(value, "to_pandas") else value
    if isinstance(value, pd.DataFrame | pd.Series):
        labels = [str(each) for each in value.index]
        names = [str(n) for n in value.columns] if isinstance(value, pd.DataFrame) else []
        cells = value.astype(object).where(value.notna(), None).to_numpy().ravel().tolist()
        return labels, names, [float(c) if isinstance(c, np.number | int) else c for c in cells]
    return value.item() if hasattr(value, "item") else value


@pytest.mark.parametrize("call", CALLS)
def test_like_pandas(call: str) -> None:
    expected, found = (
        plain(eval(call, {**frames(module), "updated": updated})) for module in (pd, hr)
    )
    if not isinstance(expected, tuple):
        assert found == pytest.approx(expected)
        return
    assert found[:2] == expected[:2]
    for ours, theirs in zip(found[2], expected[2], strict=True):
        assert ours == (pytest.approx(theirs, abs=1e-12) if isinstance(theirs, float) else theirs)


def test_what_raises() -> None:
    words = frames(hr)
    num, df = words["num"], words["df"]
    with pytest.raises(InvalidArgumentError, match="axis"):
        df.a.sum(axis=1)
    with pytest.raises(InvalidArgumentError, match="number of values"):
        num - np.arange(6.0)
    with pytest.raises(InvalidArgumentError, match="axis"):
        num.diff(axis=2)
    with pytest.raises(TypeMismatchError, match="float32"):
        num.astype("float16")
    with pytest.raises(InvalidArgumentError, match="same labels"):
        num.compare(num.head(2))
    with pytest.raises(InvalidArgumentError, match="both frames"):
        num.update(words["new"], errors="raise")
    with pytest.raises(InvalidArgumentError, match="weight"):
        df.sample(n=2, weights=[0, 0, 0, 0, 0, 0])
    with pytest.raises(InvalidArgumentError, match="too large"):
        df.sample(n=3, weights=[9, 1, 0, 0, 0, 0])


def test_time_of_day_has_a_fraction_where_needed() -> None:
    s = hr.Series(
        [datetime.datetime(2024, 1, 1, 1, 2, 3), datetime.datetime(2024, 1, 1, 0, 0, 0, 5)]
    )
    assert s.dt.time.to_list() == [str(each.time()) for each in s.to_list()]
