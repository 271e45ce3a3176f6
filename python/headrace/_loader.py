# SPDX-License-Identifier: Apache-2.0
"""Choose the engine: this package's own, or the CUDA build of ``headrace-cu13``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from headrace._arguments import guarded

_ADD_ON = "headrace-cu13"


def _version(package: str) -> str:
    """The version of an installed package; empty when running from a build tree."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _why_not(folder: Path | None, wish: str) -> str:
    """Why the add-on is not used; empty if it is."""
    if wish == "cpu":
        return "HEADRACE_ENGINE=cpu"
    if folder is None:
        return f"{_ADD_ON} is not installed"
    import ctypes

    ours, theirs = _version("headrace"), _version(_ADD_ON)
    if ours and ours != theirs:
        return f"{_ADD_ON} is version {theirs}, but headrace is version {ours}"
    if wish == "cuda":
        return ""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return f"{_ADD_ON} is installed, but there is no CUDA driver"
    return ""


def _load() -> str:
    """Install the chosen engine as ``headrace._core``; returns which one it is and why."""
    wish = os.environ.get("HEADRACE_ENGINE") or "auto"
    if wish not in ("auto", "cpu", "cuda"):
        raise ValueError(
            f"engine: unknown engine: HEADRACE_ENGINE={wish!r}; expected 'auto', 'cpu' or 'cuda'"
        )
    add_on = importlib.util.find_spec("headrace_cu13")
    folder = Path(add_on.origin).parent if add_on and add_on.origin else None
    reason = _why_not(folder, wish)
    if reason or folder is None:
        return f"headrace ({reason})"
    path = next(folder.glob("_core*.so"))
    spec = importlib.util.spec_from_file_location("headrace._core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["headrace._core"] = module
    spec.loader.exec_module(module)
    return _ADD_ON


#: The package of the engine in use; in brackets why not the other one.
engine = _load()

#: What `from headrace import _core` gives; ``import headrace._core`` gives the original module.
core = guarded(importlib.import_module("headrace._core"))
