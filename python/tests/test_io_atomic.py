# SPDX-License-Identifier: Apache-2.0
"""Each call that writes a file fails in its turn: the old file stays, nothing is left beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = """
import ctypes, errno, os, sys
import numpy as np
import headrace as hr

kind, folder = sys.argv[1:]
libc, path = ctypes.CDLL(None), os.path.join(folder, "x")
numbers = np.arange(120_000)
frame = hr.DataFrame({"a": numbers, "b": numbers * 0.37, "s": numbers.astype(str)})
options = {"orient": "records", "lines": True} if kind == "json" else {}
write = lambda: getattr(frame, "to_" + kind)(path, **options)
with open(path, "w") as file:
    file.write("old")
libc.fail_write(-1, 0, 0)
write()
counts = [libc.writes_of(call) for call in range(3)]
with open(path, "rb") as file:
    new = file.read()
failed = 0
for call, codes in enumerate(((errno.ENOSPC, errno.EIO, 0), (errno.EIO,), (errno.ENOSPC,))):
    for code in codes:
        for number in range(1, counts[call] + 1):
            with open(path, "w") as file:
                file.write("old")
            libc.fail_write(call, number, code)
            try:
                write()
            except hr.InputError as error:
                assert code and error.errno == code and error.filename == path, error
                wanted = b"old"
                failed += 1
            else:
                assert code == 0, (call, number, code)
                wanted = new
            libc.fail_write(-1, 0, 0)
            with open(path, "rb") as file:
                assert file.read() == wanted, (call, number, code)
            assert os.listdir(folder) == ["x"], os.listdir(folder)
write()
with open(path, "rb") as file:
    assert file.read() == new
print(*counts, failed)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="preloads a library")
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("kind", ["csv", "parquet", "json", "ipc"])
def test_each_call_of_a_writer_fails(kind: str, tmp_path: Path) -> None:
    library = tmp_path / "failing_writes.so"
    source = Path(__file__).with_name("failing_writes.c")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    folder = tmp_path / "folder"
    folder.mkdir()
    env = {**os.environ, "LD_PRELOAD": str(library), "HEADRACE_THREADS": "2"}
    child = [sys.executable, "-c", CHILD, kind, str(folder)]
    run = subprocess.run(child, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    writes, syncs, renames, failed = map(int, run.stdout.split())
    assert writes >= 2 and renames == 1
    assert failed == 2 * writes + syncs + renames
