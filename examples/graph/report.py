# SPDX-License-Identifier: Apache-2.0
"""Two graphs ranked, split and drawn: python examples/graph/report.py [--help]."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from graphs import planted, power_grid
from headrace.demo.meter import Meter
from headrace.learn.metrics import adjusted_rand_score

import headrace as hr


class Result(NamedTuple):
    """What was found on a graph, and what it took."""

    title: str
    graph: hr.graph.Graph
    found: hr.DataFrame  #: a row a vertex: rank, community, component, core, place
    modularity: float
    meter: Meter
    picture: hr.plot.Plot
    digest: str


def look(title: str, make: Callable[[], hr.graph.Graph], labels: int) -> Result:
    """Builds a graph, asks it, and draws it; each step is measured."""
    meter = Meter()
    try:
        with meter.step("1 read and build"):
            graph = make()
        rows = graph.number_of_edges
        with meter.step("2 rank", rows):
            found = graph.pagerank()
            hr.eval(found)
        with meter.step("3 communities", rows):
            found = found.assign(community=graph.leiden().community)
            hr.eval(found)
        with meter.step("4 components and cores", rows):
            found = found.assign(
                component=graph.connected_components().component, core=graph.core_number().core
            )
            hr.eval(found)
        with meter.step("5 layout", rows):
            places = graph.layout(iterations=50)
            found = found.assign(x=places.x, y=places.y)
            hr.eval(found)
        with meter.step("6 picture", rows):
            picture = hr.plot.graph(
                graph, found[["vertex", "x", "y"]], color=found[["vertex", "community"]],
                size=found[["vertex", "pagerank"]], labels=labels, title=title,
            )  # fmt: skip
    finally:
        meter.close()
    digest = hashlib.sha256()
    for name in found.columns:
        digest.update(np.ascontiguousarray(found[name].to_numpy()).tobytes())
    return Result(
        title, graph, found, graph.modularity(found[["vertex", "community"]]), meter, picture,
        digest.hexdigest()[:16],
    )  # fmt: skip


def facts(result: Result) -> dict[str, object]:
    """Key figures of one graph."""
    found, steps = result.found, result.meter.steps
    return {
        "vertices": len(result.graph),
        "edges": result.graph.number_of_edges(),
        "communities": int(found.community.max()) + 1,
        "modularity": round(result.modularity, 4),
        "components": int(found.component.max()) + 1,
        "seconds": round(sum(each.seconds for each in steps), 2),
        "peak of the engine": f"{max(each.peak for each in steps) / 1e6:.3g} MB",
        "bytes copied": sum(each.copied for each in steps),
        "result": result.digest,
    }


def save(path: Path, results: list[Result]) -> None:
    """Write the report page."""
    report = hr.report.Report(
        "Graphs: ranked, split and drawn",
        "Europe's power grid, and a made graph whose communities are known",
    )
    both = [facts(each) for each in results]
    rows = [[name, *(each[name] for each in both)] for name in both[0]]
    report.add_table("What was found", ["", *(each.title for each in results)], rows)
    for result in results:
        report.add_plot(
            result.title,
            result.picture,
            note="Colour: the largest communities by Leiden; area: PageRank. Wheel, drag, and the "
            "pointer's name; near enough, edges are drawn one by one.",
        )
        best = result.found.sort_values("pagerank", ascending=False).head(8)
        report.add_table(
            f"Highest ranks, {result.title}",
            ["vertex", "PageRank", "edges", "community"],
            list(zip(
                best.vertex.astype("string").to_list(), best.pagerank.to_list(),
                result.graph.degree(best.vertex.to_list()).degree.to_list(),
                best.community.astype("string").to_list(), strict=True,
            )),
            half=True,
        )  # fmt: skip
        sizes = result.found.groupby("community").agg(
            members=("vertex", "size"), rank=("pagerank", "sum")
        )
        largest = sizes.reset_index().sort_values("members", ascending=False).head(8)
        largest = largest.astype({"community": "string"})
        report.add_table(
            f"Largest communities, {result.title}",
            ["community", "vertices", "share of rank"],
            list(zip(*(largest[name].to_list() for name in largest.columns), strict=True)),
            bars=["share of rank"],
            half=True,
        )
        report.add_table(f"Steps, {result.title}", *result.meter.table())
    report.add_table("Environment", ["what", "value"], list(hr.info().items()))
    report.save(path)


def main() -> int:
    """Look at both graphs; exit status 1 if planted communities are not found again."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--vertices", type=int, default=100_000, help="of the made graph (100000)")
    parser.add_argument("--groups", type=int, default=100, help="planted in it (100)")
    parser.add_argument("--cache", type=Path, default=Path("build/demo"), help="for the package")
    parser.add_argument("--output", type=Path, default=Path("graph-report"), help="a folder")
    options = parser.parse_args()
    if not 2 <= options.groups <= options.vertices // 10:
        parser.error(f"--groups {options.groups}: expected 2 to a tenth of the vertices")
    text = planted(options.vertices, options.groups)
    results = [
        look("power grid", lambda: power_grid(options.cache), 12),
        look(
            "planted communities",
            lambda: hr.graph.read_edgelist(text, nodes=options.vertices),
            8,
        ),
    ]
    save(options.output / "index.html", results)
    found = results[1].found
    score = adjusted_rand_score(found.vertex.to_numpy() % options.groups, found.community)
    for result in results:
        print(f"{result.title}\n{result.meter.text()}")
        print(*(f"{name}: {value:,}" if isinstance(value, int) else f"{name}: {value}"
                for name, value in facts(result).items()), sep="\n", end="\n\n")  # fmt: skip
    print(f"planted communities found again, adjusted Rand index: {score:.4f}")
    print(f"report: {options.output / 'index.html'}")
    return int(score < 0.9)


if __name__ == "__main__":
    sys.exit(main())
