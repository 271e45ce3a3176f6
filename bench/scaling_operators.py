# SPDX-License-Identifier: Apache-2.0
"""The operators of `./dev bench cores`, as a pandas user writes them, and their inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from measure import Bench, shared

import headrace as hr

MOST_SAMPLES = 20_000_000
TAPS = 4096


class Operator(NamedTuple):
    """One call, as a pandas user writes it."""

    work: Callable[[], Any]
    rows: int
    #: Bytes of the inputs, which it must read at least once: of the first step, the second, ...
    read: tuple[int, ...]
    #: The same work as steps of a plan, if `work` has none.
    planned: Callable[[], Any] | None = None


# ---- the inputs ----------------------------------------------------------------------------------
COLUMNS: dict[str, Callable[[Any, int], Any]] = {
    "few": lambda random, rows: random.integers(0, 100, rows),
    "thousand": lambda random, rows: random.integers(0, 1000, rows),
    "third": lambda random, rows: random.integers(0, max(rows // 3, 1), rows),
    "tenth": lambda random, rows: random.integers(0, max(rows // 10, 1), rows),
    "v": lambda random, rows: random.random(rows),
    "w": lambda random, rows: random.standard_normal(rows),
}


def column(name: str, rows: int) -> Any:
    """A column of random values, which nothing changes."""
    made = COLUMNS[name](np.random.default_rng(list(COLUMNS).index(name)), rows)
    made.setflags(write=False)
    return made


def frame_of(rows: int, *names: str) -> hr.DataFrame:
    """Columns of 8 bytes a row."""
    frame = hr.DataFrame({name: column(name, rows) for name in names})
    hr.eval(frame)
    return frame


def evaluated(value: Any) -> Any:
    """Run it."""
    hr.eval(value)
    return value


# ---- the operators -------------------------------------------------------------------------------
def filtered_sum(bench: Bench, rows: int) -> Operator:
    """Half of the rows."""
    frame = frame_of(rows, "v", "w")
    return Operator(lambda: frame[frame.v > 0.5].w.sum().item(), rows, (8 * rows,) * 2)


def group_sum(key: str) -> Callable[[Bench, int], Operator]:
    """Sum by one key, in order of the key."""

    def make(bench: Bench, rows: int) -> Operator:
        frame = frame_of(rows, key, "v")
        return Operator(lambda: evaluated(frame.groupby(key).v.sum()), rows, (16 * rows,))

    return make


def group_median(bench: Bench, rows: int) -> Operator:
    """Each group has a hundredth of the rows."""
    frame = frame_of(rows, "few", "v")
    return Operator(lambda: evaluated(frame.groupby("few").v.median()), rows, (16 * rows,))


def join(key: str) -> Callable[[Bench, int], Operator]:
    """Every row on the left matches one on the right."""

    def make(bench: Bench, rows: int) -> Operator:
        count = 1000 if key == "thousand" else max(rows // 3, 1)
        left = frame_of(rows, key, "v")
        keys = np.random.default_rng(11).permutation(count)
        keys.setflags(write=False)
        right = evaluated(hr.DataFrame({key: keys, "x": column("w", count)}))
        return Operator(lambda: evaluated(left.merge(right, on=key)), rows, (16 * (rows + count),))

    return make


def sort(bench: Bench, rows: int) -> Operator:
    """The first key has many equal values."""
    frame = frame_of(rows, "few", "v")
    return Operator(lambda: evaluated(frame.sort_values(["few", "v"])), rows, (16 * rows,))


def distinct(bench: Bench, rows: int) -> Operator:
    """Each value occurs about ten times."""
    frame = frame_of(rows, "tenth")
    return Operator(lambda: frame.tenth.nunique().item(), rows, (8 * rows,))


def running_sum(bench: Bench, rows: int) -> Operator:
    """One column."""
    frame = frame_of(rows, "w")
    return Operator(lambda: evaluated(frame.w.cumsum()), rows, (8 * rows,))


def sin_cos(bench: Bench, rows: int) -> Operator:
    """One pass with much arithmetic."""
    x = shared(column("w", rows))
    return Operator(lambda: evaluated(np.sin(x) ** 2 + np.cos(x) ** 2), rows, (8 * rows,))


def contains(bench: Bench, rows: int) -> Operator:
    """Strings of 13 digits at most."""
    numbers = np.random.default_rng(12).integers(0, 1 << 40, rows)
    strings = pl.DataFrame({"s": pl.Series(numbers).cast(pl.String)}).rechunk()
    sizes = strings["s"].str.len_bytes()
    read = 16 * rows + int(sizes.filter(sizes > 12).sum())  # shorter ones are in the 16 bytes
    frame = evaluated(hr.from_arrow(strings.to_arrow(compat_level=pl.CompatLevel.newest())))
    return Operator(lambda: frame.s.str.contains("421", regex=False).sum().item(), rows, (read,))


def csv(bench: Bench, rows: int) -> Operator:
    """Integers, floats and strings, a tenth of the rows; `read_csv` runs outside of plans."""
    rows = max(rows // 10, 1)

    def write(path: Path) -> None:
        frame = pl.DataFrame({name: column(name, rows) for name in COLUMNS})
        words = pl.format("word {}", "thousand"), pl.format("id{}", pl.col("tenth") * 1_000_003)
        frame = frame.with_columns(words[0].alias("word"), words[1].alias("id"))
        frame.write_csv(path, float_precision=6)

    path = bench.file(f"cores-{rows}.csv", write)
    return Operator(
        lambda: hr.read_csv(path),
        rows,
        (path.stat().st_size,),
        lambda: evaluated(hr.scan_csv(path)),
    )


def convolve(bench: Bench, rows: int) -> Operator:
    """Many taps, as long as the signal allows."""
    rows = min(rows, MOST_SAMPLES)
    signal, taps = shared(column("w", rows)), shared(np.hanning(min(TAPS, rows)))
    return Operator(lambda: evaluated(hr.signal.fft_convolve(signal, taps)), rows, (8 * rows,))


OPERATORS: dict[str, Callable[[Bench, int], Operator]] = {
    "filter and sum": filtered_sum,
    "group-by sum, 100 groups": group_sum("few"),
    "group-by sum, rows/10 groups": group_sum("tenth"),
    "group-by median, 100 groups": group_median,
    "join with 1,000 rows": join("thousand"),
    "join with rows/3 rows": join("third"),
    "sort by two keys": sort,
    "count of distinct": distinct,
    "cumulative sum": running_sum,
    "sin**2 + cos**2": sin_cos,
    "string contains": contains,
    "read_csv": csv,
    "fft_convolve": convolve,
}
