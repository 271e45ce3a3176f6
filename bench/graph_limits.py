# SPDX-License-Identifier: Apache-2.0
"""Graphs under a limit: build, 20 steps of PageRank and components, each run in a process of its
own, with the bits of the run without a limit.

`python bench/graph_limits.py SCALE [LIMIT ...]` makes an R-MAT graph of 2^SCALE vertices and 16
edges each, undirected, without a limit and under each one, in GB; a LIMIT of "half" is half the
bytes of the graph, from when it is built.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import time
from typing import Any

EDGE_FACTOR = 16
STEPS = 20


def work(scale: int, word: str) -> dict[str, Any]:
    """One run: seconds of each step, the highest use of memory, and a hash of the results."""
    import numpy as np

    import headrace as hr

    limit = 0 if word == "half" else int(float(word) * 1e9)
    hr.memory.limit(limit or None)
    seconds = {}

    def timed(name: str, run: Any) -> Any:
        start = time.perf_counter()
        made = run()
        seconds[name] = round(time.perf_counter() - start, 2)
        return made

    edges = hr.graph.rmat(scale, EDGE_FACTOR, seed=1)
    timed("edges", lambda: hr.eval(edges))
    before = hr.memory.stats().used_bytes
    graph = timed("build", lambda: hr.graph.Graph(edges))
    built = hr.memory.stats().peak_bytes
    graph_bytes = 8 * graph.number_of_edges() + 8 * len(graph)
    if word == "half":
        del edges
        limit = graph_bytes // 2
        hr.memory.limit(limit)
    ranks = timed(
        "pagerank",
        lambda: np.asarray(graph.pagerank(max_iter=STEPS, tol=1e-300, strict=False).pagerank),
    )
    parts = timed("components", lambda: np.asarray(graph.connected_components().component))
    digest = hashlib.sha256(ranks.tobytes() + parts.tobytes()).hexdigest()[:16]
    count = EDGE_FACTOR << scale
    return {
        "edges": count,
        "limit_gb": round(limit / 1e9, 2),
        "seconds": seconds,
        "graph_bytes": graph_bytes,
        "input_bytes_an_edge": round(before / count, 1),
        "build_peak_an_edge": round(built / count, 1),
        "peak_gb": round(hr.memory.stats().peak_bytes / 1e9, 2),
        "resident_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        "hash": digest,
    }


def main() -> None:
    """Runs without a limit, then under each."""
    if sys.argv[1] == "run":
        print(json.dumps(work(int(sys.argv[2]), sys.argv[3])))
        return
    found: list[dict[str, Any]] = []
    for word in ["0", *sys.argv[2:]]:
        line = [sys.executable, __file__, "run", sys.argv[1], word]
        run = subprocess.run(line, capture_output=True, text=True, check=False)
        if run.returncode:
            raised = (run.stderr.strip().splitlines() or ["killed"])[-1]
            print(json.dumps({"limit": word, "raised": raised[:300]}), flush=True)
            continue
        found.append(json.loads(run.stdout))
        print(json.dumps({**found[-1], "same": found[-1]["hash"] == found[0]["hash"]}), flush=True)


if __name__ == "__main__":
    main()
