# SPDX-License-Identifier: Apache-2.0
"""Words about text beyond single strings: templates of log messages, IP addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.text.drain import Templates, templates

__all__ = ["Templates", "templates"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = on_first_use(__name__, {"drain": "Templates templates"})
