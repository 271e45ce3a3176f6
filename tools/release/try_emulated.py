#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a wheel for aarch64 under qemu: README's example, digests of outputs, tests of kernels.

Debian's Python for arm64 and the packages of tests are unpacked, not installed: no root, no
container. The engine of this machine, on PYTHONPATH, must give the same digests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from build_wheel import FOLDER, ROOT, Packages, run
from try_wheel import example_of

PYTHON = ("libbz2-1.0", "libc6", "libexpat1", "libffi8", "libgcc-s1", "liblzma5",
          "libpython3.11-minimal", "libpython3.11-stdlib", "libssl3", "libsqlite3-0", "libstdc++6",
          "libuuid1", "python3.11-minimal", "zlib1g")  # fmt: skip
#: As pyproject.toml pins them.
NEEDED = (
    "hypothesis",
    "mpmath",
    "nanobind-backend",
    "numpy",
    "pandas",
    "pyarrow",
    "pytest",
    "scipy",
)
#: Kernels of each kind, minutes in all: the emulator takes twenty times as long as a processor.
TESTS = (
    "test_filtered_reductions",
    "test_plan_elementary",
    "test_random",
    "test_signal_histogram",
    "test_signal_non_max_suppression",
    "test_signal_ricker",
    "test_signal_segments",
)


def packages(wheel: Path) -> Path:
    """A folder with the wheel and what its tests need, for aarch64."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = [each for some in extras["optional-dependencies"].values() for each in some]
    words = [next((p for p in pinned if p.startswith(f"{name}==")), name) for name in NEEDED]
    site = FOLDER / "site-aarch64"
    tags = [f"--platform=manylinux_2_{minor}_aarch64" for minor in range(17, 37)]
    target = ("--target", site, "--upgrade", "--only-binary=:all:", "--python-version=3.11", *tags)
    run(sys.executable, "-m", "pip", "install", "-q", *target, *words)
    # A wheel of the same version is another one whenever it was built again.
    run(sys.executable, "-m", "pip", "install", "-q", "--no-deps", *target, wheel)
    return site


def main(wheel: Path) -> int:
    """Unpack, run and compare; the exit status."""
    root = Packages("arm64").unpack("python", *PYTHON)
    emulated = ("qemu-aarch64-static", "-L", root, root / "usr/bin/python3.11")
    site = {"PYTHONPATH": str(packages(wheel)), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
    folder = FOLDER / "example"  # the example writes a file
    folder.mkdir(exist_ok=True)

    def printed(*words: str | Path, **more: str) -> str:
        env = {**os.environ, **more}
        return subprocess.run(
            words, check=True, cwd=folder, env=env, stdout=subprocess.PIPE, encoding="utf-8"
        ).stdout

    program, expected = example_of((ROOT / "README.md").read_text(encoding="utf-8"))
    found = printed(*emulated, "-c", program, **site)
    if found.strip() != expected.strip():
        print(f"try_emulated: README's example prints {found}\nexpected\n{expected}")
        return 1
    digests = ROOT / "python/tests/test_determinism.py"
    _, ours = json.loads(printed(sys.executable, digests))
    _, theirs = json.loads(printed(*emulated, digests, **site))
    other = [name for name in ours if ours[name] != theirs[name]]
    print(
        f"{len(ours)} outputs, with other bits than on this machine: {', '.join(other) or 'none'}"
    )
    tests = [f"python/tests/{name}.py" for name in TESTS]
    run(*emulated, "-m", "pytest", "-p", "no:cacheprovider", "-m", "not gpu", *tests, **site)
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
