# SPDX-License-Identifier: Apache-2.0
"""NetworkX leaves its functions to us: same numbers, same types, same order, its own errors."""

import functools
import math
import random
import subprocess
import sys
from types import GeneratorType

import numpy as np
import pytest
from graphs import atlas, random_graphs, same_for_any_threads

import headrace as hr

networkx = pytest.importorskip("networkx")
backend = pytest.importorskip("headrace.networkx")
FUNCTIONS = backend.FUNCTIONS


def words(text):
    return text.split()


# Of each function how tests call it: from a graph and two of its nodes to arguments.
PLAIN = [lambda _g, _u, _v: ((), {})]
ONE_NODE = [lambda _g, u, _v: ((u,), {}), lambda _g, u, _v: ((u, 1), {})]
TWO_NODES = [lambda _g, u, v: ((u, v), {}), lambda _g, u, _v: ((u, u), {})]
SEARCH = [lambda _g, u, _v: ((u,), {}), lambda _g, u, _v: ((u,), {"depth_limit": 2})]
BY_WEIGHT = [lambda _g, u, _v: ((u,), {}), lambda _g, u, _v: ((u,), {"cutoff": 4})]
SOME_NODES = [*PLAIN, lambda _g, u, v: (([u, v],), {}), lambda _g, u, _v: ((u,), {})]
PATHS = [
    *TWO_NODES,
    lambda _g, u, v: ((u, v, "weight"), {}),
    lambda _g, u, v: ((u, v, "weight", "bellman-ford"), {}),
    lambda _g, u, _v: ((), {"source": u}),
    lambda _g, _u, v: ((), {"target": v, "weight": "weight"}),
    lambda _g, _u, _v: ((), {}),
]
TREES = [*PLAIN, lambda _g, _u, _v: ((), {"data": False, "weight": "none"})]
CALLS = {
    **dict.fromkeys(
        words("""
            adjacency_matrix all_pairs_dijkstra all_pairs_dijkstra_path
            all_pairs_dijkstra_path_length all_pairs_shortest_path all_pairs_shortest_path_length
            connected_components core_number degree_centrality
            in_degree_centrality is_arborescence is_directed_acyclic_graph is_strongly_connected
            number_strongly_connected_components
            is_bipartite is_branching is_connected is_forest is_negatively_weighted is_tree
            is_weakly_connected isolates k_core k_crust k_shell laplacian_matrix
            number_connected_components number_of_isolates number_of_selfloops
            number_weakly_connected_components out_degree_centrality overall_reciprocity
            transitivity weakly_connected_components
            maximal_matching maximum_spanning_tree minimum_spanning_tree
        """),
        PLAIN,
    ),
    **dict.fromkeys(("ancestors", "descendants", "node_connected_component"), ONE_NODE[:1]),
    "is_isolate": ONE_NODE[:1],
    "edge_betweenness_centrality": [
        *PLAIN,
        lambda g, _u, _v: ((), {"k": max(len(g) // 2, 1), "seed": 3, "weight": "weight"}),
        lambda _g, _u, _v: ((), {"normalized": False}),
    ],
    "jaccard_coefficient": [*PLAIN, lambda _g, u, v: (([(u, v), (v, u), (u, u)],), {})],
    "k_truss": [lambda _g, _u, _v: ((3,), {}), lambda _g, _u, _v: ((4,), {})],
    "lowest_common_ancestor": TWO_NODES,
    "reciprocity": SOME_NODES,
    **dict.fromkeys(("maximum_spanning_edges", "minimum_spanning_edges"), TREES),
    "to_dict_of_lists": [*PLAIN, lambda _g, u, v: (([v, u],), {})],
    **dict.fromkeys(("bfs_edges", "bfs_predecessors", "bfs_successors", "bfs_tree"), SEARCH),
    **dict.fromkeys(("triangles", "clustering"), SOME_NODES),
    "all_shortest_paths": [lambda _g, u, v: ((u, v), {}), lambda _g, u, v: ((u, v, "weight"), {})],
    **dict.fromkeys(("all_pairs_all_shortest_paths", "average_shortest_path_length"), PLAIN),
    **dict.fromkeys(("all_pairs_bellman_ford_path", "all_pairs_bellman_ford_path_length"), PLAIN),
    **dict.fromkeys(("bellman_ford_path", "bellman_ford_path_length"), TWO_NODES),
    "bellman_ford_predecessor_and_distance": [
        lambda _g, u, _v: ((u,), {}),
        lambda _g, u, _v: ((u,), {"heuristic": True}),
    ],
    **dict.fromkeys(("bidirectional_dijkstra", "bidirectional_shortest_path"), TWO_NODES),
    "ego_graph": [*ONE_NODE, lambda _g, u, _v: ((u, 3), {"distance": "weight"})],
    "predecessor": [
        lambda _g, u, _v: ((u,), {"return_seen": True}),
        lambda _g, u, v: ((u, v), {"return_seen": True}),
        lambda _g, u, v: ((u, v, 2), {}),
    ],
    **dict.fromkeys(("shortest_path", "shortest_path_length"), PATHS),
    "single_source_all_shortest_paths": BY_WEIGHT[:1],
    **dict.fromkeys(
        words("""
            single_source_bellman_ford single_source_bellman_ford_path
            single_source_bellman_ford_path_length
        """),
        ONE_NODE[:1],
    ),
    "betweenness_centrality": [
        *PLAIN,
        lambda _g, _u, _v: ((), {"endpoints": True, "normalized": False}),
        lambda g, _u, _v: ((), {"k": max(len(g) // 2, 1), "seed": 3, "weight": "weight"}),
    ],
    "closeness_centrality": [
        *PLAIN,
        lambda _g, u, _v: ((u,), {"wf_improved": False}),
        lambda _g, _u, _v: ((), {"distance": "weight"}),
    ],
    "harmonic_centrality": [*PLAIN, lambda _g, _u, _v: ((), {"distance": "weight"})],
    "average_clustering": [*PLAIN, lambda _g, _u, _v: ((), {"count_zeros": False})],
    "bfs_layers": [ONE_NODE[0], lambda _g, u, v: (([u, v],), {})],
    "descendants_at_distance": ONE_NODE[1:],
    "dijkstra_path": TWO_NODES,
    "dijkstra_path_length": TWO_NODES,
    "dijkstra_predecessor_and_distance": BY_WEIGHT,
    "generic_bfs_edges": SEARCH,
    "google_matrix": PLAIN,
    "has_path": TWO_NODES,
    "k_corona": [lambda _g, _u, _v: ((2,), {})],
    "multi_source_dijkstra": [lambda _g, u, v: (([u, v],), {})],
    "multi_source_dijkstra_path": [lambda _g, u, v: (([u, v],), {"cutoff": 3})],
    "multi_source_dijkstra_path_length": [lambda _g, u, v: (([u, v],), {"weight": None})],
    "pagerank": [*PLAIN, lambda _g, u, _v: ((), {"personalization": {u: 1}, "weight": None})],
    "single_source_dijkstra": BY_WEIGHT,
    "single_source_dijkstra_path": BY_WEIGHT,
    "single_source_dijkstra_path_length": BY_WEIGHT,
    "single_source_shortest_path": ONE_NODE,
    "single_source_shortest_path_length": ONE_NODE,
    "single_target_shortest_path": ONE_NODE,
    "single_target_shortest_path_length": ONE_NODE,
    "to_numpy_array": [*PLAIN, lambda _g, u, v: (([v, u],), {})],
    "to_scipy_sparse_array": [*PLAIN, lambda _g, u, v: (([v, u],), {"weight": None})],
}
#: Communities are compared by what they must be, matrices of few kinds by NetworkX's own tests.
OTHERS = words("""
    directed_combinatorial_laplacian_matrix directed_laplacian_matrix leiden_communities
    louvain_communities modularity normalized_laplacian_matrix tournament_matrix
    bethe_hessian_matrix directed_modularity_matrix eigenvector_centrality hits katz_centrality
    modularity_matrix max_weight_matching forceatlas2_layout biadjacency_matrix relabel_nodes
""")
MADE = words("""
    complete_bipartite_graph complete_graph cycle_graph empty_graph from_dict_of_lists from_edgelist
    from_numpy_array grid_2d_graph karate_club_graph les_miserables_graph path_graph star_graph
""")


def shown(value):
    """What is compared: order of dicts, lists and generators, types of numbers."""
    if isinstance(value, dict):
        return [(key, shown(each)) for key, each in value.items()]
    if isinstance(value, float):
        return ("float", round(value, 9) if math.isfinite(value) else str(value))
    if isinstance(value, np.ndarray):
        return (str(value.dtype), np.round(value, 9).tolist())
    if hasattr(value, "toarray"):
        return (value.format, shown(value.toarray()))
    if isinstance(value, networkx.Graph):
        return (list(value.nodes(data=True)), list(value.edges(data=True)))
    if isinstance(value, list | tuple | GeneratorType) or hasattr(value, "__next__"):
        return [shown(each) for each in value]
    return value


def outcome(function, graph, arguments, options):
    """A result, or the class and words of an error."""
    try:
        return shown(function(graph, *arguments, **options))
    except NotImplementedError:
        raise
    except Exception as error:
        return type(error), str(error)


def named(graph, seed):
    """The same graph with nodes of strings, in another order."""
    names = [f"n{i}" for i in graph]
    random.Random(seed).shuffle(names)
    return networkx.relabel_nodes(graph, dict(zip(graph, names, strict=True)))


def compare(graph, name, seed=0):
    """Compare NetworkX's own answer with ours, through its dispatch; true if ours ran."""
    ours = getattr(networkx, name, None)
    nodes = list(graph)
    chosen = random.Random(seed)
    u, v = chosen.choice(nodes), chosen.choice(nodes)
    ran = False
    for call in CALLS[name]:
        arguments, options = call(graph, u, v)
        expected = outcome(ours, graph, arguments, options)
        try:
            found = outcome(
                lambda *a, **k: ours(*a, **k, backend="headrace"), graph, arguments, options
            )
        except NotImplementedError:  # left to NetworkX
            continue
        assert found == expected, (name, arguments, options, list(graph.edges(data=True)))
        ran = True
    return ran


@functools.cache
def cases():
    """Seeds and graphs: a ninth of the atlas, then random ones with weights."""
    made = list(enumerate(atlas()[::9]))
    for kind in ({}, {"multigraph": True}):
        for seed, graph in enumerate(random_graphs(25, 3, weighted=True, **kind)):
            made.append((seed, named(graph, seed)))
    return made


@pytest.fixture(autouse=True)
def quiet():
    networkx.config.warnings_to_ignore.add("cache")
    yield
    networkx.config.warnings_to_ignore.discard("cache")


def test_networkx_knows_all_functions_and_imports_nothing():
    info = networkx.utils.backends.backend_info["headrace"]
    assert set(info["functions"]) == set(FUNCTIONS) >= {*CALLS, *OTHERS, *MADE}
    assert all(name in networkx.utils.backends._registered_algorithms for name in FUNCTIONS)
    code = "import sys, networkx; print([m for m in sys.modules if m.startswith('headrace')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
    assert "headrace" in networkx.pagerank.__wrapped__.__doc__


@pytest.mark.parametrize("name", sorted(CALLS))
def test_same_as_networkx(name):
    ran = sum(compare(graph.copy(), name, seed) for seed, graph in cases())
    assert ran


@pytest.mark.parametrize("kind", ["Graph", "DiGraph", "MultiGraph", "MultiDiGraph"])
def test_conversion_keeps_order_and_edges(kind):
    graph = getattr(networkx, kind)()
    graph.add_nodes_from(["z", 3, (1, 2), 1.5])
    graph.add_edges_from([(3, "z"), ("z", "z"), ("z", (1, 2)), ((1, 2), 3), (3, "z")], w=2)
    rows = backend.convert_from_nx(graph, edge_attrs={"w": 1})
    assert list(rows) == list(graph) and len(rows) == 4 and "z" in rows and [] not in rows
    offsets, targets = rows.adjacency
    for i, node in enumerate(graph):
        assert list(rows.named(targets[offsets[i] : offsets[i + 1]])) == list(graph._adj[node])
    assert rows.number_of_edges() == graph.number_of_edges()
    assert sum(rows.edge_arrays("w")[2].tolist()) == graph.size("w")
    assert backend.convert_to_nx(rows) is graph
    backwards = rows.backward
    offsets, targets = backwards.adjacency
    before = graph._pred if graph.is_directed() else graph._adj
    assert list(backwards.named(targets[: offsets[1]])) == list(before["z"])
    with pytest.raises(AttributeError, match="add_edge"):
        rows.add_edge(1, 2)


def test_views_and_other_dicts_are_read():
    graph = networkx.path_graph(6)
    part = graph.subgraph([1, 2, 4])
    assert networkx.number_connected_components(part, backend="headrace") == 2
    assert list(networkx.bfs_edges(part, 2, backend="headrace")) == [(2, 1)]
    directed = networkx.DiGraph([(0, 1), (1, 2)])
    view = networkx.reverse_view(directed)
    assert list(networkx.bfs_edges(view, 2, backend="headrace")) == [(2, 1), (1, 0)]


@pytest.mark.parametrize("value", ["far", None, np.int64(3), 2**60, float("nan"), float("inf")])
def test_what_is_no_number_is_left_to_networkx(value):
    graph = networkx.Graph([(0, 1, {"weight": value})])
    with pytest.raises(NotImplementedError):
        networkx.pagerank(graph, backend="headrace")
    if value is not None:
        assert list(networkx.bfs_edges(graph, 0, backend="headrace")) == [(0, 1)]


def test_negative_weights_and_functions():
    graph = networkx.Graph([(0, 1, {"weight": 5}), (1, 2, {"weight": -3}), (0, 2, {"weight": 1})])
    with pytest.raises(ValueError, match="Contradictory paths found"):
        networkx.single_source_dijkstra(graph, 0, backend="headrace")
    assert networkx.is_negatively_weighted(graph, backend="headrace")
    with pytest.raises(NotImplementedError):
        networkx.dijkstra_path(graph, 0, 1, weight=lambda *_: 1, backend="headrace")


@pytest.mark.parametrize("name", [n for n in sorted(CALLS) if "bellman_ford" in n])
def test_negative_weights_as_in_networkx(name):
    ran = 0
    for seed, graph in enumerate(random_graphs(60, 12, weighted=True, directed=True)):
        chosen = random.Random(seed)
        for *_, data in graph.edges(data=True):
            data["weight"] -= chosen.choice([2, 4, 5])
        ran += compare(named(graph, seed), name, seed)
    assert ran


def test_a_conversion_is_kept_until_the_graph_changes():
    graph = networkx.path_graph(5)
    networkx.number_connected_components(graph, backend="headrace")
    (kept,) = graph.__networkx_cache__["backends"]["headrace"].values()
    networkx.triangles(graph, backend="headrace")
    assert [*graph.__networkx_cache__["backends"]["headrace"].values()] == [kept]
    graph.add_node(9)
    assert networkx.number_connected_components(graph, backend="headrace") == 2


def test_priority_takes_large_graphs_only():
    calls = []
    original = FUNCTIONS["pagerank"]
    FUNCTIONS["pagerank"] = lambda *a, **k: calls.append(1) or original(*a, **k)
    try:
        with networkx.config(backend_priority=["headrace"]):
            networkx.pagerank(networkx.path_graph(10))
            assert not calls
            networkx.pagerank(networkx.path_graph(2000))
            assert calls
            assert networkx.clustering(networkx.path_graph(2000, networkx.DiGraph))[0] == 0
            listed = str(hr.fallbacks())
            assert "networkx.clustering" in listed and "directed" in listed
    finally:
        FUNCTIONS["pagerank"] = original


def test_graphs_of_ours_run_without_conversion():
    graph = hr.graph.Graph([("a", "b"), ("b", "c")])
    assert networkx.number_connected_components(graph) == 1
    assert set(networkx.pagerank(graph)) == {"a", "b", "c"}
    assert networkx.shortest_path_length.__name__ and list(networkx.bfs_edges(graph, "a")) == [
        ("a", "b"),
        ("b", "c"),
    ]


def test_eigenvectors_are_near_networkxs():
    for seed, graph in enumerate(random_graphs(30, 5, weighted=True)):
        graph = named(graph, seed)
        for name, options in (
            ("eigenvector_centrality", {"max_iter": 5000, "tol": 1e-12}),
            ("katz_centrality", {"alpha": 0.01, "tol": 1e-12, "weight": "weight"}),
        ):
            function = getattr(networkx, name)
            try:
                theirs = function(graph, **options)
            except networkx.PowerIterationFailedConvergence:
                with pytest.raises(networkx.PowerIterationFailedConvergence):
                    function(graph, **options, backend="headrace")
                continue
            ours = function(graph, **options, backend="headrace")
            assert list(ours) == list(theirs)
            assert list(ours.values()) == pytest.approx(list(theirs.values()), abs=1e-9)


@pytest.mark.parametrize("name", MADE)
def test_made_graphs_are_networkxs_and_run_here(name):
    given = {
        "complete_bipartite_graph": (3, 4),
        "from_dict_of_lists": ({0: [1], 1: [0, 2]},),
        "from_edgelist": ([(0, 1), (1, 2)],),
        "from_numpy_array": (np.eye(4),),
        "grid_2d_graph": (3, 4),
        "karate_club_graph": (),
        "les_miserables_graph": (),
    }.get(name, (5,))
    make = getattr(networkx, name)
    graph, theirs = make(*given, backend="headrace"), make(*given)
    assert graph.__networkx_backend__ == "headrace"
    assert shown(backend.convert_to_nx(graph)) == shown(theirs)
    assert shown(networkx.pagerank(graph)) == shown(networkx.pagerank(theirs))
    assert networkx.number_of_isolates(networkx.complement(graph, backend="headrace")) >= 0


def test_matchings_weigh_what_networkxs_do():
    for seed, graph in enumerate(random_graphs(40, 14, directed=False, weighted=True)):
        graph = named(graph, seed)
        for most in (False, True):
            ours, theirs = (
                networkx.max_weight_matching(graph, most, **options)
                for options in ({"backend": "headrace"}, {})
            )
            assert networkx.is_matching(graph, ours) and (len(ours) == len(theirs) or not most)
            assert sum(graph.edges[e]["weight"] for e in ours) == pytest.approx(
                sum(graph.edges[e]["weight"] for e in theirs)
            )


def test_places_and_other_names():
    graph = networkx.karate_club_graph()
    places = networkx.forceatlas2_layout(graph, seed=4, dim=3, backend="headrace")
    assert list(places) == list(graph) and all(p.shape == (3,) for p in places.values())
    again = networkx.forceatlas2_layout(graph, seed=4, dim=3, backend="headrace")
    assert all((places[v] == again[v]).all() for v in graph)
    names = {v: f"member {v}" for v in graph}
    ours = networkx.relabel_nodes(graph, names, backend="headrace")
    assert shown(backend.convert_to_nx(ours)) == shown(networkx.relabel_nodes(graph, names))
    women = networkx.davis_southern_women_graph()
    top = women.graph["top"]
    ours, theirs = (
        networkx.bipartite.biadjacency_matrix(women, top, **options)
        for options in ({"backend": "headrace"}, {})
    )
    assert ours.sum(axis=1).tolist() == theirs.sum(axis=1).tolist()


def test_strict_refuses_what_networkx_would_do():
    directed = networkx.gn_graph(2000, seed=1)
    with networkx.config(backend_priority=["headrace"]), hr.strict():
        assert networkx.number_weakly_connected_components(directed) == 1
        with pytest.raises(hr.Error, match="triangles of directed edges"):
            networkx.clustering(directed)
        directed.add_edge(0, 1, weight="far")
        with pytest.raises(hr.Error, match=r"networkx\."):
            networkx.pagerank(directed)


def test_a_check_finds_changes_behind_a_conversion(monkeypatch):
    graph = networkx.path_graph(30)
    networkx.set_edge_attributes(graph, 1.0, "weight")
    before = networkx.pagerank(graph, backend="headrace")
    graph[3][4]["weight"] = 9.0
    assert networkx.pagerank(graph, backend="headrace") == before  # NetworkX warns of it
    monkeypatch.setenv("HEADRACE_NETWORKX_CHECK", "1")
    with pytest.raises(hr.Error, match="changed behind its conversion"):
        networkx.pagerank(graph, backend="headrace")
    graph.__networkx_cache__.clear()
    assert networkx.pagerank(graph, backend="headrace") != before


def test_communities_are_partitions_and_good():
    for seed, graph in enumerate(random_graphs(30, 8, directed=False, weighted=True)):
        graph = named(graph, seed)
        for name in ("louvain_communities", "leiden_communities"):
            found = getattr(networkx.community, name)(graph, seed=1, backend="headrace")
            assert networkx.community.is_partition(graph, found)
            assert found == getattr(networkx.community, name)(graph, seed=1, backend="headrace")
            if not graph.number_of_edges():
                continue
            value = networkx.community.modularity(graph, found, backend="headrace")
            assert value == pytest.approx(networkx.community.modularity(graph, found), abs=1e-12)
            theirs = networkx.community.louvain_communities(graph, seed=1)
            assert value >= networkx.community.modularity(graph, theirs) - 0.01


def test_same_bits_for_any_number_of_threads():
    graph = networkx.gnm_random_graph(3000, 20000, seed=4)
    for i, (_, _, data) in enumerate(graph.edges(data=True)):
        data["weight"] = 1 + i % 7

    def run():
        graph.__networkx_cache__.clear()
        ranks = networkx.pagerank(graph, backend="headrace")
        lengths = networkx.single_source_dijkstra_path_length(graph, 0, backend="headrace")
        return [np.array(list(each.items())) for each in (ranks, lengths)]

    same_for_any_threads(run)
