# SPDX-License-Identifier: Apache-2.0
"""`inplace=True` of methods that make a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.frame.dataframe import DataFrame


def made_or_rebound(frame: DataFrame, made: DataFrame, inplace: bool) -> DataFrame:
    """What a method made; or None, with `inplace`, and `frame` is that from now on."""
    if not inplace:
        return made
    frame._nodes, frame._labels = made._nodes, made._labels
    return None  # type: ignore[return-value]
