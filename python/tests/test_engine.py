# SPDX-License-Identifier: Apache-2.0
"""Which of the two wheels' engines is taken, and what is said of the other."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import headrace as hr
from headrace import _core

SHOW = "import headrace as hr; print(hr.info()['engine']); print(hr._core.__file__)"


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which both packages are installed, as the wheels do."""
    ours = Path(hr.__file__).parent
    add_on = tmp_path / "headrace_cu13"
    add_on.mkdir()
    (add_on / "__init__.py").write_text("")
    for library in Path(_core.__file__).parent.glob("*.so*"):
        (add_on / library.name).symlink_to(library.resolve())
    (tmp_path / "headrace").symlink_to(ours)
    install(tmp_path, "headrace", "1.2.3")
    install(tmp_path, "headrace_cu13", "1.2.3")
    return tmp_path


def install(site: Path, name: str, version: str) -> None:
    folder = site / f"{name}-1.2.3.dist-info"
    folder.mkdir(exist_ok=True)
    word = name.replace("_", "-")
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {word}\nVersion: {version}\n")


def run(site: Path, **variables: str) -> tuple[str, Path]:
    """The engine that a new process says it took, and the folder of its binary module."""
    env = {**os.environ, "PYTHONPATH": str(site), **variables}
    done = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, text=True, env=env, check=False
    )
    assert done.returncode == 0, done.stderr
    engine, file = done.stdout.splitlines()
    return engine, Path(file).parent


def test_the_add_on_is_taken_where_it_is_asked_for(site: Path) -> None:
    engine, folder = run(site, HEADRACE_ENGINE="cuda")
    assert engine.startswith("headrace-cu13, with") and folder == site / "headrace_cu13"
    engine, folder = run(site, HEADRACE_ENGINE="cpu")
    assert engine.startswith("headrace (HEADRACE_ENGINE=cpu), with") and folder.name == "headrace"
    with pytest.raises(AssertionError, match="HEADRACE_ENGINE='gpu'"):
        run(site, HEADRACE_ENGINE="gpu")


def test_without_a_driver_or_of_another_version_it_is_not(site: Path) -> None:
    engine, folder = run(site, HEADRACE_ENGINE="auto")
    if has_driver():
        assert engine.startswith("headrace-cu13,")
    else:
        assert "headrace-cu13 is installed, but there is no CUDA driver" in engine
        assert folder.name == "headrace"
    install(site, "headrace_cu13", "1.2.2")
    engine, _ = run(site, HEADRACE_ENGINE="cuda")
    assert "headrace-cu13 is version 1.2.2, but headrace is version 1.2.3" in engine


def test_alone_the_package_says_so(site: Path) -> None:
    for path in (site / "headrace_cu13").iterdir():
        path.unlink()
    (site / "headrace_cu13").rmdir()
    engine, _ = run(site)
    assert engine.startswith("headrace (headrace-cu13 is not installed), with")
