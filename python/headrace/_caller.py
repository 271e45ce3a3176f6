# SPDX-License-Identifier: Apache-2.0
"""The user's code that called us: its line, its variables."""

from __future__ import annotations

from types import FrameType
from typing import Any

from headrace._core import user_frame


def line_of(frame: FrameType) -> str:
    """File and line, as messages name them."""
    return f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"


def user_variables() -> dict[str, Any]:
    """What the user's code sees at the line that called us."""
    frame = user_frame()
    return {**frame.f_globals, **frame.f_locals}
