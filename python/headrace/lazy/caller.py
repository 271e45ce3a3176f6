# SPDX-License-Identifier: Apache-2.0
"""The variables of the user's code that called us."""

from __future__ import annotations

from typing import Any

from headrace import _core


def user_variables() -> dict[str, Any]:
    """What the user's code sees at the line that called us."""
    frame = _core.user_frame()
    return {**frame.f_globals, **frame.f_locals}
