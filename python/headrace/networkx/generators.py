# SPDX-License-Identifier: Apache-2.0
"""Graphs that NetworkX's own code makes, given back as ours: every later call on them runs here."""

from __future__ import annotations

from headrace.networkx.table import made

made("""
    barbell_graph bull_graph caveman_graph chvatal_graph circular_ladder_graph complement
    complete_bipartite_graph complete_graph complete_multipartite_graph connected_caveman_graph
    convert_node_labels_to_integers cubical_graph cycle_graph davis_southern_women_graph
    desargues_graph diamond_graph dodecahedral_graph empty_graph florentine_families_graph
    from_biadjacency_matrix from_dict_of_lists from_edgelist from_numpy_array from_pandas_edgelist
    from_scipy_sparse_array frucht_graph grid_2d_graph heawood_graph house_graph house_x_graph
    icosahedral_graph karate_club_graph krackhardt_kite_graph ladder_graph les_miserables_graph
    lollipop_graph moebius_kantor_graph null_graph octahedral_graph pappus_graph path_graph
    petersen_graph relabel_nodes reverse sedgewick_maze_graph star_graph tadpole_graph
    tetrahedral_graph trivial_graph truncated_cube_graph truncated_tetrahedron_graph turan_graph
    tutte_graph wheel_graph
""")
