# SPDX-License-Identifier: Apache-2.0
"""`skew`, `kurt`, `sem` and `mode` in all their forms, against pandas."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from headrace.aggregates import TABLE
from headrace.groupby.groupby import GroupBy
from headrace.windows.rolling import Rolling

import headrace as hr
from headrace.frame import reductions as frame_reductions

NAMES = ("sem", "skew", "kurt")
RNG = np.random.default_rng(11)


def columns() -> dict[str, np.ndarray]:
    """Columns that are easy and hard to take moments of."""
    normal = RNG.normal(size=3000)
    return {
        "normal": normal,
        "nan": np.where(RNG.random(3000) < 0.2, np.nan, normal),
        "skewed": RNG.exponential(size=5000) ** 2,
        "offset": 1e9 + RNG.exponential(size=3000),
        "tiny": 1e-9 * normal,
        "ints": RNG.integers(-50, 80, 2500),
        "small ints": RNG.integers(0, 200, 1030).astype("uint8"),
        "bools": RNG.random(999) < 0.3,
        "float32": RNG.exponential(size=4000).astype("float32"),
        "constant": np.full(5000, 0.1),
        "one by one": np.arange(1.0),
        "two": np.array([1.0, 4.0]),
        "three": np.array([1.0, 4.0, 5.0]),
        "four": np.array([1.0, 4.0, 5.0, -2.0]),
        "empty": np.array([]),
        "all missing": np.full(7, np.nan),
    }


def close(found: Any, wanted: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(
        np.asarray(found, float), np.asarray(wanted, float), rtol=rtol, atol=1e-10
    )


def values(series: Any) -> list[float]:
    return [np.nan if each is None else each for each in series.to_list()]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("column", columns())
def test_a_column(name: str, column: str) -> None:
    x = columns()[column]
    wanted = getattr(pd.Series(x), name)()
    rtol = 1e-5 if column in ("float32", "offset") else 1e-9
    close(getattr(hr.Series(x), name)().item(), wanted, rtol)


@pytest.mark.parametrize("name", NAMES)
def test_nulls_and_skipna(name: str) -> None:
    x = [1, None, 2, 9, 4, None, 4]
    close(getattr(hr.Series(x), name)().item(), getattr(pd.Series(x, dtype=float), name)())
    assert np.isnan(getattr(hr.Series(x), name)(skipna=False).item())
    assert hr.Series([1.0, 2.0]).kurtosis().dtype == "float64"
    assert getattr(hr.Series(np.ones(5, "float32")), name)().dtype == "float32"


@pytest.mark.parametrize("name", NAMES)
def test_a_frame_and_its_rows(name: str) -> None:
    data = {
        "x": RNG.normal(size=200),
        "i": RNG.integers(0, 9, 200),
        "b": RNG.random(200) < 0.5,
        "y": np.where(RNG.random(200) < 0.3, np.nan, RNG.normal(size=200)),
        "z": RNG.exponential(size=200),
    }
    ours, theirs = hr.DataFrame(data), pd.DataFrame(data)
    found = getattr(ours, name)()
    wanted = getattr(theirs, name)()
    assert found.index.to_list() == list(wanted.index)
    close(values(found), wanted)
    close(values(ours.agg(name)), wanted)
    close(values(getattr(ours, name)(axis=1)), getattr(theirs.astype(float), name)(axis=1))
    equal = hr.DataFrame({each: [0.1] for each in "abcde"})
    close(values(getattr(equal, name)(axis=1)), [0.0 if name == "sem" else np.nan])
    with pytest.raises(hr.TypeMismatchError, match="unsupported columns"):
        getattr(ours.assign(s="a"), name)()
    for bad in (hr.Series(["a", "b"]), hr.Series(np.array(["2024-01-01"], "datetime64[us]"))):
        with pytest.raises(hr.TypeMismatchError, match=f"{name}: .*not numbers"):
            getattr(bad, name)()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("groups", [3, 400, 250_000])
def test_groups(name: str, groups: int) -> None:
    rows = 4000 if groups < 1000 else 300_000
    k = RNG.integers(0, groups, rows)
    x = np.where(RNG.random(rows) < 0.1, np.nan, RNG.exponential(size=rows))
    data = {"k": k, "x": x, "i": RNG.integers(-5, 5, rows), "b": RNG.random(rows) < 0.5}
    ours, theirs = hr.DataFrame(data).groupby("k"), pd.DataFrame(data).groupby("k")
    found, wanted = getattr(ours, name)(), getattr(theirs, name)()
    for column in ("x", "i", "b"):
        close(values(found[column]), wanted[column], 1e-7)
    close(values(ours.x.agg(name)), wanted.x, 1e-7)
    assert repr(ours.agg(out=("x", name)).out.to_list()) == repr(found.x.to_list())
    close(values(ours.x.transform(name)), theirs.x.transform(name), 1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_small_and_equal_groups(name: str) -> None:
    sizes = [1, 2, 3, 4, 5, 6]
    k = np.repeat(np.arange(6), sizes)
    x = RNG.normal(size=len(k)) + 1e9
    x[k == 5] = 0.1
    frame = {"k": k, "x": x}
    found = getattr(hr.DataFrame(frame).groupby("k").x, name)()
    close(values(found), getattr(pd.DataFrame(frame).groupby("k").x, name)(), 1e-5)
    least = {"sem": 2, "skew": 3, "kurt": 4}[name]
    assert [each is None for each in found.to_list()] == [size < least for size in sizes]
    with pytest.raises(hr.TypeMismatchError, match="does not support these columns"):
        getattr(hr.DataFrame({"k": [1], "s": ["a"]}).groupby("k"), name)()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("window", [4, 50, 3000])
def test_windows(name: str, window: int) -> None:
    x = RNG.exponential(size=2500)
    x[::7] = np.nan
    x[400:600] = 0.1
    ours, theirs = hr.Series(x).rolling(window, 2), pd.Series(x).rolling(window, 2)
    found, wanted = values(getattr(ours, name)()), np.asarray(getattr(theirs, name)())
    # pandas subtracts values that left, so that equal values are not seen as such by it.
    settled = ~np.isclose(np.nan_to_num(values(ours.var()), nan=1.0), 0, atol=1e-20)
    close(np.asarray(found)[settled], wanted[settled], 1e-6)
    close(
        values(getattr(hr.Series(x).expanding(), name)())[:300],
        getattr(pd.Series(x).expanding(), name)()[:300],
        1e-6,
    )
    k = RNG.integers(0, 3, 2500)
    frame = {"k": k, "x": x}
    grouped = getattr(hr.DataFrame(frame).groupby("k").x.rolling(9), name)()
    close(
        values(grouped.reset_index(level=0, drop=True).sort_index())[:300],
        [
            getattr(pd.Series(x[: i + 1][k[: i + 1] == k[i]][-9:]), name)()
            if np.isfinite(x[: i + 1][k[: i + 1] == k[i]][-9:]).sum() == 9
            else np.nan
            for i in range(300)
        ],
        1e-6,
    )


def test_equal_values_in_windows_have_no_shape() -> None:
    s = hr.Series([0.1] * 9)
    assert np.isnan(s.rolling(5).skew().to_numpy()[4:]).all()
    assert s.rolling(5).agg(["sem", "kurt"])["sem"].to_list()[4:] == [0.0] * 5


def test_same_bits_for_any_threads() -> None:
    x = RNG.exponential(size=700_000)
    k = RNG.integers(0, 50, x.size)
    many = RNG.integers(0, 200_000, x.size)
    found = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            frame = hr.DataFrame({"k": k, "many": many, "x": x})
            found.append(
                [
                    np.asarray(each, float).tobytes()
                    for name in NAMES
                    for each in (
                        getattr(frame.x, name)().item(),
                        values(getattr(frame.groupby("k").x, name)()),
                        values(getattr(frame.groupby("many").x, name)()),
                        values(getattr(frame.x.rolling(30), name)()),
                    )
                ]
            )
    assert found[0] == found[1] == found[2]


def test_a_merge_of_blocks_is_that_of_all_values() -> None:
    x = np.concatenate([RNG.normal(size=130_000), RNG.normal(5, 9, size=200_001)])
    for name in NAMES:
        close(getattr(hr.Series(x), name)().item(), getattr(pd.Series(x), name)(), 1e-10)


def test_mode_of_frames() -> None:
    data = {
        "a": [3, 1, 1, 3, 2],
        "s": ["b", None, "b", "a", "c"],
        "f": [np.nan] * 5,
        "b": [True, False, True, False, True],
    }
    found, wanted = hr.DataFrame(data).mode(), pd.DataFrame(data).mode()
    for name in wanted.columns:
        theirs = [None if pd.isna(each) else each for each in wanted[name]]
        ours = [None if each != each else each for each in found[name].to_list()]
        assert ours == theirs, name
    assert found.a.dtype == "int64"
    times = hr.DataFrame({"t": np.array(["2024-01-02", "2024-01-01"], "datetime64[us]")})
    assert times.mode().t.dtype == "datetime64[us]" and len(times.mode()) == 2
    assert hr.DataFrame(data).mode(numeric_only=True).columns == ["a", "f", "b"]
    assert len(hr.DataFrame({"x": np.array([])}).mode()) == 0


@pytest.mark.parametrize("groups", [3, 5000])
def test_mode_of_groups(groups: int) -> None:
    rows = 20_000
    data = {
        "k": RNG.integers(0, groups, rows),
        "i": RNG.integers(-3, 3, rows),
        "f": np.where(RNG.random(rows) < 0.3, np.nan, RNG.integers(-3, 3, rows) / 2),
        "s": np.array(["c", "a", "dd", "b"])[RNG.integers(0, 4, rows)],
        "b": RNG.random(rows) < 0.5,
    }
    found = hr.DataFrame(data).groupby("k").agg("mode")
    wanted = (
        pd.DataFrame(data).groupby("k").agg(lambda x: x.mode().iloc[0] if x.notna().any() else None)
    )
    for name in wanted.columns:
        theirs = [None if pd.isna(each) else each for each in wanted[name]]
        assert found[name].to_list() == theirs, name
    named = hr.DataFrame(data).astype({"s": "category"}).groupby("k").s.agg("mode")
    assert named.to_list() == list(wanted.s)


def test_the_table_says_what_each_form_has() -> None:
    assert set(frame_reductions._ACROSS) == {n for n, row in TABLE.items() if row.across}
    for name, row in TABLE.items():
        if name in ("nlargest", "nsmallest", "first_row", "mode", "cov"):
            continue  # of one column, internal, by name, computed in Python
        assert not row.groups or callable(getattr(GroupBy, name)), name
        assert not row.columns or callable(getattr(hr.Series, name)), name
        assert not row.columns or callable(getattr(hr.DataFrame, name)), name
        assert not row.windows or callable(getattr(Rolling, name)), name
        assert not row.cumulative or callable(getattr(hr.Series, f"cum{name}")), name
