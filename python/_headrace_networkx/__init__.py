# SPDX-License-Identifier: Apache-2.0
"""What NetworkX asks at its import: which functions Headrace has. Imports nothing."""

FUNCTIONS = """
    adjacency_matrix all_pairs_dijkstra all_pairs_dijkstra_path all_pairs_dijkstra_path_length
    all_pairs_shortest_path all_pairs_shortest_path_length ancestors average_clustering
    bfs_edges bfs_layers bfs_predecessors bfs_successors bfs_tree clustering
    connected_components core_number degree_centrality descendants descendants_at_distance
    dijkstra_path dijkstra_path_length dijkstra_predecessor_and_distance
    directed_combinatorial_laplacian_matrix directed_laplacian_matrix generic_bfs_edges
    google_matrix has_path in_degree_centrality is_arborescence is_bipartite is_branching
    is_connected is_forest is_negatively_weighted is_tree is_weakly_connected isolates k_core
    k_corona k_crust k_shell laplacian_matrix leiden_communities louvain_communities modularity
    multi_source_dijkstra multi_source_dijkstra_path multi_source_dijkstra_path_length
    node_connected_component normalized_laplacian_matrix number_connected_components
    number_of_isolates number_of_selfloops number_weakly_connected_components
    out_degree_centrality overall_reciprocity pagerank single_source_dijkstra
    single_source_dijkstra_path single_source_dijkstra_path_length single_source_shortest_path
    single_source_shortest_path_length single_target_shortest_path
    single_target_shortest_path_length to_numpy_array to_scipy_sparse_array tournament_matrix
    transitivity triangles weakly_connected_components
"""


def get_info() -> dict[str, object]:
    """Describe the backend to NetworkX."""
    return {
        "backend_name": "headrace",
        "project": "headrace",
        "package": "headrace.networkx",
        "short_summary": "C++ kernels, the same bits for any number of threads.",
        "functions": {name: {} for name in FUNCTIONS.split()},
    }
