# SPDX-License-Identifier: Apache-2.0
"""Work on more than the limit: the same bits, the limit held, nothing left behind."""

import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import headrace as hr

pytestmark = pytest.mark.pool
ROWS = 3_000_000  # 24 MB in float64
MIB = 1 << 20


@pytest.fixture
def signal():
    """A readable signal with peaks, noise and flat places."""
    x = np.random.default_rng(1).standard_normal(ROWS)
    x[1_000_000:1_100_000] = 0
    x.flags.writeable = False
    return x


def used():
    gc.collect()
    hr.memory.trim()
    return hr.memory.stats().used_bytes


def spilled_by(work, limit):
    """The results of `work` under a limit over what is used before, and what was evicted."""
    before, evicted = used(), hr.memory.spill().evicted_bytes
    with hr.memory.limit(before + limit), hr.memory.stats() as stats:
        results = [np.array(each) for each in work()]
    assert stats.peak_bytes <= before + limit
    return results, hr.memory.spill().evicted_bytes - evicted


def chain(x):
    a = hr.asarray(x)
    taps = hr.signal.ricker(201, 8.0)
    response = hr.signal.fft_convolve(a, taps, "same")
    gate = hr.signal.non_max_suppression(response, 129, 1.0)
    places = hr.signal.nonzero(gate)
    gaps = hr.signal.diff(places)
    beats = hr.signal.segments(response, places, width=64, normalize="zscore")
    counts, edges = hr.signal.histogram(response, 100, (-10, 10))
    return [response, gate, places, gaps, beats, counts, edges, response.sum(), response.std()]


WORK = {
    "chain": chain,
    "long taps": lambda x: [hr.signal.fft_convolve(hr.asarray(x), hr.asarray(x[:5000]), "full")],
    "far peaks": lambda x: [hr.signal.non_max_suppression(hr.asarray(x) * 2, 10_001, 0.5)],
    "near peaks": lambda x: [hr.signal.non_max_suppression(hr.asarray(x) * 2, 3, 0.5)],
    "element-wise": lambda x: [
        np.sin((a := hr.asarray(x)) * 2 + 1),
        a > 0.5,
        np.sqrt(a * a),
    ],
    "mask": lambda x: [(b := hr.asarray(x) * 3)[b > 0], b[b < -1]],
    "take": lambda x: [(hr.asarray(x) * 3)[np.random.default_rng(2).permutation(ROWS)]],
    "several": lambda x: [hr.asarray(x) * k for k in range(1, 7)],
    "diff": lambda x: [hr.signal.diff(hr.asarray(x) * 2)],
    "frame": lambda x: [
        (f := hr.DataFrame({"a": x, "b": x * 2}, copy=False))[f.a > 0].b.to_numpy(),
        (f.a + f.b).to_numpy(),
        f.a.mean(),
    ],
}


@pytest.mark.parametrize("name", WORK)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_same_bits(name, threads, signal):
    wanted = [np.array(each) for each in WORK[name](signal)]
    with hr.threads(threads):
        got, evicted = spilled_by(lambda: WORK[name](signal), 18 * MIB)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    assert evicted > 0


def test_concat():
    n = 1_000_000
    parts = [
        hr.DataFrame({"k": np.arange(n) + n * i, "s": [f"number {i} of a few", "x"] * (n // 2)})
        for i in range(4)
    ]
    hr.eval(*[part[name] for part in parts for name in part.columns])

    def work():
        both = hr.concat(parts)
        hr.eval(both)
        return both.k, [int((both.s == f"number {j} of a few").sum()) for j in range(4)]

    wanted = [np.array(each) for each in work()]
    results, evicted = spilled_by(work, 64 * MIB)
    assert evicted > 0
    for got, want in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, want)
    assert results[1].tolist() == [n // 2] * 4


def test_csv(tmp_path, signal):
    path = tmp_path / "x.csv"
    hr.DataFrame({"a": signal, "b": np.arange(ROWS), "c": signal > 0}).to_csv(path)

    def work():
        frame = hr.read_csv(path)
        return [frame.a.to_numpy(), frame.b.to_numpy(), frame.c.to_numpy()]

    wanted = work()
    got, evicted = spilled_by(work, 24 * MIB)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
    assert evicted > 0


@pytest.mark.parametrize(
    ("columns", "size", "threads"),
    [
        (1, 13, 16),
        (10, 13, 2),
        (30, 5, 16),
        (30, 13, 2),
        (30, 13, 16),
        (30, 200, 2),
        (100, 5, 2),
        (100, 13, 16),
        (100, 200, 2),
    ],
)
def test_csv_of_text_columns(columns, size, threads, tmp_path):
    """The text of a column comes in parts, each far below what leaves memory."""
    limit = 32 * MIB
    rows = (2 if columns == 1 else 4) * limit // (columns * (16 + size * (size > 12)))
    words = [f"{i * 40503 % 2**20:05x}".ljust(size, "abcdefgh"[i % 8]) for i in range(rows)]
    path = tmp_path / "words.csv"
    with path.open("w") as file:
        file.write(",".join(f"c{c}" for c in range(columns)) + "\n")
        back = words[::-1] * 2  # row i is words i, i - 1, ...
        file.writelines(",".join(back[k : k + columns]) + "\n" for k in range(rows)[::-1])
    before = used()
    with hr.threads(threads), hr.memory.limit(before + limit), hr.memory.stats() as stats:
        frame = hr.read_csv(path)
        for c in {0, columns // 2, columns - 1}:
            assert frame[f"c{c}"].to_list() == words[rows - c :] + words[: rows - c]
        filtered = hr.scan_csv(path)
        filtered = filtered[filtered.c0 < "8"]
        assert filtered[f"c{columns - 1}"].to_list() == [
            words[i - columns + 1] for i, word in enumerate(words) if word < "8"
        ]
    assert stats.peak_bytes <= before + limit


def test_views_of_spilled_memory_keep_address_and_values(signal):
    with hr.memory.limit(used() + 40 * MIB):
        array = hr.asarray(signal) * 2
        view = array.to_numpy()
        address = view.ctypes.data
        others = [(hr.asarray(signal) * k).to_numpy() for k in range(3, 6)]
        assert hr.memory.spill().disk_bytes > 0
        assert view.ctypes.data == array.to_numpy().ctypes.data == address
        np.testing.assert_array_equal(view, signal * 2)
        for k, other in enumerate(others, 3):
            np.testing.assert_array_equal(other, signal * k)


def test_readers_see_no_change_meanwhile(signal):
    """A view is read by another thread while its memory leaves and comes back."""
    wanted = signal * 2
    wrong, stop = [], threading.Event()
    with hr.memory.limit(used() + 32 * MIB):
        view = (hr.asarray(signal) * 2).to_numpy()

        def read():
            while not stop.is_set():
                if not np.array_equal(view, wanted):
                    wrong.append(1)

        thread = threading.Thread(target=read)
        thread.start()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            float((hr.asarray(signal) * 3).sum())
            np.array(hr.asarray(signal) * 5)
        stop.set()
        thread.join()
    assert not wrong


CANNOT_FIT = """
import numpy as np, headrace as hr
MIB = 1 << 20
signal = np.random.default_rng(1).standard_normal(3_000_000)
def work():
    return [(hr.asarray(signal) * k).to_numpy() for k in range(2)]
with hr.memory.spill(limit=0):
    base = hr.memory.stats().used_bytes
    with hr.memory.limit(base + 30 * MIB):
        try:
            work()
        except hr.OutOfMemoryError as error:
            print(error)
    with hr.memory.limit(base + 60 * MIB):
        assert len(work()) == 2
"""


def test_what_cannot_fit_names_holders_and_the_limit_that_works():
    """And the smallest limit in the text does work.

    In a process of its own: what other tests have on the disk may leave memory at any time.
    """
    done = subprocess.run(
        [sys.executable, "-c", CANNOT_FIT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 0 < len(done.stdout.splitlines()) <= 15
    for part in (
        "requested=",
        "limit=",
        "raise hr.memory.limit to at least",
        "spilling is off",
    ):
        assert part in done.stdout


def test_settings(tmp_path):
    before = hr.memory.spill()
    with hr.memory.spill(directory=tmp_path, limit="64MiB") as now:
        assert now.directory == str(tmp_path)
        assert now.limit_bytes == 64 * MIB
        assert "67.1 MB" in repr(now)
    after = hr.memory.spill()
    assert (after.directory, after.limit_bytes) == (before.directory, before.limit_bytes)
    with pytest.raises(hr.InputError, match="directory"):
        hr.memory.spill(directory=tmp_path / "missing")
    with pytest.raises(hr.InvalidArgumentError):
        hr.memory.spill(limit=-1)
    assert os.listdir(tmp_path) == []


RESIDENT = """
import os, resource, sys, threading, time
import numpy as np
import headrace as hr
limit = 64 << 20
x = np.random.default_rng(1).standard_normal(1000)
float(hr.asarray(x).sum())
def resident():
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(l.split()[1]) for l in file if l.startswith("Anonymous:")) * 1024
base, most, stop = resident(), 0, threading.Event()
def sample():
    global most
    while not stop.wait(0.002):
        most = max(most, resident())
thread = threading.Thread(target=sample)
thread.start()
with hr.memory.limit(limit):
    a = hr.asarray(np.broadcast_to(x, (12_000, 1000)))  # no memory of its own
    kept = [a * k for k in range(1, 5)]
    hr.eval(*kept)
    total = [float((k + 1).sum()) for k in kept]
    again = [float((k + 1).sum()) for k in kept]
stop.set()
thread.join()
assert total == again
print(most - base, limit, hr.memory.spill().evicted_bytes)
"""


def test_resident_memory_judged_from_outside():
    done = subprocess.run(
        [sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    most, limit, evicted = map(int, done.stdout.split())
    assert evicted > limit
    assert most <= 1.05 * limit + 4 * MIB  # thread stacks and Python itself


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_child_reads_what_lies_on_the_disk(signal):
    with hr.memory.limit(used() + 32 * MIB):
        arrays = [hr.asarray(signal) * k for k in (2, 3)]
        for each in arrays:
            each.to_numpy()
        child = os.fork()
        if child == 0:
            right = all(
                np.array_equal(each.to_numpy(), signal * k)
                for k, each in zip((2, 3), arrays, strict=True)
            )
            right &= np.array_equal((hr.asarray(signal) * 4).to_numpy(), signal * 4)
            os._exit(0 if right else 1)
        more = (hr.asarray(signal) * 5).to_numpy()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        np.testing.assert_array_equal(more, signal * 5)
        for k, each in zip((2, 3), arrays, strict=True):
            np.testing.assert_array_equal(each.to_numpy(), signal * k)


def test_report_has_the_disk(signal):
    before = hr.memory.spill().disk_bytes
    with hr.memory.limit(used() + 30 * MIB):
        arrays = [hr.asarray(signal) * k for k in (2, 3)]
        hr.eval(*arrays)
        host, disk = hr.memory.report().tiers[:2]
        assert (host.name, disk.name) == ("host", "disk")
        assert disk.used > before
        assert host.used <= host.limit
    del arrays
    assert hr.memory.report().tiers[1].used < disk.used


def test_many_small_files_take_more_than_the_limit(tmp_path):
    """Columns of one file are far below what leaves memory without a limit."""
    values = np.random.default_rng(3).integers(0, 1 << 40, (15_000, 4))
    text = "a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in values.tolist()) + "\n"
    path = tmp_path / "part.csv"
    path.write_text(text)
    before = used()
    with hr.memory.limit(before + 24 * MIB), hr.memory.stats() as stats:
        parts = [hr.read_csv(path) for _ in range(80)]  # 38 MB
        assert stats.peak_bytes <= before + 24 * MIB
        assert hr.memory.spill().evicted_bytes > 0
        assert [int(part.c.sum()) for part in parts] == [int(values[:, 2].sum())] * 80
