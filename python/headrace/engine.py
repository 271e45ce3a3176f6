# SPDX-License-Identifier: Apache-2.0
"""Which engine runs: the one of this package, or the one with CUDA of ``headrace-cu13``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path

from headrace.arguments import guarded

_ADD_ON = "headrace-cu13"


def _version(package: str) -> str:
    """The version of an installed package; empty for one that runs where it was built."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _why_not(folder: Path | None, wish: str) -> str:
    """Why the add-on is not taken; empty when it is."""
    if wish == "cpu":
        return "HEADRACE_ENGINE=cpu"
    if folder is None:
        return f"{_ADD_ON} is not installed"
    import ctypes

    ours, theirs = _version("headrace"), _version(_ADD_ON)
    if ours and ours != theirs:
        return f"{_ADD_ON} is of version {theirs}, and headrace of {ours}"
    if wish == "cuda":
        return ""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return f"{_ADD_ON} is installed, and there is no CUDA driver"
    return ""


def _load() -> str:
    """Put the engine to be taken in the place of ``headrace._core``; says which it is and why."""
    wish = os.environ.get("HEADRACE_ENGINE") or "auto"
    if wish not in ("auto", "cpu", "cuda"):
        raise ValueError(
            f"engine: unknown engine: HEADRACE_ENGINE={wish!r}; use one of 'auto', 'cpu', 'cuda'"
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
    setattr(sys.modules["headrace"], "_core", module)  # noqa: B010
    return _ADD_ON


#: The package that the engine came from; in brackets why it was not the other.
engine = _load()

# `from headrace import _core` gives this one; `import headrace._core` still the module itself.
setattr(sys.modules["headrace"], "_core", guarded(importlib.import_module("headrace._core")))  # noqa: B010
