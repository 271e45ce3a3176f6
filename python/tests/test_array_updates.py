# SPDX-License-Identifier: Apache-2.0
"""Assignments to parts of arrays write into the array's memory where nothing else refers to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import headrace as hr


def _seconds(work: Callable[[], None], runs: int = 3) -> float:
    """The least of a few runs."""
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def _filled(size: int, updates: int) -> np.ndarray:
    out = hr.zeros(size)
    for k in range(updates):
        out[k % size] = float(k)
    return np.asarray(out)


def test_updates_cost_what_they_write() -> None:
    # Copies of 8 MB each would take more than 20 times as long.
    small = _seconds(lambda: _filled(10_000, 10_000))
    large = _seconds(lambda: _filled(1_000_000, 10_000))
    assert large < 5 * small + 0.2


def test_rows_at_positions_cost_what_they_write() -> None:
    def run(rows: int) -> np.ndarray:
        out = hr.zeros((rows, 100))
        for k in range(300):
            out[[k, k + 1]] = float(k)
            out[[k, k + 1], [3, -1]] = out[[k]][:, 5] + 1
        return np.asarray(out[:400])

    expected = np.zeros((400, 100))
    for k in range(300):
        expected[[k, k + 1]] = float(k)
        expected[[k, k + 1], [3, -1]] = expected[[k]][:, 5] + 1
    np.testing.assert_array_equal(run(400), expected)
    small, large = (_seconds(lambda rows=rows: run(rows), 2) for rows in (400, 50_000))
    assert large < 5 * small + 0.2  # with copies of 40 MB: seconds


def test_elements_cost_what_they_write() -> None:
    def run(size: int) -> np.ndarray:
        out = hr.zeros((size, 100))
        few = np.zeros((size, 100), bool)
        few[:3, :3] = True
        mask = hr.asarray(few[:, 0])
        for k in range(300):
            out[[k, k + 1], 3] = [k, -k]
            out[[k, k + 1], 5:9:2] += 1
            out[5:7, [k % 90, -1]] = hr.asarray([[k], [2.0]])
            if k % 100 == 0:
                out[mask] = np.arange(300.0).reshape(3, 100)
        return np.asarray(out[:400])

    expected = np.zeros((400, 100))
    for k in range(300):
        expected[[k, k + 1], 3] = [k, -k]
        expected[[k, k + 1], 5:9:2] += 1
        expected[5:7, [k % 90, -1]] = [[k], [2.0]]
        if k % 100 == 0:
            expected[:3] = np.arange(300.0).reshape(3, 100)
    np.testing.assert_array_equal(run(400), expected)
    small, large = (_seconds(lambda size=size: run(size), 2) for size in (400, 50_000))
    assert large < 5 * small + 0.3  # with copies of 40 MB: seconds


@pytest.mark.parametrize(
    ("key", "index", "axis", "size"),
    [
        ([0, 99], 99, 0, 4),
        ([-5, 0], -5, 0, 4),
        (np.array([2**63 + 1], "uint64"), 2**63 + 1, 0, 4),
        (([0, 1], [2, 5]), 5, 1, 5),
        (([0, 1], 7), 7, 1, 5),
        ((slice(0, 0), [-6]), -6, 1, 5),
        ((slice(1, 3), None, [5]), 5, 1, 5),
        ((True, [0, 4]), 4, 0, 4),
    ],
)
def test_positions_out_of_range_leave_the_array(key: Any, index: int, axis: int, size: int) -> None:
    x = hr.asarray(np.arange(20.0).reshape(4, 5))
    x[0, 0] = 7  # waits until the array is read
    words = f"setitem: index out of range: index={index}, axis={axis}, size={size}$"
    with pytest.raises(IndexError, match=words):
        x[key] = 1
    if isinstance(key, list):
        with pytest.raises(IndexError, match=words):
            x[hr.asarray(key) + 0] = 1
    x[1, 1] = -1
    expected = np.arange(20.0).reshape(4, 5)
    expected[0, 0], expected[1, 1] = 7, -1
    np.testing.assert_array_equal(x.to_numpy(), expected)


def test_values_that_do_not_fit_positions_are_refused() -> None:
    x = hr.asarray(np.arange(20.0).reshape(4, 5))
    with pytest.raises(ValueError, match=r"setitem: the values do not fit: .*selected=\(2, 2\)"):
        x[[0, 1], 1:3] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"setitem: the values do not fit: .*selected=\(3,\)"):
        x[np.arange(20).reshape(4, 5) > 16] = [1, 2]
    assert x.tolist() == np.arange(20.0).reshape(4, 5).tolist()


def test_updates_that_run_one_by_one_cost_what_they_write() -> None:
    def run(size: int) -> None:
        out = hr.zeros(size)
        for k in range(2_000):
            out[k] = float(k)
            hr.eval(out)

    small, large = (_seconds(lambda size=size: run(size)) for size in (10_000, 1_000_000))
    assert large < 5 * small + 0.2


COPIES: dict[str, Callable[[Any, int], None]] = {
    "row": lambda x, i: x.__setitem__(i, x[i - 1]),
    "part": lambda x, i: x.__setitem__((i, slice(1, None)), x[i - 1, :-1]),
    "turned": lambda x, i: x.__setitem__(i, x[i - 1, ::-1]),
    "element": lambda x, i: x.__setitem__((i, 0), x[i - 1, 1]),
    "of a view": lambda x, i: x[i].__setitem__(slice(None), x[i - 1]),
}


@pytest.mark.parametrize("each", [False, True], ids=["together", "one by one"])
@pytest.mark.parametrize("name", list(COPIES))
def test_views_of_the_array_are_copied_alone(name: str, each: bool) -> None:
    def run(rows: int) -> Any:
        out = hr.zeros((rows, 20))
        out[0] = np.arange(20.0)
        for i in range(1, 1_000):
            COPIES[name](out, i)
            if each:
                hr.eval(out)
        return np.asarray(out[:1_000])

    expected = np.zeros((1_000, 20))
    expected[0] = np.arange(20.0)
    for i in range(1, 1_000):
        COPIES[name](expected, i)
    np.testing.assert_array_equal(run(1_000), expected)
    small, large = (_seconds(lambda rows=rows: run(rows), 2) for rows in (1_000, 100_000))
    assert large < 5 * small + 0.2  # with copies of 16 MB: seconds


def test_values_that_overlap_what_they_are_assigned_to_are_read_first() -> None:
    random = np.random.default_rng(7)
    for _ in range(300):
        shape = tuple(random.integers(1, 7, random.integers(1, 4)))
        theirs = random.integers(0, 99, shape).astype(random.choice(["f8", "i4", "c16", "?"]))
        ours = hr.asarray(theirs.copy()).copy()
        hr.eval(ours)
        for _ in range(random.integers(1, 5)):
            key, other = [], []
            for size in shape:  # two windows of one size, each in either direction
                count = int(random.integers(0, size + 1))
                for into in (key, other):
                    begin, step = int(random.integers(0, size - count + 1)), random.random() < 0.5
                    window = range(begin, begin + count)
                    into.append([*window][:: 1 if step else -1])
            slices = [
                tuple(
                    slice(0, 0)
                    if not each
                    else slice(
                        each[0],
                        each[-1] + 1
                        if each[0] <= each[-1]
                        else (each[-1] - 1 if each[-1] else None),
                        1 if each[0] <= each[-1] else -1,
                    )
                    for each in windows
                )
                for windows in (key, other)
            ]
            theirs[slices[0]] = theirs[slices[1]]
            if random.random() < 0.3:
                ours[slices[0]][...] = ours[slices[1]]
            else:
                ours[slices[0]] = ours[slices[1]]
            if random.random() < 0.3:
                hr.eval(ours)
        np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("each", [False, True], ids=["together", "one by one"])
def test_rows_from_rows_before_are_numpys(each: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.random((40, 30))
    ours, theirs = hr.zeros((40, 30)), np.zeros((40, 30))
    given = hr.asarray(x)
    for i in range(40):
        ours[i] = given[i] * 2 + (ours[i - 1] if i else 0)
        theirs[i] = x[i] * 2 + (theirs[i - 1] if i else 0)
        ours[:, i % 30] = ours[:, (i + 7) % 30]
        theirs[:, i % 30] = theirs[:, (i + 7) % 30]
        ours[[3, 5, 3], 1:4] = float(i)
        theirs[[3, 5, 3], 1:4] = float(i)
        if each:
            hr.eval(ours)
    np.testing.assert_array_equal(np.asarray(ours), theirs)


@pytest.mark.parametrize("evaluated", [False, True])
def test_copies_keep_what_they_were(evaluated: bool) -> None:
    array = hr.asarray(np.arange(12.0)) + 0
    array[0] = 5.0
    if evaluated:
        hr.eval(array)
    copy, half, total = array.copy(), array / 2, array.sum()
    array[0] = 7.0
    array[1] = 8.0
    assert array.tolist()[:3] == [7, 8, 2]
    assert copy.tolist()[:3] == [5, 1, 2]
    assert half.tolist()[:3] == [2.5, 0.5, 1]
    assert total.item() == 71


def test_memory_in_other_hands_is_not_written() -> None:
    array = hr.asarray(np.arange(12.0)) + 0
    array[0] = 5.0
    exported = np.asarray(array)
    array[1] = 8.0
    assert array.tolist()[:3] == [5, 8, 2]
    assert exported.tolist()[:3] == [5, 1, 2]
    theirs = np.arange(12.0)
    ours = hr.asarray(theirs)
    ours[0] = 9.0
    assert ours.tolist()[0] == 9
    assert theirs[0] == 0


def test_views_see_updates() -> None:
    array = hr.zeros((4, 5))
    row = array[1]
    hr.eval(array)
    array[1, 2] = 3.0
    row = array[1]
    row[0] = 4.0
    column = array[:, 0]
    assert array[1].tolist() == [4, 0, 3, 0, 0]
    assert column.tolist() == [0, 4, 0, 0]
    array[2, 0] = 6.0
    assert array[:, 0].tolist() == [0, 4, 6, 0]
    frame = hr.DataFrame({"a": array[:, 0]})
    array[0, 0] = 1.0
    assert frame["a"].tolist() == [0, 4, 6, 0]


def test_an_update_that_fails_leaves_the_array() -> None:
    array = hr.zeros(10)
    array[3] = 1.0
    hr.eval(array)
    before = array.copy()
    places = hr.asarray(np.array([1, 20]))
    with pytest.raises(IndexError):
        array[places] = 5.0
        hr.eval(array)
    assert before.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_updates_under_a_limit() -> None:
    rows = range(0, 20_000, 199)
    with hr.memory.limit(hr.memory.stats().used_bytes + 64_000_000):
        array = hr.zeros((20_000, 300)) + 1
        for i in rows:
            array[i] = float(i)
        hr.eval(array)
        other = hr.zeros((20_000, 300)) + 2
        for i in rows:
            other[i] = float(i)
            if i % 995 == 0:
                hr.eval(other)
        assert float(other.sum()) == 300 * sum(rows) + 600 * (20_000 - len(rows))
        assert float(array.sum()) == 300 * sum(rows) + 300 * (20_000 - len(rows))


@pytest.mark.parametrize("rows", [np.arange(3.0), 4.0, np.float32(2), [1, 2, 3], np.arange(3)])
def test_values_are_those_of_the_assignment(rows: Any) -> None:
    ours, theirs = hr.zeros((5, 3)), np.zeros((5, 3))
    ours[2] = rows
    theirs[2] = rows
    if isinstance(rows, np.ndarray):
        rows += 100
    np.testing.assert_array_equal(np.asarray(ours), theirs)
