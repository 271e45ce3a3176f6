# SPDX-License-Identifier: Apache-2.0
"""Graphs with NetworkX's words: results are frames, the same for any number of threads.

>>> edges = hr.DataFrame({"src": [0, 1, 2, 2], "dst": [1, 2, 0, 3]})
>>> graph = hr.graph.Graph(edges, directed=True)
>>> graph.pagerank().sort_values("pagerank", ascending=False).vertex.to_list()[:2]
[2, 1]
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.facade import on_first_use

if TYPE_CHECKING:
    from headrace.graph.centrality import betweenness_centrality as betweenness_centrality
    from headrace.graph.centrality import closeness_centrality as closeness_centrality
    from headrace.graph.centrality import edge_betweenness_centrality as edge_betweenness_centrality
    from headrace.graph.centrality import harmonic_centrality as harmonic_centrality
    from headrace.graph.communities import ecg as ecg
    from headrace.graph.communities import label_propagation as label_propagation
    from headrace.graph.communities import leiden as leiden
    from headrace.graph.communities import louvain as louvain
    from headrace.graph.communities import modularity as modularity
    from headrace.graph.components import condensation as condensation
    from headrace.graph.components import connected_components as connected_components
    from headrace.graph.components import (
        strongly_connected_components as strongly_connected_components,
    )
    from headrace.graph.components import weakly_connected_components as weakly_connected_components
    from headrace.graph.degrees import degree as degree
    from headrace.graph.degrees import degree_centrality as degree_centrality
    from headrace.graph.degrees import in_degree as in_degree
    from headrace.graph.degrees import out_degree as out_degree
    from headrace.graph.density import average_clustering as average_clustering
    from headrace.graph.density import clustering as clustering
    from headrace.graph.density import core_number as core_number
    from headrace.graph.density import edge_support as edge_support
    from headrace.graph.density import k_core as k_core
    from headrace.graph.density import k_truss as k_truss
    from headrace.graph.density import transitivity as transitivity
    from headrace.graph.density import triangle_count as triangle_count
    from headrace.graph.files import read_edgelist as read_edgelist
    from headrace.graph.files import read_matrix_market as read_matrix_market
    from headrace.graph.files import write_matrix_market as write_matrix_market
    from headrace.graph.flow import maximum_flow as maximum_flow
    from headrace.graph.flow import minimum_cut as minimum_cut
    from headrace.graph.graph import Graph as Graph
    from headrace.graph.graphml import read_graphml as read_graphml
    from headrace.graph.graphml import write_graphml as write_graphml
    from headrace.graph.hypergraph import hypergraph as hypergraph
    from headrace.graph.layouts import layout as layout
    from headrace.graph.matching import approx_weighted_matching as approx_weighted_matching
    from headrace.graph.matching import bipartite_color as bipartite_color
    from headrace.graph.matching import hopcroft_karp_matching as hopcroft_karp_matching
    from headrace.graph.matching import is_bipartite as is_bipartite
    from headrace.graph.matching import max_weight_matching as max_weight_matching
    from headrace.graph.matching import maximal_matching as maximal_matching
    from headrace.graph.matching import projected_graph as projected_graph
    from headrace.graph.matching import weighted_projected_graph as weighted_projected_graph
    from headrace.graph.order import is_directed_acyclic_graph as is_directed_acyclic_graph
    from headrace.graph.order import topological_generations as topological_generations
    from headrace.graph.order import topological_sort as topological_sort
    from headrace.graph.ranks import eigenvector_centrality as eigenvector_centrality
    from headrace.graph.ranks import hits as hits
    from headrace.graph.ranks import katz_centrality as katz_centrality
    from headrace.graph.ranks import pagerank as pagerank
    from headrace.graph.sampling import neighbor_sample as neighbor_sample
    from headrace.graph.sampling import random_walks as random_walks
    from headrace.graph.similarity import cosine as cosine
    from headrace.graph.similarity import jaccard as jaccard
    from headrace.graph.similarity import overlap as overlap
    from headrace.graph.similarity import sorensen as sorensen
    from headrace.graph.similarity import two_hop_neighbors as two_hop_neighbors
    from headrace.graph.sources import rmat as rmat
    from headrace.graph.spanning import maximum_spanning_edges as maximum_spanning_edges
    from headrace.graph.spanning import maximum_spanning_tree as maximum_spanning_tree
    from headrace.graph.spanning import minimum_spanning_edges as minimum_spanning_edges
    from headrace.graph.spanning import minimum_spanning_tree as minimum_spanning_tree
    from headrace.graph.traversal import all_shortest_paths as all_shortest_paths
    from headrace.graph.traversal import bellman_ford as bellman_ford
    from headrace.graph.traversal import bfs as bfs
    from headrace.graph.traversal import ego_graph as ego_graph
    from headrace.graph.traversal import shortest_path as shortest_path
    from headrace.graph.traversal import shortest_path_length as shortest_path_length

#: Where each public name is defined; a module is imported on first use.
_MODULES = {
    "centrality": (
        "betweenness_centrality closeness_centrality edge_betweenness_centrality "
        "harmonic_centrality"
    ),
    "communities": "ecg label_propagation leiden louvain modularity",
    "components": (
        "condensation connected_components strongly_connected_components "
        "weakly_connected_components"
    ),
    "degrees": "degree degree_centrality in_degree out_degree",
    "density": (
        "average_clustering clustering core_number edge_support k_core k_truss "
        "transitivity triangle_count"
    ),
    "files": "read_edgelist read_matrix_market write_matrix_market",
    "flow": "maximum_flow minimum_cut",
    "graph": "Graph",
    "graphml": "read_graphml write_graphml",
    "hypergraph": "hypergraph",
    "layouts": "layout",
    "matching": (
        "approx_weighted_matching bipartite_color hopcroft_karp_matching is_bipartite "
        "max_weight_matching maximal_matching projected_graph weighted_projected_graph"
    ),
    "order": "is_directed_acyclic_graph topological_generations topological_sort",
    "ranks": "eigenvector_centrality hits katz_centrality pagerank",
    "sampling": "neighbor_sample random_walks",
    "similarity": "cosine jaccard overlap sorensen two_hop_neighbors",
    "sources": "rmat",
    "spanning": (
        "maximum_spanning_edges maximum_spanning_tree minimum_spanning_edges minimum_spanning_tree"
    ),
    "traversal": (
        "all_shortest_paths bellman_ford bfs ego_graph shortest_path shortest_path_length"
    ),
}

__all__ = [
    "Graph",
    "all_shortest_paths",
    "approx_weighted_matching",
    "average_clustering",
    "bellman_ford",
    "betweenness_centrality",
    "bfs",
    "bipartite_color",
    "closeness_centrality",
    "clustering",
    "condensation",
    "connected_components",
    "core_number",
    "cosine",
    "degree",
    "degree_centrality",
    "ecg",
    "edge_betweenness_centrality",
    "edge_support",
    "ego_graph",
    "eigenvector_centrality",
    "harmonic_centrality",
    "hits",
    "hopcroft_karp_matching",
    "hypergraph",
    "in_degree",
    "is_bipartite",
    "is_directed_acyclic_graph",
    "jaccard",
    "k_core",
    "k_truss",
    "katz_centrality",
    "label_propagation",
    "layout",
    "leiden",
    "louvain",
    "max_weight_matching",
    "maximal_matching",
    "maximum_flow",
    "maximum_spanning_edges",
    "maximum_spanning_tree",
    "minimum_cut",
    "minimum_spanning_edges",
    "minimum_spanning_tree",
    "modularity",
    "neighbor_sample",
    "out_degree",
    "overlap",
    "pagerank",
    "projected_graph",
    "random_walks",
    "read_edgelist",
    "read_graphml",
    "read_matrix_market",
    "rmat",
    "shortest_path",
    "shortest_path_length",
    "sorensen",
    "strongly_connected_components",
    "topological_generations",
    "topological_sort",
    "transitivity",
    "triangle_count",
    "two_hop_neighbors",
    "weakly_connected_components",
    "weighted_projected_graph",
    "write_graphml",
    "write_matrix_market",
]
#: Those that are methods of graphs too.
_ALGORITHMS = frozenset(
    name
    for name in " ".join(_MODULES.values()).split()
    if not name.startswith("read_") and name not in ("Graph", "hypergraph", "rmat")
)


def __dir__() -> list[str]:
    """The public names."""
    return __all__


__getattr__ = on_first_use(__name__, _MODULES)
