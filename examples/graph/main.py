# SPDX-License-Identifier: Apache-2.0
"""Ranks and communities of a club: python examples/graph/main.py [EDGES.csv SOURCE TARGET WEIGHT].

Without words: Zachary's karate club, which split in two.
"""

import sys

import headrace as hr

WORDS = ("testdata/graph/club.csv", "source", "target", "weight")
path, source, target, weight = sys.argv[1:] or WORDS

edges = hr.read_csv(path)
graph = hr.graph.Graph(edges, source=source, target=target, weight=weight)

# What algorithms find are frames in the rows of the vertices: their columns are put together.
communities = graph.louvain()
members = graph.pagerank().assign(
    community=communities.community,
    triangles=graph.triangle_count()["count"],
    core=graph.core_number().core,
)
best = members.sort_values("pagerank", ascending=False)
print(best.head(5).to_string(index=False))
sizes = members.groupby("community").agg(members=("vertex", "size"), pagerank=("pagerank", "sum"))
print(sizes.reset_index().to_string(index=False))

steps = graph.bfs(graph.nodes().vertex.to_list()[0])
print(f"vertices {graph.number_of_nodes()}, edges {graph.number_of_edges()}")
print(f"modularity {graph.modularity(communities):.17g}")
print(f"components {graph.connected_components().component.max() + 1}")
print(f"mean distance from the first member {steps.distance.mean():.17g}")
places = graph.layout()
total = sum(value * value for axis in ("x", "y") for value in places[axis].to_list())
print(f"sum of squares of places {total:.17g}")
