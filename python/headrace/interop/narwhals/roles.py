# SPDX-License-Identifier: Apache-2.0
"""What the plug-in's classes have in common, and how they find each other."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, ClassVar

from narwhals._utils import Implementation

from headrace import _core


class Role:
    """A class of the plug-in: narwhals' names of its version and backend.

    The frame, the series, the expression and the namespace make each other; each registers as a
    role, so that no module has to import one above it.
    """

    _implementation: Any = Implementation.UNKNOWN
    _version: Any
    _frame_role: ClassVar[Any]
    _series_role: ClassVar[Any]
    _namespace_role: ClassVar[Any]
    _groups_role: ClassVar[Any]

    def __init_subclass__(cls, role: str = "", **options: Any) -> None:
        """Remember the class of a role."""
        super().__init_subclass__(**options)
        if role:
            setattr(Role, f"_{role}_role", cls)

    def __narwhals_namespace__(self) -> Any:
        if not hasattr(Role, "_namespace_role"):  # in a process that only unpickled
            importlib.import_module("headrace.interop.narwhals.namespace")
        return Role._namespace_role(version=self._version)

    def __native_namespace__(self) -> ModuleType:
        return sys.modules["headrace"]

    @property
    def _backend_version(self) -> tuple[int, ...]:
        return tuple(int(part) for part in _core.version.split(".")[:3])
