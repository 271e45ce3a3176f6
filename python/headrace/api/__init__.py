# SPDX-License-Identifier: Apache-2.0
"""`hr.api.types`: tests of dtypes and values under pandas' names."""

from headrace.api import types as types

__all__ = ["types"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
