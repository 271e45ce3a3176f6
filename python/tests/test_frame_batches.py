# SPDX-License-Identifier: Apache-2.0
"""Batches: each row once, the same order by any way, for any rank."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr

SIZES = [0, 1, 2, 63, 64, 65, 1000, 2**16, 2**16 + 1, 2**17 - 1, 2**17 + 1, 300_000]


def frame_of(rows: int) -> hr.DataFrame:
    """Numbers with nulls and NaN, and strings."""
    numbers = np.arange(rows, dtype="float64")
    numbers[::7] = np.nan
    frame = hr.DataFrame({"row": np.arange(rows), "x": numbers})
    frame["x"] = frame.x.where(frame.row % 5 != 0)
    frame["k"] = (frame.row % 11).astype("string")
    return frame


def rows_in(batches: Any) -> list[int]:
    return [row for batch in batches for row in batch.row.to_list()]


@pytest.mark.parametrize("rows", SIZES)
def test_in_order_batches_are_the_frame(rows: int) -> None:
    frame = frame_of(rows)
    size = 1000 if rows < 100_000 else 50_000
    batches = list(frame.iter_batches(size))
    assert [len(batch) for batch in batches] == [
        min(size, rows - begin) for begin in range(0, rows, size)
    ]
    assert rows_in(batches) == list(range(rows))
    if rows:
        whole = hr.concat(batches, ignore_index=True)
        assert whole.k.to_list() == frame.k.to_list()
        assert whole.x.is_null().to_list() == frame.x.is_null().to_list()
        np.testing.assert_array_equal(whole.x.to_numpy(), frame.x.to_numpy())
    full = list(frame.iter_batches(size, drop_last=True))
    assert all(len(batch) == size for batch in full) and len(full) == rows // size


@pytest.mark.parametrize("rows", SIZES)
def test_shuffled_batches_have_each_row_once(rows: int) -> None:
    frame = frame_of(rows)
    found = rows_in(frame.iter_batches(777 if rows < 100_000 else 70_000, shuffle=True, seed=3))
    assert sorted(found) == list(range(rows))
    if rows > 60:
        assert found != list(range(rows))
        assert found == rows_in(frame.iter_batches(max(rows // 3, 1), shuffle=True, seed=3))
        assert found != rows_in(frame.iter_batches(rows, shuffle=True, seed=4))
        assert found != rows_in(frame.iter_batches(rows, shuffle=True))
    batch = next(frame.iter_batches(100, shuffle=True, seed=3), None)
    if batch is not None:  # columns stay together
        assert batch.k.to_list() == [str(row % 11) for row in batch.row.to_list()]


@pytest.mark.parametrize("rows", [1, 2, 5, 64, 1001, 70_001])
@pytest.mark.parametrize("world", [2, 3, 8])
@pytest.mark.parametrize("shuffle", [False, True])
def test_ranks_share_the_rows_out(rows: int, world: int, shuffle: bool) -> None:
    frame = frame_of(rows)
    words: dict[str, Any] = {"shuffle": shuffle, "seed": 5 if shuffle else None}
    parts = [rows_in(frame.iter_batches(100, rank=r, world=world, **words)) for r in range(world)]
    assert sorted(row for part in parts for row in part) == list(range(rows))
    whole = rows_in(frame.iter_batches(rows, **words))
    assert [whole[rank::world] for rank in range(world)] == parts


def test_the_order_is_the_same_under_a_small_limit(memory_room: Any) -> None:
    frame = hr.DataFrame({"row": np.arange(400_000), "x": np.arange(400_000) / 7})
    free = rows_in(frame.iter_batches(50_000, shuffle=True, seed=9))
    with memory_room("12MB"):
        tight = rows_in(frame.iter_batches(50_000, shuffle=True, seed=9))
        part = rows_in(frame.iter_batches(50_000, shuffle=True, seed=9, rank=1, world=3))
    assert tight == free and part == free[1::3]


def test_a_scan_larger_than_the_limit(tmp_path: Path, memory_room: Any) -> None:
    rows = 600_000
    path = tmp_path / "rows.csv"
    hr.DataFrame(
        {"row": np.arange(rows), **{f"x{i}": np.arange(rows) / 3 for i in range(5)}}
    ).to_csv(path, index=False)
    with memory_room("24MB"):
        frame = hr.scan_csv(path)
        wanted = frame[frame.row % 3 > 0]
        seen = np.zeros(rows, dtype=int)
        for batch in wanted.iter_batches(4096, shuffle=True, seed=1):
            row = batch.row.to_numpy()
            seen[row] += 1
            np.testing.assert_array_equal(batch.x4.to_numpy(), row / 3)
        assert (seen == (np.arange(rows) % 3 > 0)).all()
        in_order = [batch.row.to_numpy() for batch in frame.iter_batches(4096)]
    assert (np.concatenate(in_order) == np.arange(rows)).all()


def test_labels_stay_with_their_rows() -> None:
    frame = hr.DataFrame({"x": [1, 2, 3]}, index=["a", "b", "c"])
    found = {}
    for batch in frame.iter_batches(2, shuffle=True, seed=0):
        found |= dict(zip(batch.index.to_list(), batch.x.to_list(), strict=True))
    assert found == {"a": 1, "b": 2, "c": 3}


def test_any_number_of_threads_gives_the_same_order() -> None:
    frame = hr.DataFrame({"row": np.arange(300_000)})
    found = []
    for threads in (1, 2, 4):
        with hr.threads(threads):
            found.append(rows_in(frame.iter_batches(99_999, shuffle=True, seed=2)))
    assert found[0] == found[1] == found[2]


def test_wrong_words_are_refused_at_the_call() -> None:
    frame = hr.DataFrame({"row": [1, 2]})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"rows": 0}, "rows=0"),
        ({"rows": 1, "rank": 2, "world": 2}, "rank=2"),
        ({"rows": 1, "world": 0}, "world=0"),
        ({"rows": 1, "seed": 3}, "seed=3"),
        ({"rows": 1, "shuffle": True, "world": 2}, "seed=None"),
    ]
    for words, told in wrong:
        with pytest.raises(hr.InvalidArgumentError, match=told):
            frame.iter_batches(**words)
    with pytest.raises((TypeError, hr.Error)):
        frame.iter_batches("2")  # type: ignore[arg-type]
    assert rows_in(frame.iter_batches(2)) == [1, 2]
