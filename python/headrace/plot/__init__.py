# SPDX-License-Identifier: Apache-2.0
"""Plots of long series: exact envelopes, rasters, PNG; charts of columns, models and graphs.

`envelope`, `raster_envelope`, `raster_points` and `encode_png` are lazy, like all arrays; `pyramid`
and functions that make a `Plot` evaluate their data. `DataFrame.plot` makes charts of columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from collections.abc import Callable

    from headrace.plot.chart import Chart
    from headrace.plot.clouds import Raster, raster
    from headrace.plot.condensed_tree import dendrogram
    from headrace.plot.dashboards.board import Board, dashboard
    from headrace.plot.dashboards.charts import (
        LinkedChart,
        bar,
        choropleth,
        heatmap,
        histogram,
        number,
        points,
        series,
        table,
        trend,
    )
    from headrace.plot.dashboards.views import View
    from headrace.plot.figure import Plot
    from headrace.plot.graphs import graph, raster_segments
    from headrace.plot.long_series import (
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
    from headrace.plot.models import (
        confusion_matrix,
        elbow,
        embedding,
        explained_variance,
        feature_importances,
        roc,
    )

__all__ = [
    "Board",
    "Chart",
    "Envelope",
    "LinkedChart",
    "Plot",
    "Pyramid",
    "Raster",
    "View",
    "bar",
    "choropleth",
    "confusion_matrix",
    "dashboard",
    "dendrogram",
    "elbow",
    "embedding",
    "encode_png",
    "envelope",
    "explained_variance",
    "feature_importances",
    "graph",
    "heatmap",
    "histogram",
    "line",
    "number",
    "pack_codes",
    "points",
    "pyramid",
    "raster",
    "raster_envelope",
    "raster_points",
    "raster_segments",
    "roc",
    "series",
    "table",
    "trend",
]

#: Modules, and the public names in them; each is imported on first use.
_MODULES = {
    "chart": "Chart",
    "condensed_tree": "dendrogram",
    "dashboards.board": "Board dashboard",
    "dashboards.charts": """
        LinkedChart bar choropleth heatmap histogram number points series table trend
    """,
    "dashboards.views": "View",
    "figure": "Plot",
    "graphs": "graph raster_segments",
    "models": "confusion_matrix elbow embedding explained_variance feature_importances roc",
    "clouds": "Raster raster",
    "long_series": """
        Envelope Pyramid encode_png envelope line pack_codes pyramid raster_envelope raster_points
    """,
}


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


__getattr__: Callable[[str], Any] = on_first_use(__name__, _MODULES)
