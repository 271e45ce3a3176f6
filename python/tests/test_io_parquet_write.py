# SPDX-License-Identifier: Apache-2.0
"""Parquet files that all workers encode: pyarrow's bytes, faults, limits, threads."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import headrace as hr

GROUP = 1 << 20


def every_dtype(rows: int) -> hr.DataFrame:
    """Columns of all dtypes, with nulls."""
    random = np.random.default_rng(rows)
    numbers = random.integers(0, 1000, rows)
    frame = hr.DataFrame({"i": numbers, "f": random.normal(size=rows), "b": numbers % 2 == 0})
    frame["s"] = frame.i.astype("string").mask(frame.b)
    frame["c"] = (frame.i % 5).astype("string").astype("category")
    frame["t"] = (frame.i * 86_400_000_000_000).astype("datetime64[ns]")
    frame["z"] = frame.t.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    frame["u"] = frame.i.astype("uint8")
    frame["h"] = frame.f.astype("float32")
    return frame


def same_as_pyarrow(frame: hr.DataFrame, folder: Any, **options: Any) -> None:
    ours, theirs = folder / "ours.parquet", folder / "theirs.parquet"
    frame.to_parquet(ours, **options)
    pq.write_table(frame.to_arrow(), theirs, row_group_size=GROUP, **options)
    assert ours.read_bytes() == theirs.read_bytes()


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("rows", [0, 1, 65, 40_000])
def test_the_bytes_are_those_of_pyarrow(rows: int, threads: int, tmp_path: Any) -> None:
    with hr.threads(threads):
        same_as_pyarrow(every_dtype(rows), tmp_path)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rows", [GROUP, GROUP + 1])
def test_at_the_border_of_a_row_group(rows: int, threads: int, tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(rows) // 3, "b": np.arange(rows) % 3 == 0})
    with hr.threads(threads):
        same_as_pyarrow(frame, tmp_path, compression="zstd")


def test_wide_nested_and_labelled(tmp_path: Any) -> None:
    wide = {f"c{i}": np.arange(3000) * i for i in range(400)}
    same_as_pyarrow(hr.DataFrame(wide), tmp_path)
    lists = pa.array([[i, i + 1] if i % 3 else None for i in range(100_000)])
    frame = hr.from_arrow(pa.table({"i": np.arange(100_000), "l": lists, "j": np.arange(100_000)}))
    assert isinstance(frame, hr.DataFrame)
    same_as_pyarrow(frame, tmp_path)
    same_as_pyarrow(frame.set_index("i"), tmp_path)


def test_under_a_limit_a_larger_result_is_written(tmp_path: Any) -> None:
    rows = 2_500_000
    plain, limited = tmp_path / "plain.parquet", tmp_path / "limited.parquet"

    def write(path: Any) -> None:
        frame = hr.DataFrame({"k": np.arange(rows) * 7919 % rows})
        frame["a"] = frame.k * 0.5
        frame["b"] = frame.k % 100
        frame.sort_values("k").to_parquet(path)

    write(plain)
    evicted = hr.memory.spill().evicted_bytes
    with hr.memory.limit("40MB"):  # of 60 MB, and as much to sort
        write(limited)
    assert hr.memory.spill().evicted_bytes > evicted
    assert plain.read_bytes() == limited.read_bytes()
    assert hr.read_parquet(limited).k.is_monotonic_increasing


def test_an_encoder_that_fails_leaves_nothing(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(300_000), "j": np.arange(300_000)})
    path = tmp_path / "x.parquet"
    path.write_bytes(b"before")
    with pytest.raises(hr.InputError, match="to_parquet"):
        frame.to_parquet(path, compression="none such")
    real = pq.write_table

    def fails_at_the_second_column(table: Any, *args: Any, **kwargs: Any) -> None:
        if table.column_names == ["j"]:
            raise pa.ArrowInvalid("a bad column")
        real(table, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pq, "write_table", fails_at_the_second_column)
        for threads in (1, 4):
            with hr.threads(threads), pytest.raises(hr.InputError, match="a bad column"):
                frame.to_parquet(path)
    assert os.listdir(tmp_path) == ["x.parquet"]
    assert path.read_bytes() == b"before"
    same_as_pyarrow(frame, tmp_path)


def test_columns_are_encoded_at_the_same_time(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(300_000), "j": np.arange(300_000)})
    real, both = pq.write_table, threading.Barrier(2)

    def meets_the_other(table: Any, *args: Any, **kwargs: Any) -> None:
        if table.num_rows > 0:
            both.wait(timeout=60)
        real(table, *args, **kwargs)

    with hr.threads(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(pq, "write_table", meets_the_other)
        frame.to_parquet(tmp_path / "x")
    assert len(hr.read_parquet(tmp_path / "x")) == 300_000


def test_what_the_encoder_gives_must_be_a_part(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(300_000), "j": np.arange(300_000)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pq, "write_table", lambda table, file, **_: file.write(b"PAR1nonePAR1"))
        with pytest.raises(hr.InternalError, match="no Parquet file"):
            frame.to_parquet(tmp_path / "x")
    assert os.listdir(tmp_path) == []


def test_several_threads_of_python(tmp_path: Any) -> None:
    frame = hr.DataFrame({"i": np.arange(400_000), "j": np.arange(400_000) * 0.5})
    paths = [tmp_path / str(i) for i in range(4)]
    writers = [threading.Thread(target=frame.to_parquet, args=(path,)) for path in paths]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len({path.read_bytes() for path in paths}) == 1
    assert len(hr.read_parquet(paths[0])) == 400_000
