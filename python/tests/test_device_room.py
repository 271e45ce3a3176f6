# SPDX-License-Identifier: Apache-2.0
"""Frames of four times what a device may hold: the host's rows and bits, and fallbacks tell."""

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

PROGRAM = """
    import numpy as np
    import headrace as hr

    DEVICE, LIMIT, FOLDER = {device!r}, {limit!r}, {folder!r}
    ROWS = 1 << 18  # a column of 2 MiB
    if DEVICE == "cuda":
        hr.memory.limit(LIMIT, device="cuda")

    rng = np.random.default_rng(0)
    left = hr.DataFrame({{"k": rng.integers(0, ROWS // 2, ROWS), "v": rng.random(ROWS)}})
    right = hr.DataFrame({{"k": np.arange(ROWS // 2), "w": rng.random(ROWS // 2)}})
    for name, frame in (("left", left), ("right", right)):
        frame.to_parquet(FOLDER + name + ".parquet", row_group_size=1 << 15)
        frame.to_csv(FOLDER + name + ".csv")

    STEPS = {{
        "sort": lambda a, b: a.sort_values("k"),
        "sum": lambda a, b: a.groupby("k", as_index=False).v.sum(),
        "join": lambda a, b: a.merge(b, on="k"),
        "rank": lambda a, b: a.assign(r=a.v.rank()),
        "chain": lambda a, b: a[a.v * 2 + 1 > 1.5],
    }}

    def results(device):
        found = []
        with hr.device(device):
            for read in (hr.read_parquet, hr.scan_parquet, hr.read_csv, hr.scan_csv):
                kind = "parquet" if "parquet" in read.__name__ else "csv"
                for name, step in STEPS.items():
                    a, b = (read(FOLDER + side + "." + kind) for side in ("left", "right"))
                    found.append((read.__name__, name, step(a, b).to("cpu").to_pandas()))
            made = hr.random.random(ROWS, seed=1)
            found.append(("random", "sort", np.asarray(np.sort(made).to("cpu"))))
        return found

    for (reader, name, ours), (_, _, host) in zip(results(DEVICE), results("cpu")):
        same = ours.equals(host) if hasattr(ours, "equals") else (ours == host).all()
        assert same, (reader, name)
    assert any("no room" in str(line) for line in hr.fallbacks()), hr.fallbacks()
    hr.strict(True)
    try:
        with hr.device(DEVICE):
            frame = hr.read_parquet(FOLDER + "left.parquet")
            hr.eval(frame.merge(frame, on="k"))
    except hr.OutOfMemoryError as error:
        print(error)
"""


@pytest.mark.parametrize("limit", ["1MiB", "3MiB", "5MiB"])
@pytest.mark.parametrize("device", DEVICES)
def test_what_the_device_has_no_room_for_is_done_by_the_host(
    device: str, limit: str, tmp_path: Path
) -> None:
    code = textwrap.dedent(PROGRAM).format(device=device, limit=limit, folder=f"{tmp_path}/")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HEADRACE_DEVICE": f"sim:limit={limit},latency=0us"},
    )
    assert done.returncode == 0, done.stderr
    assert "out of memory on the device" in done.stdout
