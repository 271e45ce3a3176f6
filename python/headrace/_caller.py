# SPDX-License-Identifier: Apache-2.0
"""The user's code that called us: its line, its variables, the calls around it."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


def _is_ours(frame: FrameType) -> bool:
    name: str = frame.f_globals.get("__name__", "")
    # Doctests of a module run under its name.
    return name.startswith("headrace") and not frame.f_code.co_filename.startswith("<doctest")


def user_frame() -> FrameType:
    """The innermost frame of code outside of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame):
        frame = frame.f_back
    return frame


def line_of(frame: FrameType) -> str:
    """File and line, as messages name them."""
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def stack_of(frame: FrameType) -> str:
    """The lines from this one outwards, at most 32."""
    lines: list[str] = []
    at: FrameType | None = frame
    while at is not None and len(lines) < 32:
        lines.append(f"{at.f_code.co_filename}:{at.f_lineno} in {at.f_code.co_qualname}")
        at = at.f_back
    return "\n".join(lines)


def user_variables() -> dict[str, Any]:
    """What the user's code sees at the line that called us."""
    frame = user_frame()
    return {**frame.f_globals, **frame.f_locals}
