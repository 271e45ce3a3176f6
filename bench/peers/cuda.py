# SPDX-License-Identifier: Apache-2.0
"""The operators of the ECG job on an NVIDIA GPU compared with CuPy and hand-written kernels."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("cuda: CuPy is required for the comparison; install cupy-cuda13x")
import cudf_groups
import cudf_joins
import cudf_reader
import cudf_rows
import cupy_job
import device_blocks
import measure
import numpy as np
import pyarrow as pa
from cupyx.scipy.signal import fftconvolve, oaconvolve
from headrace.demo import job

import headrace as hr
from headrace import _core

ROWS = 20_000_000
LONG = 100_000_000
WINDOW = 129
WIDTH = 187
RATE = 1e6 / 3600


def ours_to_host(value: Any) -> Any:
    """Our answer as a NumPy array."""
    return np.asarray(value)


def theirs_to_host(value: Any) -> Any:
    """A CuPy answer as a NumPy array."""
    return cp.asnumpy(value)


def equal(ours: Any, theirs: Any) -> str:
    np.testing.assert_array_equal(ours_to_host(ours), theirs_to_host(theirs))
    return "equal"


def near(relative: float) -> Any:
    def same(ours: Any, theirs: Any) -> str:
        return measure.close_to(relative)(ours_to_host(ours), theirs_to_host(theirs))

    return same


def share_of(relative: float) -> Any:
    """Compare two counts that differ by rounding of the libraries."""

    def same(ours: Any, theirs: Any) -> str:
        a, b = int(ours_to_host(ours)), int(theirs_to_host(theirs))
        assert abs(a - b) <= relative * max(a, b), f"{a} and {b}"
        return f"{a} and {b}"

    return same


def done(value: Any) -> Any:
    """Run ours to completion."""
    hr.eval(value)
    _core.synchronize_device()
    return value


def there(work: Any) -> Any:
    """Run theirs to completion."""
    value = work()
    cp.cuda.Stream.null.synchronize()
    return value


def copy_bandwidth() -> float:
    """Measure bytes per second read and written by a copy on the device."""
    whole = cp.zeros(2**28)
    copied = cp.empty_like(whole)

    def copy() -> None:
        there(lambda: cp.copyto(copied, whole))

    return 2 * whole.nbytes / min(measure.time_of(copy, 5)[0] for _ in range(5))


def taken(x: Any) -> Any:
    """CuPy values as ours: frozen memory, so that chains stay lazy."""
    return done(hr.asarray(x) * x.dtype.type(1))


def beats() -> np.ndarray[Any, Any]:
    """Make a signal of beats on noise, float32."""
    i = np.arange(ROWS)
    noise = np.random.default_rng(1).random(ROWS, dtype=np.float32)
    return (80 * np.exp(-(((i % 211) / 9 - 5) ** 2)) + noise).astype(np.float32)


def our_job(ecg: Any) -> Any:
    """Run steps 3 to 6 of the job after the reader: curve, histogram and windows."""
    with hr.device("cuda"):
        plan = job.plan(ecg, RATE)
        curve = hr.plot.envelope(ecg, width=1000)
        hr.eval(plan.counts, plan.beats, plan.positions, *curve)
    _core.synchronize_device()
    return plan.counts.sum(), plan.beats, curve[1]


def same_job(ours: Any, theirs: Any) -> str:
    """Compare two jobs: rounding may add or remove very few positions."""
    counts = share_of(1e-4)(ours[0], theirs[0])
    near(1e-6)(ours[2], theirs[2])  # cuDF does not round each number to the nearest float
    a, b = (float((each * each).mean().item()) for each in (ours[1], theirs[1]))
    assert abs(a - b) < 1e-3, f"{a} and {b}"
    return counts


def from_text(bench: measure.Bench, numbers: np.ndarray[Any, Any]) -> None:
    """Measure work that starts from a file in the page cache, compared with cuDF if installed."""
    rival = measure.Rival
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ecg.csv"
        text = {"float_format": "%.18e", "durable": False}
        hr.DataFrame({"ecg": hr.asarray(numbers)}).to_csv(path, **text)
        size = path.stat().st_size

        def read(dtype: str) -> Any:
            with hr.device("cuda"):
                return done(hr.asarray(hr.read_csv(path, dtypes=dtype)["ecg"]))

        def whole_job() -> Any:
            return our_job(read("float32"))

        block = np.frombuffer(cp.cuda.alloc_pinned_memory(2**24), np.uint8, 2**24)
        there_too = cp.empty(2**24, np.uint8)

        def pass_through() -> None:
            """Copy as many bytes as the text from pinned memory: the link alone."""
            for begin in range(0, size, block.size):
                there_too[: size - begin].set(block[: size - begin])

        link = min(measure.time_of(lambda: there(pass_through), 1)[0] for _ in range(9))
        bench.value("the text over the link, pinned", "the device", link * 1e3, "ms")
        if cudf_reader.missing:
            rivals, jobs = [], []
            bench.left_out("CSV", "cudf", cudf_reader.missing)
        else:
            cudf_reader.use_pool(2**34)
            rivals = [rival("cudf", lambda: there(lambda: cudf_reader.read(path, "float64")), 2.5)]

            def with_cudf(deviation: Any) -> Any:
                return cupy_job.run(cudf_reader.read(path, "float32"), RATE, deviation)

            jobs = [
                rival("cudf, cupy and kernels by hand", lambda: with_cudf(cp.std), 2.5),
                rival(
                    "the same, quick deviation", lambda: with_cudf(cupy_job.short_deviation), 2.5
                ),
            ]
        bench.step(
            f"CSV of {size / 1e6:.0f} MB in the page cache to a column there",
            lambda: read("float64"),
            rivals,
            near(1e-14),
            moved=size,
            rows=ROWS,
        )
        hr.DataFrame({"ecg": hr.asarray(beats())}).to_csv(path, **text)
        bench.step("steps 1 and 3 to 6, from the text on", whole_job, jobs, same_job, rows=ROWS)


def order(bench: measure.Bench, x: Any, h: Any) -> None:
    """Measure sorts, take and cumulative sums of 64-bit numbers."""
    rival = measure.Rival
    k = cp.random.default_rng(8).integers(-(2**62), 2**62, ROWS)
    ours = taken(k)
    order = cp.argsort(x)
    rows, some, whole = taken(order), h.to_series(), ours.to_series()
    for step, work, theirs, same, moved in (
        ("sort i64", lambda: hr.sort(ours), lambda: cp.sort(k), equal, 16),
        ("argsort f64", lambda: hr.argsort(h), lambda: cp.argsort(x), equal, 16),
        ("rows at random positions f64", lambda: h[rows], lambda: x[order], equal, 24),
        ("running sum i64", lambda: whole.cumsum(), lambda: cp.cumsum(k), equal, 16),
        ("running sum f64", lambda: some.cumsum(), lambda: cp.cumsum(x), near(1e-9), 16),
    ):
        bench.step(
            step,
            lambda work=work: done(work()),
            [rival("cupy", lambda theirs=theirs: there(theirs))],
            same,
            moved=moved * ROWS,
            rows=ROWS,
        )


def same_rows(ours: Any, theirs: Any) -> str:
    """Compare the rows of two joins, whatever their order."""
    columns = [cp.asarray(ours[name]) for name in ours.columns]
    for a, b in zip(columns, theirs, strict=True):
        assert len(a) == len(b), f"{len(a)} and {len(b)} rows"
    mine, yours = (cp.lexsort(cp.stack([c.view("i8") for c in x])) for x in (columns, theirs))
    for a, b in zip(columns, theirs, strict=True):
        cp.testing.assert_array_equal(a[mine], b[yours])
    return f"{len(mine)} equal rows"


def joins(bench: measure.Bench) -> None:
    """Measure joins of 1e7 with 1e7 rows, an int64 key and a float64 of each side."""
    if cudf_reader.missing:
        bench.left_out("joins", "cudf", cudf_reader.missing)
        return
    cudf_reader.use_pool(2**34)
    random = cp.random.default_rng(9)
    rows = ROWS // 2

    def side(keys: Any) -> list[Any]:
        return [keys, random.standard_normal(rows)]

    def frame(side: list[Any], name: str) -> Any:
        return done(hr.DataFrame({"k": taken(side[0]), name: taken(side[1])}))

    unique = [side(cp.argsort(random.standard_normal(rows))) for _ in range(2)]
    thrice = [side(random.integers(0, rows // 3, rows)) for _ in range(2)]
    for step, how, (left, right), least in (
        ("inner join 1e7 x 1e7", "inner", unique, 2),
        ("left join 1e7 x 1e7", "left", unique, 2),
        ("semi join 1e7 x 1e7", "semi", unique, 3),
        ("inner join, three matches per row", "inner", thrice, 2),
    ):
        a, b = frame(left, "x"), frame(right, "y")
        bench.step(
            step,
            lambda a=a, b=b, how=how: done(a.merge(b, on="k", how=how)),
            [
                measure.Rival(
                    "cudf",
                    lambda how=how, sides=(left, right): there(
                        lambda: cudf_joins.join(how, *sides)
                    ),
                    least,
                )
            ],
            same_rows,
            moved=48 * rows,
            rows=rows,
        )


def columns_to_host(value: Any) -> list[Any]:
    """The columns of a frame of ours, or arrays of CuPy, as NumPy arrays."""
    if isinstance(value, hr.DataFrame):
        return [np.asarray(value[name]) for name in value.columns]
    return [cp.asnumpy(each) for each in value]


def equal_columns(ours: Any, theirs: Any) -> str:
    for a, b in zip(columns_to_host(ours), columns_to_host(theirs), strict=True):
        np.testing.assert_array_equal(a, b)
    return "equal"


def frame_there(**columns: Any) -> hr.DataFrame:
    """A frame of ours over values of CuPy arrays."""
    return done(hr.DataFrame({name: taken(each) for name, each in columns.items()}))


def rows_of_frames(bench: measure.Bench) -> None:
    """Measure sorts, distinct rows, largest rows and filters of frames, compared with cuDF."""
    rival = measure.Rival
    if cudf_reader.missing:
        bench.left_out("rows of frames", "cudf", cudf_reader.missing)
        return
    cudf_reader.use_pool(2**35)
    draw = cp.random.default_rng(9)
    for rows, size in ((10_000_000, "1e7"), (LONG, "1e8")):
        key = draw.integers(-(2**62), 2**62, rows)
        x = draw.random(rows)
        ours, theirs = frame_there(key=key, x=x), cudf_rows.table_of(key, x)
        by = cudf_rows.table_of(key)
        bench.step(
            f"sort i64 + f64 {size}",
            lambda ours=ours: done(ours.sort_values("key")),
            [
                rival(
                    "cudf",
                    lambda theirs=theirs, by=by: there(
                        lambda: cudf_rows.arrays_of(
                            cudf_rows.sorted_by(theirs, by), "int64", "float64"
                        )
                    ),
                    1.5,
                )
            ],
            equal_columns,
            moved=32 * rows,
            rows=rows,
        )
        bench.step(
            f"largest 100 of f64 {size}",
            lambda ours=ours: done(ours[["x"]].nlargest(100, "x")),
            [
                rival(
                    "cudf",
                    lambda x=x: there(
                        lambda: cudf_rows.arrays_of(
                            cudf_rows.largest(cudf_rows.table_of(x), 100), "float64"
                        )
                    ),
                    3,
                )
            ],
            equal_columns,
            moved=8 * rows,
            rows=rows,
        )
        for groups, name in ((100, "100"), (rows, "63 %")):
            few = draw.integers(0, groups, rows)
            own, other = frame_there(key=few), cudf_rows.table_of(few)
            bench.step(
                f"distinct {name} of i64 {size}",
                lambda own=own: done(own.drop_duplicates("key")),
                [
                    rival(
                        "cudf",
                        lambda other=other: there(
                            lambda: cudf_rows.arrays_of(cudf_rows.distinct(other), "int64")
                        ),
                        3,
                    )
                ],
                equal_columns,
                moved=8 * rows,
                rows=rows,
            )
            del few, own, other
        narrow = key.astype("int32")
        mask = x < 0.5
        four = frame_there(key=key, x=x, y=x + 1, z=narrow)
        wide, gate = cudf_rows.table_of(key, x, x + 1, narrow), cudf_rows.table_of(mask)
        picked = done(four["x"] < 0.5)
        bench.step(
            f"filter 50 %, 4 columns {size}",
            lambda four=four, picked=picked: done(four[picked]),
            [
                rival(
                    "cudf",
                    lambda wide=wide, gate=gate: there(
                        lambda: cudf_rows.arrays_of(
                            cudf_rows.filtered(wide, gate), "int64", "float64", "float64", "int32"
                        )
                    ),
                    2,
                )
            ],
            equal_columns,
            moved=42 * rows,
            rows=rows,
        )
        del ours, theirs, by, four, wide, gate, picked, narrow, mask, key, x


def same_groups(ours: Any, theirs: Any) -> str:
    """Compare sums of groups, which cuDF has in any order."""
    keys, sums = (cp.asnumpy(x) for x in theirs)
    turn = np.argsort(keys)
    np.testing.assert_array_equal(np.asarray(ours.reset_index()["k"]), keys[turn])
    return measure.close_to(1e-9)(np.asarray(ours["s"]), sums[turn])


def groups(bench: measure.Bench) -> None:
    """Measure sums of 1e8 rows by 100 keys, one of which may have most rows, and by 63e6."""
    random = cp.random.default_rng(9)
    v = random.standard_normal(LONG)
    for step, most, heavy, least in (
        ("sum by 100 keys", 100, 0.0, 12),
        ("sum by 100 keys, one in 90 %", 100, 0.9, 5),
        ("sum by 63e6 keys", LONG, 0.0, 5),
    ):
        k = random.integers(0, most, LONG)
        if heavy > 0:
            k = cp.where(random.random(LONG) < heavy, 7, k)
        frame = hr.DataFrame({"k": hr.asarray(k), "v": hr.asarray(v)})
        rivals = []
        if cudf_reader.missing:
            bench.left_out(step, "cudf", cudf_reader.missing)
        else:
            theirs = functools.partial(there, functools.partial(cudf_groups.sums, k, v))
            rivals = [measure.Rival("cudf", theirs, least)]
        bench.step(
            step,
            lambda frame=frame: done(frame.groupby("k").agg(s=("v", "sum"))),
            rivals,
            same_groups,
            moved=16 * LONG,
            rows=LONG,
        )
        del frame, k


def same_groups_of_strings(ours: Any, theirs: Any) -> str:
    """Compare sums of groups by strings, in our order of first rows."""
    sums = cp.asnumpy(cudf_groups.array_of(theirs[1], np.float64))
    mine = ours.reset_index().to("cpu")
    own, other = (
        np.array(k.to_pylist(), "S10") for k in (mine["k"].to_arrow(), theirs[0].to_arrow())
    )
    order, turn = np.argsort(own), np.argsort(other)
    np.testing.assert_array_equal(own[order], other[turn])
    return measure.close_to(1e-9)(np.asarray(mine["s"])[order], sums[turn])


def groups_of_strings(bench: measure.Bench) -> None:
    """Measure sums of 1e7 rows by 1e4 and by 5e6 strings of 10 bytes."""
    rows = LONG // 10
    random = np.random.default_rng(9)
    v = random.standard_normal(rows)
    for most, size in ((10_000, "1e4"), (5_000_000, "5e6")):
        step = f"sum by {size} strings 1e7"
        digits = np.char.zfill(random.integers(0, most, rows).astype("S8"), 10)
        ends = pa.py_buffer(np.arange(0, 10 * rows + 1, 10, dtype=np.int32))
        k = pa.Array.from_buffers(pa.string(), rows, [None, ends, pa.py_buffer(digits.tobytes())])
        frame = done(hr.from_arrow(pa.table({"k": k, "v": v})).to("cuda"))
        rivals = []
        if cudf_reader.missing:
            bench.left_out(step, "cudf", cudf_reader.missing)
        else:
            columns = cudf_groups.columns_of(k, cp.asarray(v))
            theirs = functools.partial(there, lambda of=columns: cudf_groups.sums_of_columns(*of))
            rivals = [measure.Rival("cudf", theirs, 3)]
        bench.step(
            step,
            lambda frame=frame: done(frame.groupby("k", sort=False).agg(s=("v", "sum"))),
            rivals,
            same_groups_of_strings,
            moved=18 * rows,
            rows=rows,
        )
        del frame


def blocks(bench: measure.Bench) -> None:
    """Measure allocating and freeing 1 MiB: one at a time, and 64 at once."""
    size, what = 1 << 20, "allocate + free 1 MiB"
    with tempfile.TemporaryDirectory() as folder:
        program, missing = device_blocks.build(Path(folder))
        if missing:
            bench.left_out(what, "cudaMalloc, rmm", missing)
        for held in (1, 64):
            step = what if held == 1 else f"{what}, {held} at once"
            rounds = 10_000 // held

            def ours(whole: bool, rounds: int = rounds, held: int = held) -> float:
                """The minimum of nine runs, in nanoseconds."""
                work = functools.partial(_core.device_allocate_many, rounds, size, held, whole)
                return 1e9 * min(measure.time_of(work, 1)[0] for _ in range(9)) / rounds / held

            block = ours(False)
            bench.value(step, measure.OURS, block, "ns")
            bench.value(f"{step}, as a buffer", measure.OURS, ours(True), "ns")
            if program is None:
                continue
            rivals = device_blocks.nanoseconds(program, size, held)
            for engine, took in rivals.items():
                bench.value(step, engine, took, "ns")
            for engine, least in (("cudaMalloc", 100), ("rmm", 1)):
                ratio = rivals[engine] / block
                bench.value(f"{step}, {engine}'s / ours", measure.OURS, ratio, "x", least=least)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return
    bench = measure.Bench(
        "cuda",
        ["cupy-cuda13x", "numpy", *([] if cudf_reader.missing else cudf_reader.PACKAGES)],
        options.runs,
        options.output,
        options.only,
    )
    print(_core.cuda_device_name(0))
    bench.bandwidth = copy_bandwidth()
    bench.value("copy on the device", measure.OURS, bench.bandwidth / 1e12, "TB/s")

    x = cp.random.default_rng(3).standard_normal(LONG)
    h = taken(x)

    def chain() -> Any:
        return done((np.square(np.sin(h)) + np.square(np.cos(h)) == 1).sum())

    def cupy_chain() -> Any:
        return there(lambda: (cp.square(cp.sin(x)) + cp.square(cp.cos(x)) == 1).sum())

    os.environ["HEADRACE_CACHE"] = str(bench.folder / "cubin")  # empty
    first = measure.time_of(chain, 1)[0]
    bench.value("first run of a chain, no kernel cached", measure.OURS, first, "s")
    rival = measure.Rival
    bench.step(
        "sin2+cos2==1 counted 1e8",
        chain,
        [rival("cupy", cupy_chain, 4)],
        share_of(0.05),
        moved=8 * LONG,
        rows=LONG,
        more_runs=3,
    )
    bench.step(
        "sum 1e8",
        lambda: done(h.sum()),
        [rival("cupy", lambda: there(x.sum))],
        near(1e-9),
        moved=8 * LONG,
        rows=LONG,
    )
    bench.step(
        "2x+1 1e8",
        lambda: done(h * 2 + 1),
        [rival("cupy", lambda: there(lambda: x * 2 + 1))],
        equal,
        moved=16 * LONG,
        rows=LONG,
    )
    del h, x

    x = cp.random.default_rng(4).standard_normal(ROWS)
    h = taken(x)
    bench.step(
        "diff f64",
        lambda: done(hr.signal.diff(h)),
        [rival("cupy", lambda: there(lambda: cp.diff(x)))],
        equal,
        moved=16 * ROWS,
        rows=ROWS,
    )
    order(bench, x, h)
    joins(bench)
    rows_of_frames(bench)
    groups(bench)
    groups_of_strings(bench)
    bench.step(
        "histogram f64, 100 bins of a range",
        lambda: done(hr.signal.histogram(h, 100, range=(-4.0, 4.0))[0]),
        [rival("cupy", lambda: there(lambda: cp.histogram(x, 100, range=(-4.0, 4.0))[0]), 2)],
        equal,
        moved=8 * ROWS,
        rows=ROWS,
    )
    bench.step(
        "histogram f64, 100 bins",
        lambda: done(hr.signal.histogram(h, 100)[0]),
        [rival("cupy", lambda: there(lambda: cp.histogram(x, 100)[0]), 2)],
        near(1e-4),
        moved=16 * ROWS,
        rows=ROWS,
    )
    del h, x

    host = beats()
    x = cp.asarray(host)
    h = taken(x)
    gate = cp.empty(ROWS, dtype=bool)
    suppress, cut = cupy_job.KERNELS.get_function("suppress"), cupy_job.KERNELS.get_function("cut")

    def plain_peaks() -> Any:
        arguments = (x, np.int64(ROWS), np.int32(WINDOW // 2), np.float32(40), gate)
        there(lambda: suppress(((ROWS + 255) // 256,), (256,), arguments))
        return gate

    bench.step(
        "non-max suppression f32",
        lambda: done(hr.signal.non_max_suppression(h, WINDOW, 40.0)),
        [rival("kernel by hand", plain_peaks, 2)],
        equal,
        moved=5 * ROWS,
        rows=ROWS,
    )
    ours = done(hr.signal.non_max_suppression(h, WINDOW, 40.0))
    theirs = plain_peaks()
    bench.step(
        "index of true",
        lambda: done(hr.signal.nonzero(ours)),
        [rival("cupy", lambda: there(lambda: cp.flatnonzero(theirs)), 2)],
        equal,
        moved=ROWS,
        rows=ROWS,
    )
    taps = np.asarray(hr.signal.ricker(4096, 6.0, "float32"))
    there_taps, our_taps = cp.asarray(taps), done(hr.asarray(taps).to("cuda"))
    few = done(hr.asarray(taps[2048 - 37 : 2048 + 37]).to("cuda"))
    bench.step(
        "convolution f32, 74 taps",
        lambda: done(hr.signal.fft_convolve(h, few)),
        [],
        near(1e-5),
        moved=8 * ROWS,
        rows=ROWS,
    )
    bench.step(
        "Ricker convolution f32, 4096 taps",
        lambda: done(hr.signal.fft_convolve(h, our_taps)),
        [
            rival("cupy fftconvolve", lambda: there(lambda: fftconvolve(x, there_taps, "same"))),
            rival("cupy oaconvolve", lambda: there(lambda: oaconvolve(x, there_taps, "same"))),
        ],
        near(1e-5),
        moved=8 * ROWS,
        rows=ROWS,
    )
    for dtype, bar, bound in (("float32", 4, 1e-4), ("float64", 3, 1e-11)):
        all_count = cp.random.default_rng(6).standard_normal(4096).astype(dtype)
        many, wide = done(hr.asarray(cp.asnumpy(all_count)).to("cuda")), x.astype(dtype)
        our_wide = taken(wide)
        bench.step(
            f"convolution {dtype}, 4096 taps that count",
            lambda ours=our_wide, taps=many: done(hr.signal.fft_convolve(ours, taps)),
            [
                rival(
                    "cupy fftconvolve",
                    lambda x=wide, h=all_count: there(lambda: fftconvolve(x, h, "same")),
                    bar,
                ),
                rival(
                    "cupy oaconvolve",
                    lambda x=wide, h=all_count: there(lambda: oaconvolve(x, h, "same")),
                    bar,
                ),
            ],
            near(bound),
            moved=2 * wide.itemsize * ROWS,
            rows=ROWS,
        )
        del wide, our_wide
    bench.step(
        "envelope f32, 1000 pixels",
        lambda: done(hr.plot.envelope(h, width=1000)[1]),
        [
            rival(
                "cupy",
                lambda: there(lambda: (x.reshape(1000, -1).min(1), x.reshape(1000, -1).max(1))[1]),
            )
        ],
        equal,
        moved=4 * ROWS,
        rows=ROWS,
    )
    bench.step(
        "steps 1 and 3 to 6, from the column on",
        lambda: our_job(h),
        [
            rival("cupy and kernels by hand", lambda: cupy_job.run(x, RATE, cp.std), 2.5),
            rival(
                "the same, deviation by two means",
                lambda: cupy_job.run(x, RATE, cupy_job.short_deviation),
                2.5,
            ),
        ],
        same_job,
        rows=ROWS,
    )
    begins = cp.flatnonzero(theirs)[2:-2] - 90
    b = taken(begins)
    out = cp.empty((begins.size, WIDTH), np.float32)

    def plain_windows() -> Any:
        arguments = (x, begins, np.int64(begins.size), np.int32(WIDTH), out)
        there(lambda: cut(((begins.size + 127) // 128,), (128,), arguments))
        return out

    def cupy_windows() -> Any:
        rows = x[begins[:, None] + cp.arange(WIDTH)]
        return (rows - rows.mean(1, keepdims=True)) / rows.std(1, keepdims=True)

    bench.step(
        "windows f32, z-scored",
        lambda: done(hr.signal.segments(h, b, width=WIDTH, normalize="zscore")),
        [rival("kernel by hand", plain_windows, 2), rival("cupy", lambda: there(cupy_windows), 2)],
        near(1e-5),
        moved=8 * WIDTH * int(begins.size),
        rows=int(begins.size),
    )

    # Directions with distinct variances.
    rows = cp.random.default_rng(7).standard_normal((int(begins.size), WIDTH))
    rows = (rows * 0.97 ** cp.arange(WIDTH)).astype(np.float32)
    our_rows = taken(rows)
    bench.step(
        "PCA of the windows, 2 components, and coordinates",
        lambda: done(hr.learn.PCA(2).fit_transform(our_rows)),
        [rival("cupy", lambda: there(lambda: cupy_job.pca(rows)))],
        near(1e-4),
        moved=8 * WIDTH * int(begins.size),
        rows=int(begins.size),
    )

    blocks(bench)

    host = np.random.default_rng(5).random(ROWS)
    source = measure.shared(host)

    def to_there() -> Any:
        return done(source.to("cuda"))

    moved = to_there()
    bench.step(
        "host to device 160 MB",
        to_there,
        [rival("cupy (pageable)", lambda: there(lambda: cp.asarray(host)))],
        equal,
        moved=8 * ROWS,
        rows=ROWS,
    )
    bench.step(
        "device to host 160 MB",
        lambda: moved.to_numpy(),
        [rival("cupy (pageable)", lambda: cp.asnumpy(cp.asarray(moved)))],
        equal,
        moved=8 * ROWS,
        rows=ROWS,
    )
    from_text(bench, host)
    assert hr.fallbacks() == (), hr.fallbacks()
    bench.check("fallbacks", lambda: repr(hr.fallbacks()))
    if bench.wrong:
        raise SystemExit("\n".join(bench.wrong))


if __name__ == "__main__":
    main()
