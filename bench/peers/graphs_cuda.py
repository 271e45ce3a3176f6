# SPDX-License-Identifier: Apache-2.0
"""hr.graph on an NVIDIA GPU compared with cuGraph, data on the device: ./dev bench graphs_cuda."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path.pop(0)  # this folder: csv.py here is not Python's
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

try:
    import cupy as cp
except ImportError:
    sys.exit("graphs_cuda: CuPy is required for the comparison; install cupy-cuda13x")
import measure
import numpy as np

import headrace as hr
from headrace import _core

try:
    import pylibcugraph as plc
except ImportError:
    plc = None

EDGE_FACTOR = 16
ALPHA = 0.85


def host(value: Any) -> np.ndarray:
    """An answer of either side as a NumPy array."""
    return cp.asnumpy(value) if isinstance(value, cp.ndarray) else np.asarray(value)


def by_vertex(pair: tuple[Any, Any]) -> np.ndarray:
    """Values of the rival in the order of the vertices."""
    return host(pair[1])[np.argsort(host(pair[0]))]


def equal(ours: Any, theirs: Any) -> str:
    """Compare integers."""
    np.testing.assert_array_equal(ours.fillna(-1).to_numpy(), by_vertex(theirs))
    return "equal"


def same_parts(ours: Any, theirs: Any) -> str:
    """Compare components whatever their numbers are."""
    a, b = ours.to_numpy(), by_vertex(theirs)
    pairs = len(np.unique(a.astype(np.int64) * (1 << 32) + b))
    assert pairs == len(np.unique(a)) == len(np.unique(b))
    return f"{pairs} components"


def near(bound: float) -> Any:
    """Compare floats by the sum of what they differ by."""

    def same(ours: Any, theirs: Any) -> str:
        a, b = ours.to_numpy(), by_vertex(theirs)
        apart = float(np.abs(a - b).sum() / np.abs(b).sum())
        assert apart <= bound, f"apart by {apart:.1e}"
        return f"apart by {apart:.0e} of all (allowed {bound:.0e})"

    return same


def any_answer(_ours: Any, _theirs: Any) -> str:
    """For work whose result later rows compare."""
    return "compared below"


def steps(bench: measure.Bench, scale: int) -> None:
    """An R-MAT graph: built, then asked."""
    frame = hr.graph.rmat(scale, EDGE_FACTOR, seed=1)
    ends = [frame[name].to_numpy().astype(np.int32) for name in frame.columns]
    there = hr.DataFrame({"source": ends[0], "target": ends[1]}).to("cuda")
    hr.eval(there)
    keep = ends[0] != ends[1]
    plain = hr.DataFrame({"source": ends[0][keep], "target": ends[1][keep]}).to("cuda")
    hr.eval(plain)
    count = len(ends[0])
    handle = None if plc is None else plc.ResourceHandle()
    source, target = (cp.asarray(x) for x in ends)

    def their_graph(symmetric: bool) -> Any:
        s, t = source, target
        if symmetric:
            keys = cp.concatenate([s.astype(cp.int64) << 32 | t, t.astype(cp.int64) << 32 | s])
            keys = cp.unique(keys[(keys >> 32) != (keys & 0xFFFFFFFF)])
            s, t = (keys >> 32).astype(cp.int32), (keys & 0xFFFFFFFF).astype(cp.int32)
        options = plc.GraphProperties(is_symmetric=symmetric, is_multigraph=not symmetric)

        def build() -> Any:
            return plc.SGGraph(
                resource_handle=handle,
                graph_properties=options,
                src_or_offset_array=s,
                dst_or_index_array=t,
                weight_array=None,
                store_transposed=not symmetric,
                renumber=True,
                do_expensive_check=False,
            )

        return build

    def step(name: str, ours: Any, theirs: Any, same: Any, bar: float) -> None:
        def mine() -> Any:
            made = ours()
            if not isinstance(made, hr.graph.Graph):
                hr.eval(made)
            _core.synchronize_device()
            return made

        def its() -> Any:
            made = theirs()
            cp.cuda.Device().synchronize()
            return made

        rivals = [] if plc is None or theirs is None else [measure.Rival("cugraph", its, bar)]
        try:
            bench.step(name, mine, rivals, same, rows=count)
        except Exception as problem:  # one engine must not end the run
            print(f"{name}: {type(problem).__name__}: {problem}"[:300])
        if plc is None:
            bench.left_out(name, "cugraph", "not installed")

    builds = [None, None] if plc is None else [their_graph(False), their_graph(True)]
    directed = hr.graph.Graph(there, directed=True, multigraph=True)
    both = hr.graph.Graph(plain)
    hr.eval(both.bfs(int(plain.source.to_numpy()[0])))

    step(
        "build directed",
        lambda: hr.graph.Graph(there, directed=True, multigraph=True),
        builds[0],
        any_answer,
        2,
    )
    step("build undirected", lambda: hr.graph.Graph(plain), builds[1], any_answer, 2)
    if plc is not None:
        ranked, linked = builds[0](), builds[1]()
    hr.eval(directed.pagerank())
    rounds = 20

    step(
        "pagerank, 20 iterations",
        lambda: directed.pagerank(max_iter=rounds, tol=0.0, strict=False).pagerank,
        lambda: plc.pagerank(
            handle, ranked, None, None, None, None, ALPHA, 0.0, rounds, False, False
        )[:2],
        near(1e-6),
        2,
    )
    degrees = both.degree().degree.to_numpy()
    ids = both.nodes().vertex.to_numpy()
    start = int(ids[int(np.argmax(degrees))])

    def their_bfs() -> Any:
        found = plc.bfs(handle, linked, cp.array([start], cp.int32), True, -1, False, False)
        distances = cp.where(found[0] == 2**31 - 1, -1, found[0])
        return found[2], distances

    step(
        "bfs",
        lambda: both.bfs(start).distance,
        their_bfs,
        equal,
        1.5,
    )
    step(
        "connected components",
        lambda: both.connected_components().component,
        lambda: plc.weakly_connected_components(handle, linked, None, None, None, None, False),
        same_parts,
        2,
    )
    step(
        "core number",
        lambda: both.core_number().core,
        lambda: plc.core_number(handle, linked, "incoming", False),
        equal,
        2,
    )
    step(
        "triangles",
        lambda: both.triangle_count()["count"],
        lambda: plc.triangle_count(handle, linked, None, False),
        equal,
        2,
    )


def main() -> int:
    """Run the tasks that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--output", type=Path, default=Path(measure.ROOT / "bench/results/graphs-cuda.jsonl")
    )
    options = parser.parse_args()
    if reason := _core.why_no_cuda():
        print(f"nothing to run: {reason}")
        return 0
    packages = ["cupy-cuda13x", "numpy", *([] if plc is None else ["pylibcugraph-cu13"])]
    bench = measure.Bench("graphs_cuda", packages, options.runs, options.output, options.only)
    print(_core.cuda_device_name(0))
    print(measure.HEADER)
    steps(bench, options.scale)
    print(f"what ran on the host: {hr.fallbacks()}")
    return bench.close()


if __name__ == "__main__":
    sys.exit(main())
