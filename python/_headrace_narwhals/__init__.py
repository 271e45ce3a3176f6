# SPDX-License-Identifier: Apache-2.0
"""What narwhals loads when it meets an object that it does not know. Imports nothing.

The plug-in itself is `headrace.interop.narwhals`.
"""

import sys
from typing import Any

#: The package whose objects narwhals asks about, once it is imported.
NATIVE_PACKAGE = "headrace"


def is_native(native_object: object, /) -> bool:
    """Whether it is a frame or a series of ours: without their class loaded, it is not."""
    plugin = _plugin() if "headrace.frame.dataframe" in sys.modules else None
    return plugin is not None and bool(plugin.is_native(native_object))


def __narwhals_namespace__(version: Any) -> Any:  # noqa: N807 (narwhals' hook)
    """The functions of the plug-in for a version of narwhals' API."""
    return _plugin().__narwhals_namespace__(version)


def _plugin() -> Any:
    from headrace.interop import narwhals

    return narwhals
