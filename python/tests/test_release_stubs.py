# SPDX-License-Identifier: Apache-2.0
"""Stubs of the C library that wheels for any Linux are linked against."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/release"))
make_stubs = pytest.importorskip("make_stubs")

pytestmark = pytest.mark.skipif(
    not (shutil.which("g++") and shutil.which("readelf")), reason="needs g++ and readelf"
)


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def test_a_stub_has_the_old_symbols_alone(tmp_path):
    library = Path(run("g++", "-print-file-name=libm.so.6"))
    make_stubs.make_stub("g++", library, "libm.so.6", tmp_path)
    listed = run("readelf", "--dyn-syms", "--wide", tmp_path / "libm.so")
    names = dict(re.findall(r"(\w+)@@GLIBC_([\d.]+)", listed))
    assert {"exp", "pow", "hypot", "floor"} <= set(names)
    assert all(tuple(map(int, each.split("."))) <= (2, 28) for each in names.values())
    # A program that is linked against it asks for those, and runs with the library itself.
    source = tmp_path / "main.cpp"
    source.write_text("#include <cmath>\nint main(int n, char**) { return std::exp(n) < 2; }\n")
    run("g++", "-O0", source, "-o", tmp_path / "main", f"-L{tmp_path}")
    asked = run("readelf", "--dyn-syms", "--wide", tmp_path / "main")
    assert f"exp@GLIBC_{names['exp']}" in asked
    run(tmp_path / "main")
