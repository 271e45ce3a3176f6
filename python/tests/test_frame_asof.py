# SPDX-License-Identifier: Apache-2.0
"""As-of joins against pandas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr


def rows(frame: Any) -> list[Any]:
    names = list(frame.columns)
    columns = [frame[name].to_list() for name in names]
    cells = [[None if v is None or v != v else v for v in column] for column in columns]
    return [names, *zip(*cells, strict=True)]


def same(got: Any, wanted: Any) -> None:
    wanted = wanted.copy()
    for name in wanted.columns:
        if wanted[name].dtype.kind == "M":
            wanted[name] = wanted[name].dt.to_pydatetime()
    assert rows(got) == rows(wanted)


SIDE = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["a", "b", "c"]), st.integers(0, 9)), max_size=40
)
DIRECTIONS = st.sampled_from(["backward", "forward", "nearest"])


@given(SIDE, SIDE, DIRECTIONS, st.booleans(), st.sampled_from([None, 0, 2, 5]), st.booleans())
def test_as_pandas(
    one: list[Any], other: list[Any], direction: str, exact: bool, tolerance: Any, by: bool
) -> None:
    one, other = sorted(one, key=lambda r: r[0]), sorted(other, key=lambda r: r[0])
    words: dict[str, Any] = {"direction": direction, "allow_exact_matches": exact}
    if by:
        words["by"] = "k"
    for kind in ("int64", "float64", "M8[us]"):
        sides = []
        for side, value in ((one, "x"), (other, "y")):
            at = np.array([r[0] for r in side], "int64")
            at = at.astype("M8[s]").astype(kind) if kind == "M8[us]" else at.astype(kind)
            data = {
                "t": at,
                "k": np.array([r[1] for r in side], "U1"),
                value: np.array([r[2] for r in side], "int64"),
            }
            sides.append(data)
        if kind == "M8[us]" and tolerance is not None:
            given = {"tolerance": pd.Timedelta(seconds=tolerance)}
        else:
            given = {} if tolerance is None else {"tolerance": tolerance}
        mine = [
            hr.DataFrame(
                {
                    n: hr.Series(v.tolist(), dtype="string") if n == "k" else v
                    for n, v in side.items()
                }
            )
            for side in sides
        ]
        theirs = [pd.DataFrame(side).astype({"k": "str"}) for side in sides]
        if not by:
            theirs[1] = theirs[1].drop(columns="k")
            mine[1] = mine[1].drop(columns="k")
        same(
            hr.merge_asof(*mine, on="t", **words, **given),
            pd.merge_asof(*theirs, on="t", **words, **given),
        )


def test_keys_and_names() -> None:
    t = pd.to_datetime(["2024-01-01 10:00", "2024-01-01 10:05", "2024-01-01 10:09"])
    u = pd.to_datetime(["2024-01-01 09:59", "2024-01-01 10:05"])
    left = pd.DataFrame({"t": t, "k": [1, 2, 1], "x": [1, 2, 3], "v": [7, 8, 9]})
    right = pd.DataFrame({"u": u, "g": [1, 2], "v": [5.0, 6.0]})
    mine, theirs = hr.from_pandas(left), hr.from_pandas(right)
    words = {"left_on": "t", "right_on": "u"}
    same(hr.merge_asof(mine, theirs, **words), pd.merge_asof(left, right, **words))
    words |= {"left_by": "k", "right_by": "g", "suffixes": ("_l", "_r")}
    same(hr.merge_asof(mine, theirs, **words), pd.merge_asof(left, right, **words))
    got = hr.merge_asof(mine, theirs, **words, tolerance="2min")
    same(got, pd.merge_asof(left, right, **words, tolerance=pd.Timedelta("2min")))
    words = {"left_index": True, "right_index": True}
    indexed = pd.merge_asof(left.set_index("t"), right.set_index("u"), **words)
    mine, theirs = mine.set_index("t", drop=True), theirs.set_index("u", drop=True)
    got = hr.merge_asof(mine, theirs, **words)
    assert got.index.to_list() == [each.to_pydatetime() for each in indexed.index]
    same(got, indexed)
    days = hr.DataFrame({"t": hr.to_datetime(["2024-01-01"]).astype("date"), "v": [1]})
    later = hr.DataFrame({"t": hr.to_datetime(["2024-01-01 10:00"])})
    assert hr.merge_asof(later, days, on="t").v.to_list() == [1]
    zoned = [frame.assign(t=frame.t.dt.tz_localize("Europe/Berlin")) for frame in (later, later)]
    assert len(hr.merge_asof(*zoned, on="t")) == 1


def test_what_it_refuses() -> None:
    a = hr.DataFrame({"t": [1, 3, 2]})
    b = hr.DataFrame({"t": [1, 2], "v": [1, 2]})
    with pytest.raises(hr.InvalidArgumentError, match="not in order: side='left', row=2"):
        hr.merge_asof(a, b, on="t").v.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="not in order: side='right'"):
        hr.merge_asof(b, a.assign(w=1), on="t").w.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="missing: side='left', row=1"):
        hr.merge_asof(hr.DataFrame({"t": [1.0, float("nan")]}), b, on="t").v.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="missing: side='left', row=0"):
        hr.merge_asof(hr.DataFrame({"t": hr.Series([None, 1])}), b, on="t").v.to_list()
    with pytest.raises(hr.TypeMismatchError, match="both be numbers"):
        hr.merge_asof(hr.DataFrame({"t": ["a"]}), b, on="t")
    with pytest.raises(hr.TypeMismatchError, match="tolerance"):
        hr.merge_asof(b, b, on="t", tolerance="2s")
    with pytest.raises(hr.InvalidArgumentError, match="direction"):
        hr.merge_asof(b, b, on="t", direction="up")  # type: ignore[arg-type]
    with pytest.raises(hr.InvalidArgumentError, match="expected one key"):
        hr.merge_asof(b, b)


@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_groups_far_apart(direction: Any) -> None:
    rng = np.random.default_rng(4)
    keys = rng.integers(0, 2**62, 40)

    def side(name: str) -> dict[str, Any]:
        at = np.sort(rng.integers(0, 3000, 1000))
        return {"t": at, "k": rng.choice(keys, 1000), "z": rng.random(1000) < 0.5, name: at}

    one, other = side("x"), side("y")
    words: dict[str, Any] = {"on": "t", "by": ["k", "z"], "direction": direction, "tolerance": 90}
    same(
        hr.merge_asof(hr.DataFrame(one), hr.DataFrame(other), **words),
        pd.merge_asof(pd.DataFrame(one), pd.DataFrame(other), **words),
    )


def test_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(2)
    n = 300_000
    one = {"t": np.sort(rng.integers(0, 10**6, n)), "k": rng.integers(0, 50, n)}
    other = {
        "t": np.sort(rng.integers(0, 10**6, n)),
        "k": rng.integers(0, 50, n),
        "v": np.arange(n),
    }
    wanted = pd.merge_asof(pd.DataFrame(one), pd.DataFrame(other), on="t", by="k")
    for threads in (1, 2, 4):
        with hr.threads(threads):
            got = hr.merge_asof(hr.DataFrame(one), hr.DataFrame(other), on="t", by="k")
            assert (got.v.fill_null(-1).to_numpy() == wanted.v.fillna(-1)).all()
