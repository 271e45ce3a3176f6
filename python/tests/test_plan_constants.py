# SPDX-License-Identifier: Apache-2.0
"""Constants and operations that change nothing: not in the plan, and the same values."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import headrace as hr

INTEGERS = [0, 1, -1, 7, None, 2**62, -(2**62)]
FLOATS = [0.0, -0.0, 1.5, float("nan"), None, float("inf"), 5e-324]
BOOLS = [True, False, None, True, False, True, None]


def owned(frame: hr.DataFrame) -> hr.DataFrame:
    """The same rows in memory that nobody else may write to."""
    return hr.from_arrow(frame.to_arrow())


def columns() -> hr.DataFrame:
    return owned(hr.DataFrame({"n": INTEGERS, "x": FLOATS, "b": BOOLS}))


def bits(values: list[Any]) -> list[Any]:
    """Values that tell -0.0 from 0.0, and NaN from null."""
    return [np.float64(v).tobytes() if isinstance(v, float) else v for v in values]


Make = Callable[[hr.Series], hr.Series]
KEEP: dict[str, tuple[str, Make]] = {
    "n + 0": ("n", lambda s: s + 0),
    "0 + n": ("n", lambda s: 0 + s),
    "n - 0": ("n", lambda s: s - 0),
    "n * 1": ("n", lambda s: s * 1),
    "1 * x": ("x", lambda s: 1 * s),
    "x * 1.0": ("x", lambda s: s * 1.0),
    "x / 1": ("x", lambda s: s / 1),
    "n // 1": ("n", lambda s: s // 1),
    "n ** 1": ("n", lambda s: s**1),
    "n | 0": ("n", lambda s: s | 0),
    "n ^ 0": ("n", lambda s: s ^ 0),
    "n << 0": ("n", lambda s: np.left_shift(s, 0)),
    "~~n": ("n", lambda s: ~~s),
    "--x": ("x", lambda s: -(-s)),
    "~~b": ("b", lambda s: ~~s),
    "b & True": ("b", lambda s: s & True),
    "True & b": ("b", lambda s: True & s),
    "b | False": ("b", lambda s: s | False),
    "b ^ False": ("b", lambda s: s ^ False),
    "astype": ("n", lambda s: s.astype("int64")),
    "where": ("n", lambda s: s.where(hr.asarray(True), 5)),
    "a computed one": ("x", lambda s: s * (hr.asarray(3.0) - 2)),
    "a column of ones": ("x", lambda s: s * (s.is_null() | True).astype("float64")),
}


@pytest.mark.parametrize("name", KEEP)
def test_what_changes_nothing_is_no_step(name: str) -> None:
    column, make = KEEP[name]
    frame = columns()
    made = make(frame[column])
    assert made.explain().startswith("plan: 0 steps"), made.explain()
    assert made.dtype == frame[column].dtype
    assert bits(made.to_list()) == bits({"n": INTEGERS, "x": FLOATS, "b": BOOLS}[column])


CHANGE: dict[str, tuple[str, Make]] = {
    "x + 0": ("x", lambda s: s + 0),
    "x - -0.0": ("x", lambda s: s - -0.0),
    "x // 1": ("x", lambda s: s // 1),
    "n * 1.0": ("n", lambda s: s * 1.0),
    "n / 1": ("n", lambda s: s / 1),
    "n * 0": ("n", lambda s: s * 0),
    "b ^ True": ("b", lambda s: s ^ True),
}


@pytest.mark.parametrize("name", CHANGE)
def test_what_changes_bits_or_dtypes_is_done(name: str) -> None:
    column, make = CHANGE[name]
    frame = columns()
    made = make(frame[column])
    assert made.explain().startswith("plan: 1 step"), made.explain()
    dtype = {"n": "Int64", "x": "float64", "b": "boolean"}[column]
    theirs = make(pd.Series({"n": INTEGERS, "x": FLOATS, "b": BOOLS}[column], dtype=dtype))
    wanted = [None if pd.isna(v) else v for v in theirs.tolist()]
    found = [None if v is None or v != v else v for v in made.to_list()]
    assert bits(found) == bits(wanted)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor])
@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize("literal", [True, False])
def test_logic_beside_null(known: bool, op: Any, turned: bool, literal: bool) -> None:
    frame = columns()
    frame["known"] = known
    ours = known if literal else frame.known
    made = op(ours, frame.b) if turned else op(frame.b, ours)
    theirs = op(pd.Series(BOOLS, dtype="boolean"), known)
    assert made.to_list() == [None if v is pd.NA else v for v in theirs.tolist()]


def test_a_chain_of_constants_is_one_number() -> None:
    frame = columns()
    factor = (hr.asarray(3.0) * 2 + 1) / hr.asarray(7.0)
    assert (frame.x * factor).explain().startswith("plan: 0 steps")
    made = frame.x * (factor + np.exp(hr.asarray(1.0)))
    assert made.explain().count("fused pass: multiply(") == 1
    wanted = np.array([np.nan if v is None else v for v in FLOATS]) * (1 + np.e)
    np.testing.assert_allclose(made.to_numpy(), wanted)
    below = hr.asarray(3) < 4
    assert "where" not in np.where(below, frame.n, frame.x).explain()
    assert (hr.asarray(3) < 4).to_numpy().dtype == bool


def test_a_column_of_one_value_is_a_number() -> None:
    frame = columns().assign(two=2, yes=True)
    made = (frame.n * frame.two + frame.two)[frame.yes]
    text = made.explain()
    assert "assign" not in text and "getitem" not in text, text
    assert made.to_list()[:4] == [2, 4, 0, 16]
    assert frame.two.to_list() == [2] * 7 and (frame.two + 1).to_list() == [3] * 7
    assert (frame.two * frame.yes).sum().item() == 14
    assert frame[frame.n > 0].two.sum().item() == 6
    assert frame.groupby("two").n.count().to_dict() == {2: 6}


def test_a_mask_that_is_true_or_false_in_all_rows(tmp_path: Any) -> None:
    frame = owned(hr.DataFrame({"k": [3, 1, 2], "s": ["a", "b", "c"]}))
    frame["c"] = frame.s.astype("category")
    hr.eval(frame)
    whole = frame[frame.k.notna()].dropna()
    assert whole.to_dict() == frame.to_dict()
    for name in frame:
        assert whole[name].explain().startswith("plan: 0 steps")
    assert np.shares_memory(whole.k.to_numpy(), frame.k.to_numpy())
    all_by_value = frame[frame.k > 0]
    assert np.shares_memory(all_by_value.k.to_numpy(), frame.k.to_numpy())
    none = frame[frame.k.isna()]
    assert len(none) == 0 and none.dtypes == frame.dtypes
    assert none.c.cat.categories.to_list() == ["a", "b", "c"]
    assert none.merge(frame, on="k").to_dict() == {
        name: [] for name in ("k", "s_x", "c_x", "s_y", "c_y")
    }
    path = tmp_path / "rows.csv"
    path.write_text("a,s\n" + "".join(f"{i},t{i}\n" for i in range(1000)))
    scan = hr.scan_csv(path)
    empty = scan[(scan.a > 5) & False]
    assert "csv" not in empty.a.explain()
    assert empty.to_dict() == {"a": [], "s": []}
    # Rows that a mask picked are rows of their own; their numbers are compared.
    assert (frame[frame.k.notna()].k + frame.k).to_list() == (2 * frame.k).to_list()


def test_memory_of_others_is_copied() -> None:
    values = np.arange(5.0)
    ours = hr.asarray(values)
    made = [ours * 1, -(-ours), hr.Series(values)[hr.Series(values).notna()]]
    values[:] = 9
    for each in made:
        assert np.asarray(each).tolist() == [0, 1, 2, 3, 4]


def test_random_expressions_equal_numpy() -> None:
    """Trees of columns and constants, many of them 0, 1, true and false."""
    rng = random.Random(7)
    base = np.random.default_rng(7)
    rows = 70
    numbers = {
        "f": base.choice([0.0, -0.0, 1.0, -2.5, np.nan, np.inf], rows),
        "i": base.integers(-3, 4, rows),
        "b": base.random(rows) < 0.5,
    }
    frame = owned(hr.DataFrame(numbers))
    frame = frame.assign(zero=0, one=1.0, yes=True)
    numbers |= {"zero": np.zeros(rows, np.int64), "one": np.ones(rows), "yes": np.ones(rows, bool)}
    arithmetic = [operator.add, operator.sub, operator.mul]
    tests = [operator.lt, operator.ge, operator.eq]
    logic = [operator.and_, operator.or_, operator.xor]

    def number(depth: int) -> tuple[Any, Any]:
        kind = rng.randrange(6 if depth else 2)
        if kind == 0:
            name = rng.choice(["f", "i", "zero", "one"])
            return frame[name], numbers[name]
        if kind == 1:
            value = np.asarray(rng.choice([0, 1, 2, 0.0, 1.0]))
            return hr.asarray(value), value
        a, b = number(depth - 1), number(depth - 1)
        if kind == 2:
            mask = truth(depth - 1)
            return np.where(mask[0], a[0], b[0]), np.where(mask[1], a[1], b[1])
        if kind == 3:
            return -a[0], -a[1]
        op = rng.choice(arithmetic)
        if kind == 4:
            literal = rng.choice([0, 1, 0.0, 1.0])
            return op(a[0], literal), op(a[1], literal)
        return op(a[0], b[0]), op(a[1], b[1])

    def truth(depth: int) -> tuple[Any, Any]:
        kind = rng.randrange(6 if depth else 2)
        if kind == 0:
            name = rng.choice(["b", "yes"])
            return frame[name], numbers[name]
        if kind == 1:
            value = np.asarray(rng.random() < 0.5)
            return hr.asarray(value), value
        if kind == 2:
            x, y, op = number(depth - 1), number(depth - 1), rng.choice(tests)
            return op(x[0], y[0]), op(x[1], y[1])
        a, b, op = truth(depth - 1), truth(depth - 1), rng.choice(logic)
        if kind == 3:
            return ~a[0], ~a[1]
        if kind == 4:
            literal = rng.random() < 0.5
            return op(a[0], literal), op(a[1], literal)
        return op(a[0], b[0]), op(a[1], b[1])

    with np.errstate(all="ignore"):
        for _ in range(400):
            ours, theirs = (number if rng.random() < 0.5 else truth)(rng.randrange(1, 6))
            got, wanted = np.asarray(ours.to_numpy()), np.asarray(theirs)
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            np.testing.assert_array_equal(got, wanted)
            if got.dtype.kind == "f":
                there = ~np.isnan(got)
                np.testing.assert_array_equal(np.signbit(got)[there], np.signbit(wanted)[there])
            if got.shape:
                picked = frame[ours > 0 if got.dtype != bool else ours].i.to_numpy()
                np.testing.assert_array_equal(picked, numbers["i"][wanted > 0])


def test_rows_that_equal_masks_pick_are_the_same() -> None:
    frame = owned(hr.DataFrame({"x": [1, 2, 3, 4], "y": [5, 6, 7, 8], "s": ["a", "ab", "b", "ab"]}))
    made = frame[frame.x > 1].x + frame[frame.x > 1].y
    assert made.to_list() == [8, 10, 12]

    def both() -> hr.DataFrame:
        return frame[(frame.x > frame.x.mean()) | frame.s.str.contains("b")]

    first = both().x
    assert first.to_list() == [2, 3, 4]  # it ran, and let go of its mask
    assert (first + both().y).to_list() == [8, 10, 12]
    twice = [frame[frame.x > 1] for _ in range(2)]
    again = [each[each.y < 8].x for each in twice]
    assert (again[0] * again[1]).to_list() == [4, 9]
    joined = [frame.merge(frame, on="x") for _ in range(2)]
    assert (joined[0].x + joined[1].x).to_list() == (2 * joined[0].x).to_list()
    with pytest.raises(hr.InvalidArgumentError, match="merge or join"):
        frame[frame.x > 1].x + frame[frame.x > 2].x
    # Memory that others may write to may have changed between the lines.
    values = np.array([1, 2, 3])
    live = hr.asarray(values)
    one = live[live > 1]
    values[:] = 0
    with pytest.raises(hr.InvalidArgumentError):
        one + live[live > 1]
