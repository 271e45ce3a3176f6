# SPDX-License-Identifier: Apache-2.0
"""What one check finds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple


class Check(NamedTuple):
    """One check: "ok", "advice" (works, but not as well as it could) or "broken"."""

    name: str
    state: Literal["ok", "advice", "broken"]
    found: str
    fix: str = ""


def contents(path: str) -> str:
    """A small file of the system; empty where there is none."""
    try:
        return Path(path).read_text(errors="replace").strip()
    except OSError:
        return ""


def gigabytes(size: float) -> str:
    """A size for people."""
    return f"{size / 1e9:.1f} GB"
