# SPDX-License-Identifier: Apache-2.0
"""How random programs run: with any threads, rows of a morsel, and room in memory, and after they
were interrupted."""

from __future__ import annotations

import collections
import contextlib
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TypeVar

import headrace as hr
from headrace import _core

MORSELS = (64, 128, 192, 1024, 4096, 2**17)
LEAST_SPILLED = 8_500  # rows; columns of fewer stay in memory
T = TypeVar("T")


@contextlib.contextmanager
def way(threads: int, morsel: int, room: int | None) -> Iterator[None]:
    """`room`: bytes beside those that are in use; None: no limit."""
    before = _core.morsel_rows()
    limit = hr.memory.stats().used_bytes + room if room else None  # joins then make columns late
    with hr.threads(threads), hr.memory.limit(limit):
        _core.set_morsel_rows(morsel)
        try:
            yield
        finally:
            _core.set_morsel_rows(before)


def interrupt(program: Callable[[], object], seconds: float) -> None:
    """Run a program that a signal may interrupt, as Ctrl-C would."""

    def stop(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_name in ("gc_callback", "__del__"):  # what they raise is lost
                signal.setitimer(signal.ITIMER_REAL, 1e-4)
                return
            frame = frame.f_back
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            program()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as error:
        if isinstance(error, Exception):
            raise
        # It was interrupted; other libraries turn that into an exception of their own.
    finally:
        signal.signal(signal.SIGALRM, before)


def run_in_two_ways(program: Callable[[], T], rng: random.Random, rows: int) -> tuple[T, T]:
    """What a program gives on one thread, and on several in little room, where every fourth was
    interrupted before. Morsels are the same, since the last bits of float sums follow them. A limit
    too low for any way grows."""
    morsel = rng.choice(MORSELS if rows < LEAST_SPILLED else MORSELS[3:])
    threads, room = rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3]) * max(1 << 18, 16 * rows)
    interrupt_after = rng.uniform(1e-4, 1e-2) if rng.random() < 0.25 else None
    with way(1, morsel, None):
        first = program()
    while True:
        try:
            with way(threads, morsel, room):
                if interrupt_after is not None:
                    interrupt(program, interrupt_after)
                return first, program()
        except hr.OutOfMemoryError:
            room *= 2


def run_rounds(check_round: Callable[[int, int | None], dict[str, int]], operators: int) -> None:
    """Run so many rounds from a seed on (``argv``), every 500th with rows that spill, and tell what
    differs."""
    rounds, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start, counts = time.perf_counter(), collections.Counter[str]()
    for at in range(seed, seed + rounds):
        try:
            counts.update(check_round(at, LEAST_SPILLED + at % 1000 if at % 500 == 499 else None))
        except Exception as error:
            counts["differences"] += 1
            print(f"round {at}: {type(error).__name__}: {error}", flush=True)
        counts["rounds"] += 1
        if counts["rounds"] % 500 == 0 or at + 1 == seed + rounds:
            took = time.perf_counter() - start
            print(f"{operators} operators, {dict(counts)}, {took:.0f} s", flush=True)
