# SPDX-License-Identifier: Apache-2.0
"""hr.graph on an NVIDIA GPU compared with cuGraph, data on the device: ./dev bench graphs_cuda."""

from __future__ import annotations

import argparse
import sys
from functools import partial
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


def other_draws(_ours: Any, _theirs: Any) -> str:
    """For work by chance, which the tests compare with the CPU's."""
    return "other draws"


def alike(ours: Any, theirs: Any) -> str:
    """Compare floats that may be scaled otherwise."""
    a, b = ours.to_numpy(), by_vertex(theirs).astype(np.float64)
    np.testing.assert_allclose(a / a.sum(), b / b.sum(), rtol=1e-3, atol=1e-7 * (b / b.sum()).max())
    return "equal but for scale"


def same_values(ours: Any, theirs: Any) -> str:
    """Compare floats whatever their order is."""
    np.testing.assert_allclose(np.sort(ours.to_numpy()), np.sort(host(theirs[2])), rtol=1e-6)
    return "equal"


def same_on_host(ours: Any, theirs: Any) -> str:
    """Compare the columns of a frame with those of the CPU."""
    worst = 0.0
    for name in ours.columns[1:]:
        a, b = ours[name].to_numpy(), theirs[name].to_numpy()
        worst = max(worst, float(np.abs(a - b).max() / np.abs(b).max()))
    assert worst < 1e-11, worst
    return f"apart by {worst:.0e} of the greatest"


def same_series(ours: Any, theirs: Any) -> str:
    """Compare a series with that of the CPU."""
    np.testing.assert_array_equal(ours.to_numpy(), theirs.to_numpy())
    return "equal"


def grid_edges(side: int) -> list[np.ndarray]:
    """Ends and weights of a grid, as long and flat as a road network."""
    numbers = np.arange(side * side, dtype=np.int32).reshape(side, side)
    ends = [
        np.concatenate([numbers[:, :-1].ravel(), numbers[:-1].ravel()]),
        np.concatenate([numbers[:, 1:].ravel(), numbers[1:].ravel()]),
    ]
    return [*ends, np.random.default_rng(1).integers(1, 256, len(ends[0])).astype(np.float64)]


class Modularity:
    """Of partitions of the vertices of a symmetric list of edges, apart from either engine."""

    def __init__(self, source: cp.ndarray, target: cp.ndarray, ids: np.ndarray) -> None:
        self.ends = [cp.searchsorted(cp.asarray(ids), each) for each in (source, target)]

    def __call__(self, labels: np.ndarray) -> float:
        """The share of edges within, less what chance would give."""
        source, target = (cp.asarray(labels)[each] for each in self.ends)
        degrees = cp.bincount(source) / len(source)
        return float((source == target).mean() - (degrees**2).sum())

    def at_least(self, ours: Any, theirs: Any) -> str:
        """Ours is no less."""
        found = self(ours.to_numpy()), self(by_vertex(theirs))
        assert found[0] >= found[1] - 1e-4, found
        return f"modularity {found[0]:.4f}, the rival's {found[1]:.4f}"


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

    keys = cp.concatenate(
        [s.astype(cp.int64) << 32 | t for s, t in ((source, target), (target, source))]
    )
    keys = cp.unique(keys[(keys >> 32) != (keys & 0xFFFFFFFF)])
    pairs = [(keys >> 32).astype(cp.int32), (keys & 0xFFFFFFFF).astype(cp.int32)]
    del keys

    def their_graph(symmetric: bool, ends: Any = None, weights: Any = None) -> Any:
        s, t = ends or (pairs if symmetric else (source, target))
        options = plc.GraphProperties(is_symmetric=symmetric, is_multigraph=not symmetric)

        def build() -> Any:
            return plc.SGGraph(
                resource_handle=handle,
                graph_properties=options,
                src_or_offset_array=s,
                dst_or_index_array=t,
                weight_array=weights,
                store_transposed=not symmetric and weights is None,
                renumber=True,
                do_expensive_check=False,
            )

        return build

    def their_lengths(graph: Any, start: int) -> Any:
        vertices, lengths, _ = plc.sssp(handle, graph, start, float("inf"), True, False)
        return vertices, cp.where(lengths > 1e300, -1, lengths)

    def finished(work: Any) -> Any:
        """Work whose result is there when it returns."""

        def run() -> Any:
            made = work()
            if not isinstance(made, hr.graph.Graph | tuple):
                hr.eval(made)
            _core.synchronize_device()
            return made

        return run

    def step(
        name: str, ours: Any, theirs: Any, same: Any, bar: float | None, *more: measure.Rival
    ) -> None:
        def its() -> Any:
            made = theirs()
            cp.cuda.Device().synchronize()
            return made

        is_there = theirs is not None and plc is not None
        rivals = [measure.Rival("cugraph", its, bar, same)] if is_there else []
        rivals += [rival._replace(work=finished(rival.work)) for rival in more]
        try:
            bench.step(name, finished(ours), rivals, same, rows=count)
        except Exception as problem:  # one engine must not end the run
            print(f"{name}: {type(problem).__name__}: {problem}"[:300])
        if theirs is not None and plc is None:
            bench.left_out(name, "cugraph", "not installed")

    def on_cpu(work: Any, bar: float | None, same: Any) -> measure.Rival:
        return measure.Rival("headrace on the CPU", work, bar, same)

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
    wide = [(x.astype(np.int64) * 0x1E3779B97F4A7C15) & 0x7FFFFFFFFFFFFFFF for x in ends]
    spread = hr.DataFrame({"source": wide[0], "target": wide[1]}).to("cuda")
    hr.eval(spread)
    wide_ends = [cp.asarray(x) for x in wide]
    step(
        "build of wide ids",
        lambda spread=spread: hr.graph.Graph(spread, directed=True, multigraph=True),
        None if plc is None else their_graph(False, wide_ends),
        any_answer,
        5,
    )
    del spread, wide, wide_ends
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
    many = np.random.default_rng(3).choice(ids, 64, replace=False)

    def their_searches() -> Any:
        each = [
            plc.bfs(handle, linked, cp.array([one], cp.int32), True, -1, False, False)
            for one in many
        ]
        order = [cp.argsort(found[2]) for found in each]
        far = cp.concatenate([found[0][at] for found, at in zip(each, order, strict=True)])
        return cp.arange(len(far)), cp.where(far == 2**31 - 1, -1, far)

    step(
        "64 breadth-first searches",
        lambda: both.bfs(many.tolist()).distance,
        their_searches,
        equal,
        8,
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
    if plc is not None:
        weighted = their_graph(True, weights=cp.ones(len(pairs[0]), cp.float32))()
    quality = Modularity(*pairs, ids)
    step(
        "louvain",
        lambda: both.louvain().community,
        lambda: plc.louvain(handle, weighted, 100, 1e-7, 1.0, False)[:2],
        quality.at_least,
        4,
    )
    step(
        "leiden",
        lambda: both.leiden().community,
        lambda: plc.leiden(handle, 1, weighted, 100, 1.0, 1.0, False)[:2],
        quality.at_least,
        4,
    )
    chance = np.random.default_rng(2)
    sources = chance.choice(ids, 16, replace=False)
    step(
        "betweenness, 16 sources",
        lambda: both.betweenness_centrality(sources=sources.tolist(), normalized=False).betweenness,
        lambda: plc.betweenness_centrality(
            handle, linked, cp.asarray(sources, cp.int32), None, False, False, False
        ),
        alike,
        2,
    )
    asked = hr.DataFrame({"first": chance.choice(ids, 10**7), "second": chance.choice(ids, 10**7)})
    asked = asked[asked["first"] != asked.second].to("cuda")
    hr.eval(asked)
    theirs = [cp.asarray(asked[name].to_numpy(), cp.int32) for name in asked.columns]
    step(
        "jaccard of 10^7 pairs",
        lambda: both.jaccard(asked).jaccard,
        lambda: plc.jaccard_coefficients(handle, linked, *theirs, False, False),
        same_values,
        3,
    )
    starts = hr.DataFrame({"start": chance.choice(ids, 10**6)}).to("cuda").start
    hr.eval(starts)
    their_starts = cp.asarray(starts.to_numpy(), cp.int32)
    step(
        "10^6 random walks of 20 steps",
        lambda: both.random_walks(starts, length=20, weight=None),
        lambda: plc.uniform_random_walks(handle, linked, their_starts, 20, 1),
        other_draws,
        2,
    )
    few, their_few = starts.head(10**5), their_starts[: 10**5]
    hr.eval(few)
    step(
        "10^5 walks by node2vec",
        lambda: both.random_walks(few, length=20, p=0.5, q=2, weight=None),
        lambda: plc.node2vec_random_walks(handle, weighted, their_few, 20, 0.5, 2.0, 1),
        other_draws,
        2,
    )
    seeds = chance.choice(ids, 1024, replace=False)
    step(
        "neighbour sample, 1024 seeds",
        lambda: both.neighbor_sample(seeds, [15, 10, 5]),
        lambda: plc.homogeneous_uniform_neighbor_sample(
            handle,
            linked,
            cp.asarray(seeds, cp.int32),
            None,
            np.array([15, 10, 5], np.int32),
            with_replacement=False,
            do_expensive_check=False,
            random_state=1,
        ),
        other_draws,
        1.2,
    )
    lengths = np.random.default_rng(5).integers(1, 256, count).astype(np.float64)
    roads = hr.DataFrame({"source": ends[0], "target": ends[1], "weight": lengths}).to("cuda")
    far = hr.graph.Graph(roads, weight="weight", directed=True, multigraph=True)
    near_by = far.to("cpu")
    theirs = None
    if plc is not None:
        theirs = their_graph(False, weights=cp.asarray(lengths))()
    step(
        "shortest paths, weights 1 to 255",
        lambda far=far: far.shortest_path_length(start, weight="weight").distance,
        lambda theirs=theirs: their_lengths(theirs, start),
        equal,
        2,
        on_cpu(
            lambda far=near_by: far.shortest_path_length(start, weight="weight").distance,
            1,
            same_series,
        ),
    )
    del roads, far, near_by, theirs
    edges = grid_edges(2000)
    table = hr.DataFrame(dict(zip(("source", "target", "weight"), edges, strict=True)))
    grid = hr.graph.Graph(table.to("cuda"), weight="weight")
    plain_grid = grid.to("cpu")
    square = None
    if plc is not None:
        there_and_back = [cp.asarray(np.concatenate([a, b])) for a, b in (edges[:2], edges[1::-1])]
        square = their_graph(True, there_and_back, cp.asarray(np.tile(edges[2], 2)))()

    def their_levels() -> Any:
        found = plc.bfs(handle, square, cp.array([0], cp.int32), False, -1, False, False)
        return found[2], found[0]

    name = "of a grid of 2000 x 2000"
    step(
        f"bfs {name}",
        lambda: grid.bfs(0).distance,
        their_levels,
        equal,
        3,
        on_cpu(lambda: plain_grid.bfs(0).distance, None, same_series),
    )
    step(
        f"shortest paths {name}",
        lambda: grid.shortest_path_length(0, weight="weight").distance,
        lambda: their_lengths(square, 0),
        equal,
        2,
        on_cpu(
            lambda: plain_grid.shortest_path_length(0, weight="weight").distance,
            None,
            same_series,
        ),
    )
    here = directed.to("cpu")
    options = {"max_iter": rounds, "tol": 0.0, "strict": False}
    for name, more in (
        ("hits", {}),
        ("katz_centrality", {"alpha": 1e-7}),
        ("eigenvector_centrality", {}),
    ):
        step(
            f"{name}, {rounds} iterations",
            partial(getattr(directed, name), **options, **more),
            None,
            None,
            None,
            on_cpu(partial(getattr(here, name), **options, **more), 1, same_on_host),
        )
    flat = cp.random.default_rng(6).integers(0, 1 << scale, (2, count), dtype=cp.int32)
    table = hr.DataFrame({"source": cp.asnumpy(flat[0]), "target": cp.asnumpy(flat[1])}).to("cuda")
    uniform = hr.graph.Graph(table, directed=True, multigraph=True)
    hr.eval(uniform.pagerank())
    theirs = None if plc is None else their_graph(False, list(flat))()
    step(
        "pagerank of a uniform graph",
        lambda: uniform.pagerank(max_iter=rounds, tol=0.0, strict=False).pagerank,
        lambda: plc.pagerank(
            handle, theirs, None, None, None, None, ALPHA, 0.0, rounds, False, False
        )[:2],
        near(1e-6),
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
