# SPDX-License-Identifier: Apache-2.0
"""The graphs of the demo: Europe's power grid, and made ones with planted communities."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import numpy as np

import headrace as hr

if TYPE_CHECKING:
    from pathlib import Path

# The largest real network that a package on PyPI carries, as far as we looked: the grid of the
# PEGASE project (S. Fliscounakis and others, IEEE Transactions on Power Systems 28, 2013).
PACKAGE = "pandapower==3.5.6"
MEMBER = "pandapower/networks/power_system_test_case_jsons/case9241pegase.json"


def power_grid(cache: Path) -> hr.graph.Graph:
    """9,241 buses and 16,049 lines and transformers between them; the wheel is kept in `cache`."""
    folder = cache / PACKAGE
    if not (found := list(folder.glob("*.whl"))):
        words = ["download", "-q", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
        subprocess.run([sys.executable, "-m", "pip", *words, PACKAGE], check=True)
        found = list(folder.glob("*.whl"))
    with zipfile.ZipFile(found[0]) as wheel:
        tables = json.loads(wheel.read(MEMBER))["_object"]
    bus, line, trafo = (_table(tables[name]) for name in ("bus", "line", "trafo"))
    edges = hr.DataFrame(
        {
            "source": np.array(line["from_bus"] + trafo["hv_bus"]),
            "target": np.array(line["to_bus"] + trafo["lv_bus"]),
            "kind": ["line"] * len(line["from_bus"]) + ["transformer"] * len(trafo["hv_bus"]),
        }
    )
    nodes = hr.DataFrame({"bus": bus["index"], "kilovolts": bus["vn_kv"]})
    return hr.graph.Graph(edges, edge_attr="kind", nodes=nodes, multigraph=True)


def _table(packed: dict[str, object]) -> dict[str, list[object]]:
    """The columns of a table that pandas wrote."""
    table = (
        json.loads(packed["_object"]) if isinstance(packed["_object"], str) else packed["_object"]
    )
    columns = map(list, zip(*table["data"], strict=True))
    return {"index": table["index"], **dict(zip(table["columns"], columns, strict=True))}


def planted(vertices: int, groups: int, inside: int = 8, between: int = 1) -> bytes:
    """An edge list as CSV: most of a vertex's edges stay in its group, the number modulo groups."""
    rng = np.random.default_rng(26)
    source = np.repeat(np.arange(vertices), inside // 2)
    target = source % groups + groups * rng.integers(vertices // groups, size=len(source))
    far = rng.integers(vertices, size=(2, vertices * between // 2))
    frame = hr.DataFrame({"source": np.append(source, far[0]), "target": np.append(target, far[1])})
    frame = frame[frame.source != frame.target]
    text = io.BytesIO()
    frame.to_csv(text, index=False)
    return text.getvalue()
