# SPDX-License-Identifier: Apache-2.0
"""Plots of long series: exact envelopes, rasters, PNG, and figures; pictures of models and graphs.

`envelope`, `raster_envelope`, `raster_points` and `encode_png` are lazy, like all arrays; `pyramid`
and functions that make a `Plot` evaluate their data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import missing_of_module
from headrace.plot.condensed_tree import dendrogram
from headrace.plot.figure import Plot
from headrace.plot.graphs import graph, raster_segments
from headrace.plot.models import (
    confusion_matrix,
    elbow,
    embedding,
    explained_variance,
    feature_importances,
    roc,
)
from headrace.plot.series import (
    Envelope,
    Pyramid,
    encode_png,
    envelope,
    line,
    pack_codes,
    pyramid,
    raster_envelope,
    raster_points,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Envelope",
    "Plot",
    "Pyramid",
    "confusion_matrix",
    "dendrogram",
    "elbow",
    "embedding",
    "encode_png",
    "envelope",
    "explained_variance",
    "feature_importances",
    "graph",
    "line",
    "pack_codes",
    "pyramid",
    "raster_envelope",
    "raster_points",
    "raster_segments",
    "roc",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = missing_of_module(__name__)
