# SPDX-License-Identifier: Apache-2.0
"""Other device allocators, in C++ like ours: a program compiled with RMM's headers."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".cpp")


def _folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return Path(found.origin).parent if found and found.origin else None


def build(folder: Path) -> tuple[Path | None, str]:
    """Compile the program; without RMM's wheel or a compiler, say why not."""
    rmm, logger, nvcc = _folder("librmm"), _folder("rapids_logger"), shutil.which("nvcc")
    cuda = Path(nvcc).resolve().parent.parent if nvcc else None
    if rmm is None or logger is None or cuda is None:
        return None, "librmm, rapids_logger or nvcc is not installed"
    program = folder / "device_blocks"
    include = [rmm / "include", rmm / "include/rapids", logger / "include", cuda / "include"]
    libraries = [rmm / "lib64", logger / "lib64", cuda / "lib64"]
    line = ["g++", "-std=c++20", "-O2", "-w", "-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE"]
    line += [f"-isystem{path}" for path in include]
    line += [str(SOURCE), "-o", str(program)]
    line += [word for path in libraries for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
    line += ["-lrmm", "-lrapids_logger", "-lcudart"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return (program, "") if done.returncode == 0 else (None, done.stderr.strip()[-300:])


def nanoseconds(program: Path, size_bytes: int, held: int) -> dict[str, float]:
    """Allocate and free a block with each allocator, in a separate process."""
    line = [str(program), str(size_bytes), str(held)]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True, env=dict(os.environ))
    times: dict[str, float] = json.loads(done.stdout)
    return times
