# SPDX-License-Identifier: Apache-2.0
"""Windows of spans of time, pairs of columns, functions of windows, and `ewm`, against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr

AGGREGATES = ("sum", "mean", "min", "max", "var", "std", "sem", "skew", "kurt", "median", "count")
MORE = ("first", "last", "nunique")
CLOSED = st.sampled_from(["right", "left", "both", "neither", None])
NUMBERS = st.one_of(st.none(), st.sampled_from([0.0, 1.0, 2.5, -3.25, 100.0, float("nan")]))
HOURS = st.lists(st.tuples(st.integers(0, 40), NUMBERS), max_size=60)
SPANS = st.sampled_from(["3h", "90min", "1D", "1h", "5s"])


def plain(values: Any) -> list[Any]:
    """Without NaN, rounded as sums in another order need it."""
    return [None if v is None or v != v else pytest.approx(v, rel=1e-8, abs=1e-8) for v in values]


def ours(values: Any) -> list[Any]:
    """Null for NaN: pandas has only one of them."""
    return [None if v is None or v != v else v for v in values.to_list()]


def both(rows: list[Any], falls: bool = False) -> tuple[Any, Any, list[Any]]:
    rows = sorted(rows, key=lambda row: row[0], reverse=falls)
    hours = pd.to_datetime("2024-01-01") + pd.to_timedelta([h for h, _ in rows], unit="h")
    hours = pd.DatetimeIndex(hours)
    values = [x for _, x in rows]
    theirs = pd.Series(values, index=hours, dtype="float64", name="x")
    mine = hr.Series(
        hr.Series(values, dtype="float64"), name="x", index=hr.Series(hours.to_numpy())
    )
    return mine, theirs, values


@given(HOURS, SPANS, st.integers(0, 4), st.booleans(), CLOSED, st.booleans())
def test_spans_of_time_are_those_of_pandas(
    rows: list[Any], span: str, few: int, center: bool, closed: Any, falls: bool
) -> None:
    if not rows:
        return
    mine, theirs, _ = both(rows, falls)
    got = mine.rolling(span, min_periods=few, center=center, closed=closed)
    wanted = theirs.rolling(span, min_periods=few, center=center, closed=closed)
    for name in AGGREGATES + MORE:
        assert ours(getattr(got, name)()) == plain(getattr(wanted, name)()), name
    if few:  # pandas makes 0 of a window without values
        assert ours(got.quantile(0.3)) == plain(wanted.quantile(0.3))
    assert ours(got.rank()) == plain(wanted.rank())
    assert ours(got.rank("min", ascending=False, pct=True)) == plain(
        wanted.rank("min", ascending=False, pct=True)
    )


@given(st.lists(NUMBERS, max_size=60), st.integers(1, 70), st.booleans(), CLOSED)
def test_closed_and_order_of_windows_of_rows(
    values: list[Any], window: int, center: bool, closed: Any
) -> None:
    got = hr.Series(values, dtype="float64").rolling(window, 1, center=center, closed=closed)
    wanted = pd.Series(values, dtype="float64").rolling(window, 1, center=center, closed=closed)
    for name in AGGREGATES + MORE:
        assert ours(getattr(got, name)()) == plain(getattr(wanted, name)()), name
    for way in ("linear", "lower", "higher", "midpoint", "nearest"):
        assert ours(got.quantile(0.4, way)) == plain(wanted.quantile(0.4, way)), way
    for how in ("average", "min", "max"):
        assert ours(got.rank(how)) == plain(wanted.rank(how)), how


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=50), st.integers(2, 20))
def test_pairs_of_columns(rows: list[Any], window: int) -> None:
    x, y = [a for a, _ in rows], [b for _, b in rows]
    a, b = hr.Series(x, dtype="float64"), hr.Series(y, dtype="float64")
    p, q = pd.Series(x, dtype="float64"), pd.Series(y, dtype="float64")
    frame = hr.DataFrame({"a": a, "b": b})
    assert ours(frame.a.rolling(window, 2).cov(frame.b)) == plain(p.rolling(window, 2).cov(q))
    got, wanted = ours(frame.a.rolling(window, 2).corr(frame.b)), p.rolling(window, 2).corr(q)
    spread = (p + 0 * q).rolling(window, 2).std() * (q + 0 * p).rolling(window, 2).std()
    for mine, theirs, width in zip(got, wanted, spread, strict=True):
        if width == width and width > 1e-3:  # pandas' rounding decides for constant windows
            assert mine == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    assert ours(frame.a.expanding(2).cov(frame.b)) == plain(p.expanding(2).cov(q))


WEIGHTS = st.sampled_from(
    [{"com": 2}, {"span": 4}, {"halflife": 1.5}, {"alpha": 0.3}, {"alpha": 1.0}, {"com": 0}]
)


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS), max_size=40),
    WEIGHTS,
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)
def test_ewm_is_that_of_pandas(
    rows: list[Any], words: dict[str, Any], adjust: bool, ignore_na: bool, few: int
) -> None:
    x, y = [a for a, _ in rows], [b for _, b in rows]
    frame = hr.DataFrame({"x": hr.Series(x, dtype="float64"), "y": hr.Series(y, dtype="float64")})
    theirs = pd.DataFrame({"x": x, "y": y}, dtype="float64")
    words = {**words, "adjust": adjust, "ignore_na": ignore_na, "min_periods": few}
    got, wanted = frame.x.ewm(**words), theirs.x.ewm(**words)
    for name in ("mean", "sum") if adjust else ("mean",):
        assert ours(getattr(got, name)()) == plain(getattr(wanted, name)()), name
    for bias in (False, True):
        assert ours(got.var(bias)) == plain(wanted.var(bias))
        assert ours(got.std(bias)) == plain(wanted.std(bias))
        assert ours(got.cov(frame.y, bias=bias)) == plain(wanted.cov(theirs.y, bias=bias))


def test_ewm_of_frames_groups_and_times() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=500), rng.normal(size=500)
    keys = rng.integers(0, 7, 500)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(rng.integers(0, 9, 500)), "h")
    frame, theirs = hr.DataFrame({"k": keys, "x": x, "y": y}), pd.DataFrame({"x": x, "y": y})
    got = frame[["x", "y"]].ewm(span=5).mean()
    assert ours(got.y) == plain(theirs.ewm(span=5).mean().y)
    assert ours(frame.x.ewm(span=5).corr(frame.y)) == plain(theirs.x.ewm(span=5).corr(theirs.y))
    by_time = theirs.x.ewm(halflife="6h", times=when)
    times = hr.Series(when.to_numpy())
    assert ours(hr.Series(x).ewm(halflife="6h", times=times).mean()) == plain(by_time.mean())
    grouped = theirs.assign(k=keys).groupby("k").x.ewm(alpha=0.3).mean()
    assert ours(frame.groupby("k").x.ewm(alpha=0.3).mean()) == plain(grouped)
    assert ours(frame.ewm(com=1)["x"].std()) == plain(theirs.x.ewm(com=1).std())
    for bad in ({}, {"com": 1, "span": 3}, {"com": -1}, {"span": 0.5}, {"alpha": 0}, {"alpha": 2}):
        with pytest.raises(hr.InvalidArgumentError, match="ewm"):
            frame.x.ewm(**bad)
    with pytest.raises(hr.UnsupportedError, match="adjust"):
        frame.x.ewm(com=1, adjust=False).sum()
    with pytest.raises(hr.InvalidArgumentError, match="order"):
        hr.Series(x).ewm(halflife="6h", times=times[::-1].to_numpy()).mean().to_list()


def test_spans_of_frames_and_groups() -> None:
    rng = np.random.default_rng(1)
    n = 3000
    data = {
        "k": rng.integers(0, 40, n),
        "t": np.datetime64("2024-01-01", "us")
        + np.sort(rng.integers(0, 10**7, n)).astype("timedelta64[s]"),
        "x": rng.normal(size=n),
        "y": rng.integers(0, 9, n),
    }
    mine, theirs = hr.DataFrame(data), pd.DataFrame(data)
    got = mine.rolling("2D", on="t").mean()
    wanted = theirs.rolling("2D", on="t").mean()
    assert got.columns == ["k", "t", "x", "y"]
    assert got.t.to_list() == [each.to_pydatetime() for each in wanted.t]
    for name in ("x", "y"):
        assert ours(got[name]) == plain(wanted[name])
    assert ours(mine.rolling("2D", on="t").x.std()) == plain(theirs.rolling("2D", on="t").x.std())
    labelled = mine.set_index("t")
    assert ours(labelled.rolling("2D").x.sum()) == plain(
        theirs.set_index("t").rolling("2D").x.sum()
    )
    grouped = theirs.set_index("t").groupby("k").x.rolling("7D", closed="both")
    for groups in (mine.groupby("k"), labelled.groupby("k")):
        windows = groups.rolling("7D", closed="both", **({"on": "t"} if groups._rows == {} else {}))
        for name in ("sum", "max", "median", "std", "nunique"):
            wanted = getattr(grouped, name)()
            found = np.array(ours(windows[["x"]].agg(name).x), dtype=float)
            np.testing.assert_allclose(found, wanted.to_numpy(), rtol=1e-8, atol=1e-8)
    pairs = theirs.set_index("t").groupby("k")[["x", "y"]].rolling("7D")
    assert pairs is not None
    made = mine.groupby("k").x.rolling(5).corr(mine.y)
    wanted = theirs.groupby("k")[["x", "y"]].apply(lambda g: g.x.rolling(5).corr(g.y))
    assert ours(made) == plain(wanted)


def test_functions_of_windows() -> None:
    s, p = hr.Series([1.0, 5.0, None, 2.0, 8.0]), pd.Series([1.0, 5.0, None, 2.0, 8.0])
    functions = [
        lambda x: x.max() - x.min(),
        lambda x: x.iloc[-1] - x.iloc[0],
        lambda x: (x * x).sum(),
        np.mean,
    ]
    for function in functions:
        for words in ({"min_periods": 1}, {"center": True, "min_periods": 2}, {}):
            got = s.rolling(3, **words).apply(function)
            assert ours(got) == plain(p.rolling(3, **words).apply(function))
    raw = lambda x: np.nansum(x) * len(x)  # noqa: E731
    assert ours(s.rolling(2, 1).apply(raw, raw=True)) == plain(p.rolling(2, 1).apply(raw, raw=True))
    assert ours(s.expanding(2).apply(raw, raw=True)) == plain(p.expanding(2).apply(raw, raw=True))
    data = {"k": list("abaabb"), "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    mine, theirs = hr.DataFrame(data), pd.DataFrame(data)
    grouped = theirs.groupby("k").x.rolling(2).apply(raw, raw=True)
    assert ours(mine.groupby("k").x.rolling(2).apply(raw, raw=True)) == plain(grouped)
    with hr.strict(), pytest.raises(hr.UnsupportedError, match="window"):
        s.rolling(2).apply(raw, raw=True)
    frame = hr.DataFrame({"a": [1, 2, 4], "b": [1.0, 0.0, 3.0]})
    both = [("a", "sum"), ("a", "mean"), ("b", "sum"), ("b", "mean")]
    assert list(frame.rolling(2).agg(["sum", "mean"]).columns) == both
    made = frame.rolling(2).agg({"a": "max", "b": "min"})
    assert made.to_dict() == {"a": [None, 2, 4], "b": [None, 0.0, 0.0]}
    assert frame.rolling(2, step=2).sum().a.to_list() == [None, 6]
    assert frame.rolling(2, step=2).agg(["sum", "max"])[("a", "max")].to_list() == [None, 4]
    with pytest.raises(hr.UnsupportedError, match="groups have no step: step=2"):
        frame.groupby("a").rolling(2, step=2)


def test_what_windows_refuse() -> None:
    times = hr.to_datetime(["2024-01-01", "2024-01-03", "2024-01-02"])
    s = hr.Series([1, 2, 3], index=times)
    with pytest.raises(hr.InvalidArgumentError, match="in order"):
        s.rolling("2D").sum().to_list()
    gap = hr.to_datetime(["2024-01-01", None, "2024-01-02"])
    with pytest.raises(hr.InvalidArgumentError, match="missing"):
        hr.Series([1, 2, 3], index=gap).rolling("2D").sum().to_list()
    with pytest.raises(hr.InvalidArgumentError, match="on="):
        hr.Series([1, 2]).rolling("2D")
    with pytest.raises(hr.TypeMismatchError, match="times"):
        hr.DataFrame({"a": [1], "b": [2]}).rolling("2D", on="a")
    for bad in ("7X", "MS", "1ME", "0D", "-1D"):
        with pytest.raises(hr.InvalidArgumentError, match="rolling"):
            s.rolling(bad)
    with pytest.raises(hr.UnsupportedError, match="convolve"):
        s.rolling(2, win_type="hann")
    with pytest.raises(hr.InvalidArgumentError, match="closed"):
        s.rolling(2, closed="up").sum()
    with pytest.raises(hr.InvalidArgumentError, match="unknown window aggregate"):
        s.rolling(2).agg("mode")


def test_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    n = 400_000
    times = np.datetime64("2024-01-01", "us") + np.cumsum(rng.integers(0, 60, n)).astype("m8[s]")
    data = {"t": times, "k": rng.integers(0, 5, n), "x": rng.normal(size=n)}
    found = []
    for threads in (1, 2, 4):
        hr.threads(threads)
        frame = hr.DataFrame(data)
        made = [
            frame.rolling("1h", on="t").x.sum(),
            frame.groupby("k").rolling("3h", on="t").x.std(),
            frame.groupby("k").x.ewm(span=9).mean(),
        ]
        found.append([each.fill_null(0).to_numpy().tobytes() for each in made])
    hr.threads(2)
    assert found[0] == found[1] == found[2]
