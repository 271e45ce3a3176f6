# SPDX-License-Identifier: Apache-2.0
"""Frames of four times what a device may hold: worked on in slices there, the host's bits."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from headrace import _core

CUDA = _core.built_with_cuda() and not _core.why_no_cuda()
DEVICES = [
    "sim",
    pytest.param("cuda", marks=[pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="no GPU")]),
]

DATA = """
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import headrace as hr
    from headrace import _core

    DEVICE, LIMIT, FOLDER = {device!r}, {limit!r}, {folder!r}
    ROWS = 1 << 18  # a column of 2 MiB
    BYTES = int(LIMIT.removesuffix("MiB")) << 20
    if DEVICE == "cuda":
        hr.memory.limit(LIMIT, device="cuda")

    rng = np.random.default_rng(0)
    some = rng.random(ROWS) < 0.1
    left = hr.DataFrame(
        pd.DataFrame(
            {{
                "k": rng.integers(0, ROWS // 2, ROWS),
                "v": np.where(some, np.nan, rng.normal(size=ROWS)),
                "few": rng.integers(0, 100, ROWS),
                "heavy": np.where(rng.random(ROWS) < 0.9, 7, rng.integers(0, ROWS, ROWS)),
                "n": pd.array(rng.integers(-50, 50, ROWS), dtype="Int64"),
                "word": [f"word {{i}}" for i in rng.integers(0, 300, ROWS)],
            }}
        )
    )
    left["n"] = left.n.where(left.few > 3)
    right = hr.DataFrame({{"k": np.arange(ROWS // 2), "w": rng.random(ROWS // 2)}})
    twice = hr.DataFrame({{"k": rng.integers(0, ROWS, ROWS), "u": rng.random(ROWS)}})
    FRAMES = {{"left": left, "right": right, "twice": twice}}
    for name, frame in FRAMES.items():
        frame.to_parquet(FOLDER + name + ".parquet", row_group_size=1 << 15)
        frame.to_csv(FOLDER + name + ".csv")

    def read(reader):
        kind = "parquet" if "parquet" in reader.__name__ else "csv"
        return [reader(FOLDER + name + "." + kind) for name in FRAMES]

    READERS = hr.read_parquet, hr.scan_parquet, hr.read_csv, hr.scan_csv

    def bits(value):
        if isinstance(value, hr.Series):
            value = value.to_frame()
        table = pa.table(value.to("cpu").reset_index())
        return [
            (
                str(column.type),
                column.is_null().to_numpy().tobytes(),
                column.to_pylist() if column.type == "string_view" else column.to_numpy().tobytes(),
            )
            for column in table.columns
        ]
"""

SLICED = """
    PLAIN = {{  # of numbers
        "sort": lambda a, b, c: a[["k", "v", "few"]].sort_values("k"),
        "sort floats": lambda a, b, c: a[["k", "v"]].sort_values("v", ascending=False),
        "sum": lambda a, b, c: a.groupby("k", as_index=False).v.sum(),
        "means of few": lambda a, b, c: a.groupby("few").v.agg(["mean", "sum", "count", "max"]),
        "join": lambda a, b, c: a[["k", "v"]].merge(b, on="k"),
        "left join": lambda a, b, c: a[["k", "v"]].merge(c, on="k", how="left"),
    }}
    OTHERS = {{
        "sort by two": lambda a, b, c: a.sort_values(["few", "v"], na_position="first"),
        "sort by few": lambda a, b, c: a.sort_values("heavy"),
        "first rows": lambda a, b, c: a.sort_values("v").head(1000),
        "first seen": lambda a, b, c: a.groupby("k", sort=False).agg({{"v": "sum", "n": "last"}}),
        "few first seen": lambda a, b, c: a.groupby("few", sort=False).agg({{"v": "mean"}}),
        "nulls": lambda a, b, c: a.groupby("n").agg({{"v": "sum", "few": "mean"}}),
        "nulls are keys": lambda a, b, c: a.groupby("n", dropna=False).agg({{"v": "sum"}}),
        "words": lambda a, b, c: a.groupby("word").agg({{"v": "sum", "n": "count"}}),
        "two keys": lambda a, b, c: a.groupby(["few", "n"]).k.agg(["min", "sum"]),
        "spread": lambda a, b, c: a.groupby("k").v.agg(["std", "median", "nunique"]),
        "inner, twice": lambda a, b, c: a.merge(c, on="k"),
        "right join": lambda a, b, c: a[["k", "v"]].merge(c, on="k", how="right"),
        "outer join": lambda a, b, c: a[["k", "v"]].merge(c, on="k", how="outer"),
        "joins and groups": lambda a, b, c: a.merge(b, on="k").groupby("few").w.mean(),
    }}
    for reader in READERS:
        for name, step in (PLAIN | ({{}} if DEVICE == "cuda" else OTHERS)).items():
            host = bits(step(*read(reader)))
            _core.clear_fallbacks()
            hr.memory.ledger().clear()
            with hr.device(DEVICE):
                made = step(*read(reader))
                hr.eval(made)
                ours = bits(made)
            assert ours == host, (reader, name)
            assert not hr.fallbacks(), (reader, name, hr.fallbacks())
            sent = sum(e.bytes for e in hr.memory.ledger() if e.target == DEVICE + ":0")
            assert sent >= 8 * ROWS, (reader, name, sent)
    assert _core.memory_statistics(DEVICE).peak_bytes <= BYTES
    hr.strict(True)
    with hr.device(DEVICE):
        hr.eval(PLAIN["sort"](*read(hr.read_parquet)))
"""

REST = """
    STEPS = {{
        "rank": lambda a, b, c: a.assign(r=a.v.rank()),
        "chain": lambda a, b, c: a[a.v * 2 + 1 > 1.5],
        "deviations of few": lambda a, b, c: a.groupby("few").v.std(),
        "text of groups": lambda a, b, c: a.groupby("few").word.max(),
    }}

    def results(device):
        found = []
        with hr.device(device):
            for reader in READERS:
                for name, step in STEPS.items():
                    _core.clear_fallbacks()
                    made = bits(step(*read(reader)))
                    found.append((reader.__name__, name, made, str(hr.fallbacks())))
            made = hr.random.random(ROWS, seed=1)
            found.append(("random", "sort", np.asarray(np.sort(made).to("cpu")), ""))
        return found

    for (reader, name, ours, told), (_, _, host, _) in zip(results(DEVICE), results("cpu")):
        assert np.all(ours == host) if name == "sort" else ours == host, (reader, name)
        is_reading = (reader, name) == ("scan_parquet", "chain")  # which picks rows
        assert is_reading or name == "sort" or "no room" in told, (reader, name, told)
    hr.strict(True)
    try:
        with hr.device(DEVICE):
            hr.eval(read(hr.read_parquet)[0].v.rank())
    except hr.OutOfMemoryError as error:
        print(error)
"""


def run(program: str, device: str, limit: str, folder: Path) -> str:
    code = textwrap.dedent(DATA + program).format(device=device, limit=limit, folder=f"{folder}/")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HEADRACE_DEVICE": f"sim:limit={limit},latency=0us"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("limit", ["1MiB", "2MiB", "4MiB"])
@pytest.mark.parametrize("device", DEVICES)
def test_sorts_groups_and_joins_go_through_the_device_in_slices(
    device: str, limit: str, tmp_path: Path
) -> None:
    run(SLICED, device, limit, tmp_path)


@pytest.mark.parametrize("limit", ["1MiB", "3MiB"])
@pytest.mark.parametrize("device", DEVICES)
def test_what_cannot_be_cut_is_done_by_the_host(device: str, limit: str, tmp_path: Path) -> None:
    assert "out of memory on the device" in run(REST, device, limit, tmp_path)
