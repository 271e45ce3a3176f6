# SPDX-License-Identifier: Apache-2.0
"""Long reads: they tell how far they are, and stop at Ctrl-C at once."""

from __future__ import annotations

import gzip
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace as hr
from headrace import _core

MEMBERS = 40  # of a compressed file, of 2 MB each


def packed(head: bytes, line: bytes) -> bytes:
    """Compress to what takes long to unpack and is made soon."""
    return gzip.compress(head) + gzip.compress(line * (2_000_000 // len(line))) * MEMBERS


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], Any]]:
    """Write a file of each kind; give what reads it."""
    folder: Path = tmp_path_factory.mktemp("long")
    row = b'{"a":1,"b":2.5,"s":"some words of text"}\n'
    (folder / "x.csv").write_bytes(b"a,b,s\n" + b"1,2.5,some words of text\n" * 1_000_000)
    (folder / "x.json").write_bytes(row * 1_000_000)
    (folder / "x.csv.gz").write_bytes(packed(b"a,b\n", b"1,2.5\n"))
    (folder / "x.json.gz").write_bytes(packed(b"", row))
    frame = hr.DataFrame({f"c{k}": np.random.default_rng(k).normal(size=500_000) for k in range(8)})
    frame.to_parquet(folder / "x.parquet", compression="gzip", row_group_size=50_000)
    frame.to_ipc(folder / "x.arrow", compression="zstd")
    return {
        "csv": lambda: hr.read_csv(folder / "x.csv"),
        "csv gzip": lambda: hr.read_csv(folder / "x.csv.gz"),
        "json": lambda: hr.read_json(folder / "x.json", lines=True),
        "json gzip": lambda: hr.read_json(folder / "x.json.gz", lines=True),
        "parquet": lambda: hr.read_parquet(folder / "x.parquet"),
        "ipc": lambda: hr.read_ipc(folder / "x.arrow"),
    }


EACH = pytest.mark.parametrize("kind", ["csv", "csv gzip", "json", "json gzip", "parquet", "ipc"])


@pytest.fixture
def shares() -> Iterator[list[float]]:
    """Take the reports of the engine."""
    found: list[float] = []
    _core.set_progress(lambda done, count: found.append(done / max(count, 1)))
    yield found
    _core.set_progress(None)


@EACH
def test_a_read_tells_how_far_it_is(
    kind: str, reads: dict[str, Callable[[], Any]], shares: list[float]
) -> None:
    with hr.threads(1):
        begin = time.perf_counter()
        reads[kind]()
        seconds = time.perf_counter() - begin
    if seconds < 0.3:
        pytest.skip("too fast here")
    assert len(shares) >= 2
    assert min(shares) >= 0.0
    assert max(shares) <= 1.0
    # A bar that goes back several times would be shown without shares.
    assert sum(b < a for a, b in itertools.pairwise(shares)) <= 2
    assert max(shares) > 0.5


@EACH
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_stops_a_read(kind: str, threads: int, reads: dict[str, Callable[[], Any]]) -> None:
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.15, interrupt)
    try:
        with hr.threads(threads), pytest.raises(KeyboardInterrupt):
            timer.start()
            for _ in range(10_000):  # until the timer rings
                reads[kind]()
        assert time.perf_counter() - sent[0] < 2.0  # 0.1 s on an idle machine
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, former)
    assert len(reads[kind]()) > 0
