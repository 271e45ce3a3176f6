# SPDX-License-Identifier: Apache-2.0
"""Places of a graph's vertices, compared with igraph: ./dev bench layouts [--rows N], N edges."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import scipy.sparse
from measure import Bench, Rival, run
from scipy.sparse import csgraph

import headrace as hr

LAYOUT_ITERATIONS = 50
HAS_IGRAPH = importlib.util.find_spec("igraph") is not None


def _stress(matrix: Any, places: Any, sources: int = 8) -> float:
    """How far distances are from those of paths, at the best scale, from a few vertices."""
    chosen = np.random.default_rng(0).choice(len(places), sources, replace=False)
    paths = csgraph.dijkstra(matrix, unweighted=True, indices=chosen)
    apart = np.linalg.norm(places[chosen][:, None] - places[None], axis=2)
    reached = np.isfinite(paths) & (paths > 0)
    ratio = apart[reached] / paths[reached]
    return float(((1 - ratio * ratio.sum() / (ratio**2).sum()) ** 2).mean())


def layouts(bench: Bench, vertices: int, groups: int) -> None:
    """Places of planted groups, at no more stress than igraph's DRL."""
    rng = np.random.default_rng(1)
    source = np.repeat(np.arange(vertices), 4)
    target = source % groups + groups * rng.integers(vertices // groups, size=len(source))
    far = rng.integers(vertices, size=(2, vertices))
    source, target = np.append(source, far[0]), np.append(target, far[1])
    keep = source != target
    graph = hr.graph.Graph(np.column_stack([source[keep], target[keep]]), nodes=vertices)
    matrix = scipy.sparse.csr_matrix(graph.to_scipy_sparse_array())
    rivals = []
    if HAS_IGRAPH:
        import igraph

        upper = scipy.sparse.triu(matrix).tocoo()
        other = igraph.Graph(vertices, np.column_stack([upper.row, upper.col]))
        rivals = [Rival("igraph", lambda: np.array(other.layout_drl().coords), 3)]

    def ours() -> Any:
        return graph.layout(iterations=LAYOUT_ITERATIONS)[["x", "y"]].to_numpy()

    def as_good(mine: Any, its: Any) -> str:
        one, other = _stress(matrix, mine), _stress(matrix, its)
        assert one <= other, f"stress {one:.4f} and {other:.4f}"
        return f"stress {one:.4f} and {other:.4f}"

    bench.step("layout", ours, rivals, as_good, rows=matrix.nnz)


def steps(bench: Bench, rows: int) -> None:
    """Measure planted groups of about `rows` edges: 100 vertices and 500 edges each."""
    layouts(bench, max(rows // 5, 1000), max(rows // 500, 10))


if __name__ == "__main__":
    sys.exit(run("layouts", __doc__, ["numpy", "scipy"] + ["igraph"] * HAS_IGRAPH, steps))
