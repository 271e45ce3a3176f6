# SPDX-License-Identifier: Apache-2.0
"""What NetworkX asks at its import: which functions Headrace has. Imports nothing."""

FUNCTIONS = """
    adjacency_matrix all_pairs_all_shortest_paths all_pairs_bellman_ford_path
    all_pairs_bellman_ford_path_length all_pairs_dijkstra all_pairs_dijkstra_path
    all_pairs_dijkstra_path_length all_pairs_shortest_path all_pairs_shortest_path_length
    all_shortest_paths ancestors average_clustering average_shortest_path_length barbell_graph
    bellman_ford_path bellman_ford_path_length bellman_ford_predecessor_and_distance
    bethe_hessian_matrix betweenness_centrality bfs_edges bfs_layers bfs_predecessors
    bfs_successors bfs_tree biadjacency_matrix bidirectional_dijkstra
    bidirectional_shortest_path bull_graph caveman_graph chvatal_graph circular_ladder_graph
    closeness_centrality clustering complement complete_bipartite_graph complete_graph
    complete_multipartite_graph connected_caveman_graph connected_components
    convert_node_labels_to_integers core_number cubical_graph cycle_graph
    davis_southern_women_graph degree_centrality desargues_graph descendants
    descendants_at_distance diamond_graph dijkstra_path dijkstra_path_length
    dijkstra_predecessor_and_distance directed_combinatorial_laplacian_matrix
    directed_laplacian_matrix directed_modularity_matrix dodecahedral_graph
    edge_betweenness_centrality ego_graph eigenvector_centrality empty_graph
    florentine_families_graph forceatlas2_layout from_biadjacency_matrix from_dict_of_lists
    from_edgelist from_numpy_array from_pandas_edgelist from_scipy_sparse_array frucht_graph
    generic_bfs_edges google_matrix grid_2d_graph harmonic_centrality has_path heawood_graph
    hits house_graph house_x_graph icosahedral_graph in_degree_centrality is_arborescence
    is_bipartite is_branching is_connected is_directed_acyclic_graph is_forest is_isolate
    is_negatively_weighted is_strongly_connected is_tree is_weakly_connected isolates
    jaccard_coefficient k_core k_corona k_crust k_shell k_truss karate_club_graph
    katz_centrality krackhardt_kite_graph ladder_graph laplacian_matrix leiden_communities
    les_miserables_graph lollipop_graph louvain_communities lowest_common_ancestor
    max_weight_matching maximal_matching maximum_spanning_edges maximum_spanning_tree
    minimum_spanning_edges minimum_spanning_tree modularity modularity_matrix
    moebius_kantor_graph multi_source_dijkstra multi_source_dijkstra_path
    multi_source_dijkstra_path_length node_connected_component normalized_laplacian_matrix
    null_graph number_connected_components number_of_isolates number_of_selfloops
    number_strongly_connected_components number_weakly_connected_components octahedral_graph
    out_degree_centrality overall_reciprocity pagerank pappus_graph path_graph petersen_graph
    predecessor reciprocity relabel_nodes reverse sedgewick_maze_graph shortest_path
    shortest_path_length single_source_all_shortest_paths single_source_bellman_ford
    single_source_bellman_ford_path single_source_bellman_ford_path_length
    single_source_dijkstra single_source_dijkstra_path single_source_dijkstra_path_length
    single_source_shortest_path single_source_shortest_path_length single_target_shortest_path
    single_target_shortest_path_length star_graph tadpole_graph tetrahedral_graph
    to_dict_of_lists to_numpy_array to_scipy_sparse_array tournament_matrix transitivity
    triangles trivial_graph truncated_cube_graph truncated_tetrahedron_graph turan_graph
    tutte_graph weakly_connected_components wheel_graph
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
