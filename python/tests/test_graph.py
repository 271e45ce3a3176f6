# SPDX-License-Identifier: Apache-2.0
"""Graphs: what they are made of, and what they say of themselves, against NetworkX."""

import pickle

import numpy as np
import pandas as pd
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs, rmat, same_for_any_threads
from headrace.lazy.handle import array_of

import headrace as hr
from headrace.graph import changes

Graph = hr.graph.Graph


def pairs(frame):
    return list(zip(*(frame[name].to_list() for name in frame.columns[:2]), strict=True))


def undirected(edges):
    return {frozenset(edge) for edge in edges}


@pytest.mark.parametrize("multigraph", [False, True])
def test_is_networkx_graph(multigraph):
    for theirs in random_graphs(150, 1, multigraph=multigraph):
        ours = Graph(theirs)
        assert ours.number_of_nodes() == theirs.number_of_nodes()
        assert ours.number_of_edges() == theirs.number_of_edges()
        assert ours.is_directed() == theirs.is_directed()
        assert ours.is_multigraph() == multigraph
        assert by_vertex(ours.degree(), "degree") == dict(theirs.degree())
        if theirs.is_directed():
            assert by_vertex(ours.in_degree(), "in_degree") == dict(theirs.in_degree())
            assert by_vertex(ours.out_degree(), "out_degree") == dict(theirs.out_degree())
        found = pairs(ours.edges())
        expected = list(theirs.edges())
        if theirs.is_directed():
            assert sorted(found) == sorted(expected)
        else:
            assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
        for vertex in list(theirs)[:3]:
            assert ours.neighbors(vertex).to_list() == sorted(set(theirs.neighbors(vertex)))
        matrix = networkx.to_numpy_array(theirs, nodelist=sorted(theirs))
        assert (np.asarray(ours.to_scipy_sparse_array().todense()) == matrix).all()
        assert networkx.utils.graphs_equal(ours.to_networkx(), _sorted(theirs))


def _sorted(graph):
    """With vertices in order, and edges as they are."""
    made = type(graph)()
    made.add_nodes_from(sorted(graph))
    made.add_edges_from(graph.edges(data=True))
    return made


def test_atlas():
    for theirs in atlas():
        ours = Graph(theirs)
        assert by_vertex(ours.degree(), "degree") == dict(theirs.degree())
        expected = {}
        for number, part in enumerate(sorted(networkx.connected_components(theirs), key=min)):
            expected |= dict.fromkeys(part, number)
        assert by_vertex(hr.graph.connected_components(ours), "component") == expected
        expected = networkx.degree_centrality(theirs)
        assert by_vertex(hr.graph.degree_centrality(ours), "degree_centrality") == expected


def test_components_of_random_graphs():
    for theirs in random_graphs(200, 2):
        find = networkx.connected_components
        if theirs.is_directed():
            find = networkx.weakly_connected_components
        expected = {}
        for number, part in enumerate(sorted(find(theirs), key=min)):
            expected |= dict.fromkeys(part, number)
        assert by_vertex(Graph(theirs).connected_components(), "component") == expected


@pytest.mark.parametrize("directed", [False, True])
def test_large_graph_against_scipy(directed):
    sparse = pytest.importorskip("scipy.sparse")
    source, target = rmat(16, 4)
    frame = hr.DataFrame({"source": source, "target": target})
    ours = Graph(frame, directed=directed, nodes=1 << 16)
    ones = np.ones(len(source))
    theirs = sparse.csr_matrix((ones, (source, target)), shape=(1 << 16, 1 << 16))
    if not directed:
        theirs = theirs + theirs.T
    theirs.data[:] = 1
    theirs.sum_duplicates()
    theirs.data[:] = 1
    matrix = ours.to_scipy_sparse_array()
    assert (matrix != theirs).nnz == 0
    _, labels = sparse.csgraph.connected_components(theirs, directed=False)
    found = np.asarray(ours.connected_components().component)
    assert (found == labels).all()  # SciPy numbers by first vertex too
    assert ours.number_of_edges() == len(ours.edges())


def test_same_bits_for_any_threads():
    source, target = rmat(15, 8)
    frame = hr.DataFrame({"source": source, "target": target, "w": np.arange(len(source))})

    def run():
        made = []
        for options in ({"directed": True}, {}, {"weight": "w"}, {"multigraph": True}):
            graph = Graph(frame, **options)
            matrix = graph.adjacency(True)
            made += [matrix.indptr, matrix.indices, matrix.data]
            made += [graph.degree().degree, graph.connected_components().component]
        return made

    same_for_any_threads(run)


@pytest.mark.parametrize(
    "convert",
    [
        lambda a, b: hr.DataFrame({"x": a, "y": b}),
        lambda a, b: pd.DataFrame({"x": a, "y": b}),
        lambda a, b: pytest.importorskip("polars").DataFrame({"x": a, "y": b}),
        lambda a, b: pytest.importorskip("pyarrow").table({"x": a, "y": b}),
        lambda a, b: list(zip(a, b, strict=True)),
    ],
)
@pytest.mark.parametrize(
    "make", [int, str, float, lambda v: v * 10**15, lambda v: f"vertex {v:030}"]
)
def test_sources_and_ids(convert, make):
    a, b = [3, 1, 7, 3], [1, 7, 9, 9]
    source, target = [make(v) for v in a], [make(v) for v in b]
    graph = Graph(convert(source, target))
    assert graph.nodes().vertex.to_list() == sorted({*source, *target})
    assert pairs(graph.edges()) == list(zip(source, target, strict=True))
    assert graph.degree(make(9)) == 2
    assert graph.has_edge(make(9), make(3)) and not graph.has_edge(make(1), make(9))
    assert not graph.has_node(make(2))


def test_ids_of_other_dtypes():
    days = pd.to_datetime(["2024-01-02", "2023-05-06", "2024-01-02"])
    graph = Graph(pd.DataFrame({"a": days, "b": days[[1, 2, 1]]}))
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (2, 1)
    kinds = pd.Series(["b", "a", "b"], dtype="category")
    graph = Graph(pd.DataFrame({"a": kinds, "b": ["c", "b", "a"]}))
    assert graph.nodes().vertex.to_list() == ["a", "b", "c"]
    small = np.array([250, 3], np.uint8), np.array([-5, 3], np.int16)
    graph = Graph(hr.DataFrame({"a": small[0], "b": small[1]}))
    assert graph.nodes().vertex.to_list() == [-5, 3, 250]
    large = np.array([2**64 - 1, 5], np.uint64)
    assert Graph(hr.DataFrame({"a": large, "b": large})).has_node(2**64 - 1)


def test_ids_of_several_columns():
    frame = hr.DataFrame(
        {"host": ["a", "b", "a"], "port": [1, 1, 2], "to": ["b", "a", "a"], "at": [1, 2, 1]}
    )
    graph = Graph(frame, source=["host", "port"], target=["to", "at"])
    assert graph.nodes().columns == ["vertex_0", "vertex_1"]
    assert pairs(graph.nodes()) == [("a", 1), ("a", 2), ("b", 1)]
    assert graph.degree(("a", 2)) == 2
    with pytest.raises(hr.InvalidArgumentError, match=r"degree.*\('a', 3\)"):
        graph.degree(("a", 3))


def test_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[0, 2.0, 0], [0, 0, 3.0], [0, 0, 5.0]])
    for matrix in (sparse.csr_matrix(dense), sparse.coo_array(dense), hr.tensor.csr_matrix(dense)):
        graph = Graph(matrix, directed=True)
        assert (graph.number_of_nodes(), graph.number_of_edges()) == (3, 3)
        assert (graph.adjacency(True).toarray().to_numpy() == dense).all()
    with pytest.raises(hr.InvalidArgumentError, match="square"):
        Graph(sparse.csr_matrix(np.ones((2, 3))))


def test_igraph():
    igraph = pytest.importorskip("igraph")
    theirs = igraph.Graph.Famous("Zachary")
    ours = Graph(theirs)
    assert ours.degree().degree.to_list() == theirs.degree()
    back = ours.to_igraph()
    assert back.get_edgelist() == theirs.get_edgelist()


@pytest.mark.parametrize(
    ("rule", "weights"),
    [("last", [3, 4]), ("first", [1, 4]), ("sum", [6, 4]), ("min", [1, 4]), ("max", [3, 4])],
)
def test_duplicates(rule, weights):
    frame = hr.DataFrame({"a": ["x", "y", "x", "z"], "b": ["y", "x", "y", "x"], "w": [1, 2, 3, 4]})
    graph = Graph(frame, weight="w", duplicates=rule)
    assert sorted(graph.edges().w.to_list()) == sorted(weights)
    assert graph.number_of_edges() == 2
    matrix = graph.adjacency(True).toarray().to_numpy()
    assert matrix[0].tolist() == [0, *weights]
    assert (matrix == matrix.T).all()


def test_edges_that_repeat_and_ids_of_several_widths():
    ends = np.array([1, 2, 1], np.int32), np.array([2, 1, 3], np.int32)
    graph = Graph(hr.DataFrame({"a": ends[0], "b": ends[1]}), nodes=[2**40, 1])
    assert pairs(graph.edges()) == [(2, 1), (1, 3)]
    assert str(graph.nodes().vertex.dtype) == "int64"


def test_duplicates_are_an_error():
    with pytest.raises(hr.InvalidArgumentError, match="more=1"):
        Graph([(0, 1), (1, 0)], duplicates="error")
    assert Graph([(0, 1), (1, 0)], duplicates="error", directed=True).number_of_edges() == 2


def test_lone_vertices():
    assert Graph([(0, 1)], nodes=5).degree().degree.to_list() == [1, 1, 0, 0, 0]
    assert Graph([("a", "b")], nodes=["z", "a"]).nodes().vertex.to_list() == ["a", "b", "z"]
    assert Graph(nodes=3).number_of_nodes() == 3
    empty = Graph()
    assert (len(empty), empty.number_of_edges(), len(empty.degree())) == (0, 0, 0)
    assert len(empty.connected_components()) == 0
    with pytest.raises(hr.InvalidArgumentError, match="nodes=2"):
        Graph([(0, 5)], nodes=2)


def test_attributes():
    nodes = hr.DataFrame({"id": [2, 0, 1], "kind": ["x", "y", "x"]})
    edges = hr.DataFrame(
        {"a": [0, 1, 0], "b": [1, 2, 3], "w": [1.5, 2.5, 3.5], "k": ["p", "q", "p"]}
    )
    graph = Graph(edges, weight="w", edge_attr=["k"], nodes=nodes, vertex="id")
    assert graph.nodes().kind.to_list() == ["y", "x", "x", None]
    assert graph.nodes(kind="x").vertex.to_list() == [1, 2]
    assert graph.edges(k=["p"]).b.to_list() == [1, 3]
    # Attributes are in the rows of results.
    both = graph.degree().assign(kind=graph.nodes().kind)
    assert both.degree.to_list() == [2, 2, 1, 1]
    part = graph.subgraph(graph.nodes().kind == "x")
    assert (part.number_of_nodes(), part.edges().w.to_list()) == (2, [2.5])
    assert part.nodes().kind.to_list() == ["x", "x"]
    part = graph.edge_subgraph(graph.edges().k == "p")
    assert part.nodes().vertex.to_list() == [0, 1, 3]
    with pytest.raises(hr.ColumnNotFoundError, match="colour"):
        graph.edges(colour="red")


def test_other_graphs():
    graph = Graph(hr.DataFrame({"a": [0, 1, 2], "b": [1, 2, 2], "w": [1, 2, 3]}), weight="w")
    assert graph.to_directed().number_of_edges() == 5
    assert graph.to_directed().to_undirected().number_of_edges() == 3
    directed = Graph([(0, 1), (1, 2)], directed=True)
    assert directed.reverse().has_edge(2, 1) and not directed.reverse().has_edge(1, 2)
    more = directed.add_edges([(2, 3)])
    assert (len(more), len(directed)) == (4, 3)
    again = pickle.loads(pickle.dumps(graph))
    assert (again.adjacency(True).toarray() == graph.adjacency(True).toarray()).all()
    assert "3 vertices, 3 edges" in repr(graph) and "<table" in graph._repr_html_()


def test_two_sides():
    likes = hr.DataFrame({"user": [1, 1, 2, 1], "item": [1, 2, 2, 1], "w": [1, 2, 3, 4]})
    graph = Graph.from_bipartite(likes, "user", "item", weight="w")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (4, 3)
    assert graph.is_bipartite() and graph.has_edge(("user", 1), ("item", 1))
    assert not graph.has_edge(("user", 1), ("user", 2))
    assert len(graph.hopcroft_karp_matching()) == 2
    assert graph.edges()[["user", "item", "w"]].to_dict("list") == {
        "user": [1, 2, 1],
        "item": [2, 2, 1],
        "w": [2, 3, 4],
    }
    mixed = Graph.from_bipartite(likes.assign(item=["a", "b", "b", "a"]), multigraph=True)
    assert mixed.nodes().vertex_1.to_list() == ["a", "b", "1", "2"]
    assert mixed.number_of_edges() == 4
    with pytest.raises(hr.InvalidArgumentError, match="one column for both sides: source='user'"):
        Graph.from_bipartite(likes, "user", "user")


def test_one_plan():
    names = hr.DataFrame({"vertex": [0, 1, 2, 3], "name": ["a", "b", "c", "d"]})
    graph = Graph([(0, 1), (1, 2), (2, 0), (2, 3)])
    found = graph.degree_centrality().merge(names, on="vertex")
    assert found.sort_values("degree_centrality", ascending=False).name.head(1).to_list() == ["c"]
    both = graph.degree().assign(component=graph.connected_components().component)
    assert both.component.to_list() == [0] * 4
    assert graph.degree(vertices := [3, 0]).degree.to_list() == [1, 2] and len(vertices) == 2


@pytest.mark.parametrize(
    ("edges", "options", "error", "text"),
    [
        ({"a": [1.0, None], "b": [1.0, 2.0]}, {}, hr.InvalidArgumentError, "row=1"),
        ({"a": ["x", None], "b": ["x", "y"]}, {}, hr.InvalidArgumentError, "row=1"),
        ({"a": [1, 2], "b": ["x", "y"]}, {}, hr.TypeMismatchError, "int64"),
        ({"a": [1], "b": [2], "w": ["x"]}, {"weight": "w"}, hr.TypeMismatchError, "weight='w'"),
        ({"a": [1, 3], "b": [2, 2], "w": [1.0, None]}, {"weight": "w"}, hr.Error, "missing=1"),
        ({"a": [1], "b": [2]}, {"source": "c"}, hr.ColumnNotFoundError, "source='c'"),
        ({"a": [1], "b": [2]}, {"duplicates": "any"}, hr.InvalidArgumentError, "'any'"),
        ({"a": [1]}, {}, hr.InvalidArgumentError, "columns"),
    ],
)
def test_errors(edges, options, error, text):
    with pytest.raises(error, match=text):
        Graph(hr.DataFrame(edges), **options)


def test_no_such_vertex():
    graph = Graph([(0, 1), (2, 3)])
    for asked in (99, 1.5, "a", -1, None, 2**70):
        assert not graph.has_node(asked), asked
    halves = Graph(hr.DataFrame({"a": [1.5], "b": [2.5]}))
    assert halves.has_node(1.5) and not halves.has_node(float("nan"))
    with pytest.raises(
        hr.InvalidArgumentError, match="vertex=99; the graph has 4 vertices, 0 to 3"
    ):
        graph.degree(99)
    assert graph.degree(3) == 1


def test_same_bits_under_a_limit(memory_room):
    """A graph and its edges are larger than the limit: what is not used is on the disk."""
    edges = hr.graph.rmat(16, 16, seed=1)

    def run():
        graph = Graph(edges, directed=True)
        start = graph.nodes().vertex.iloc[[5]].to_list()
        return [
            np.asarray(each).tobytes()
            for each in (
                graph.in_degree().in_degree,
                graph.pagerank().pagerank,
                graph.connected_components().component,
                graph.bfs(start[0]).distance.fill_null(-1),
            )
        ]

    expected = run()
    with memory_room("12MB"):
        assert run() == expected


def test_edges_that_no_disk_could_hold(memory_room):
    edges = hr.graph.rmat(31, 465, seed=1)
    with memory_room("64MB"), pytest.raises(hr.OutOfMemoryError, match=r"rmat.*requested=8\.0 TB"):
        hr.eval(edges)
    assert len(hr.graph.rmat(4, 2, seed=1)) == 32


def test_counts_of_vertices(memory_room):
    for count in (-1, np.int64(-5)):
        with pytest.raises(hr.InvalidArgumentError, match=f"negative number of .*nodes={count}"):
            Graph(nodes=count)
    with pytest.raises(hr.UnsupportedError, match="nodes=8589934592"):
        Graph(nodes=2**33)
    with memory_room("64MB"), pytest.raises(hr.OutOfMemoryError):
        Graph(nodes=2**30)
    assert Graph(nodes=np.int32(4)).nodes().vertex.to_list() == [0, 1, 2, 3]
    with pytest.raises(hr.InvalidArgumentError, match="nodes=2"):
        Graph([(0, 5)], nodes=np.int64(2))


def test_hypergraph():
    frame = hr.DataFrame({"user": ["ann", "bob", None], "ip": [7, 7, 8], "site": ["x", "y", "x"]})
    graph = hr.graph.hypergraph(frame)
    assert (len(graph), graph.number_of_edges()) == (9, 8)
    assert graph.neighbors("ip::7").to_list() == ["event_id::0", "event_id::1"]
    assert graph.edges(edge_type="user").target.to_list() == ["user::ann", "user::bob"]
    direct = hr.graph.hypergraph(frame, ["user", "ip", "site"], direct=True)
    assert direct.nodes().vertex.to_list() == [
        *("ip::7", "ip::8", "site::x", "site::y", "user::ann", "user::bob")
    ]
    assert direct.number_of_edges() == 7 and direct.edges(
        edge_type="user::ip"
    ).target.to_list() == [*("ip::7", "ip::7")]
    assert len(hr.graph.hypergraph(frame[:0])) == 0
    with pytest.raises(hr.ColumnNotFoundError, match="hypergraph: no such column: columns='z'"):
        hr.graph.hypergraph(frame, ["z"])
    with pytest.raises(hr.InvalidArgumentError, match="too few columns"):
        hr.graph.hypergraph(frame, ["ip"], direct=True)


def test_updates():
    random = np.random.default_rng(8)
    for graph in random_graphs(80, 61, weighted=True):
        ours = Graph(graph)
        ids = sorted(graph)
        pairs = random.choice(ids, (4, 2)).tolist()
        more = hr.DataFrame(
            {"source": [u for u, _ in pairs], "target": [v + 90 for _, v in pairs], "weight": 2.0}
        )
        bigger = ours.add_edges(more[[*ours.edges().columns]])
        theirs = graph.copy()
        theirs.add_edges_from((u, v + 90) for u, v in pairs)
        assert bigger.nodes().vertex.to_list() == sorted(theirs)
        assert bigger.number_of_edges() == theirs.number_of_edges()
        theirs = graph.copy()
        theirs.remove_edges_from(pairs)
        smaller = ours.remove_edges([*pairs, (ids[0], 10**6)])
        assert smaller.nodes().vertex.to_list() == ids
        found = smaller.to_networkx()
        assert networkx.utils.edges_equal(found.edges, theirs.edges, directed=graph.is_directed())
        theirs.remove_nodes_from(pairs[0])
        smaller = smaller.remove_nodes(pairs[0])
        assert smaller.nodes().vertex.to_list() == sorted(theirs)
        assert smaller.number_of_edges() == theirs.number_of_edges()
    with pytest.raises(hr.InvalidArgumentError, match="remove_nodes: no such vertex: vertex=9"):
        Graph([(0, 1)]).remove_nodes([9])


def same_graph(ours, expected):
    assert ours.nodes().to_dict("list") == expected.nodes().to_dict("list")
    assert ours.edges().to_dict("list") == expected.edges().to_dict("list")
    for a, b in zip(ours._graph.entries()[:2], expected._graph.entries()[:2], strict=True):
        assert (array_of(a).to_numpy() == array_of(b).to_numpy()).all()


def test_many_changes_without_a_look(monkeypatch):
    """What a graph of all edges is, whether changes wait or are built anew when there are many."""
    random = np.random.default_rng(4)
    start = random.integers(0, 50, (60, 2))
    steps = [random.integers(0, 70, (3, 2)) for _ in range(40)]
    for short in (changes.SHORT, 10):
        monkeypatch.setattr(changes, "SHORT", short)
        for options in ({}, {"directed": True}, {"multigraph": True}, {"duplicates": "first"}):
            ours, left = Graph(start, **options), start
            for at, step in enumerate(steps):
                ours = ours.add_edges(step)
                left = np.concatenate([left, step])
                if at % 3 == 0:
                    ours = ours.remove_edges(left[::9])
                    gone = {tuple(row) for row in left[::9].tolist()}
                    gone |= set() if options.get("directed") else {row[::-1] for row in gone}
                    left = np.array([row for row in left.tolist() if tuple(row) not in gone])
            every = np.unique(np.concatenate([start, *steps]))
            same_graph(ours, Graph(left, nodes=every.tolist(), **options))


def test_changes_of_all_kinds_of_graphs():
    frame = hr.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"], "c": [1, 2, 2], "d": ["y"] * 3})
    keys = {"source": ["a", "b"], "target": ["c", "d"]}
    more = hr.DataFrame({"a": [0], "b": ["z"], "c": [2], "d": ["x"]})
    ours = Graph(frame, **keys).add_edges(more).remove_edges(hr.DataFrame([(1, "x", 1, "y")]))
    every = hr.concat([frame[1:], more], ignore_index=True)
    same_graph(ours, Graph(every, nodes=[(1, "x")], **keys))
    # Ids of another dtype, weights that are added up, a graph without vertices: built anew.
    small = Graph(hr.DataFrame({"a": np.array([1], np.int8), "b": np.array([2], np.int8)}))
    assert small.add_edges(hr.DataFrame({"a": [300], "b": [2]})).nodes().vertex.to_list() == [
        *(1, 2, 300)
    ]
    table = hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 2.0]})
    total = Graph(table, weight="w", duplicates="sum").add_edges(table[:1])
    assert sorted(total.edges().w.to_list()) == [2.0, 2.0]
    assert total.remove_edges([(1, 0)]).edges().w.to_list() == [2.0]
    assert Graph().add_edges(hr.DataFrame({"source": [3], "target": [4]})).has_edge(4, 3)
    assert Graph().add_nodes([7]).remove_nodes([7]).number_of_nodes() == 0
    with pytest.raises(hr.InvalidArgumentError, match="a missing value names no vertex"):
        Graph([("a", "b")]).add_edges([("a", None), ("a", "c")])
    with pytest.raises(hr.InvalidArgumentError, match="missing weights"):
        Graph(table, weight="w").add_edges(table.assign(w=[None, 1.0]))
    floats = Graph([(0.5, 1.5)]).remove_edges([(0.5, float("nan")), (1.5, 0.5)])
    assert floats.number_of_edges() == 0 and len(floats) == 2


def test_attributes_after_changes():
    people = hr.DataFrame({"id": [0, 1, 2], "age": [10, 20, 30]})
    graph = Graph([(0, 1), (1, 2)], nodes=people)
    later = graph.add_nodes(hr.DataFrame({"id": [1, 5], "age": [21, 50]})).remove_nodes([0])
    later = later.add_edges([(0, 5)])
    found = later.nodes()
    assert found.vertex.to_list() == [0, 1, 2, 5]
    assert [None if pd.isna(a) else a for a in found.age.to_list()] == [None, 21, 30, 50]
    both = found.assign(degree=later.degree().degree)
    assert both.degree.to_list() == [1, 1, 1, 1]
    again = pickle.loads(pickle.dumps(later))
    assert again.nodes(age=50).vertex.to_list() == [5]
    assert graph.nodes().age.to_list() == [10, 20, 30]


def test_changes_have_the_same_bits_for_any_threads():
    source, target = rmat(15, 8)
    frame = hr.DataFrame({"a": source, "b": target, "w": np.arange(len(source))})

    def run():
        graph = Graph(frame, weight="w").add_edges(frame[:500].assign(b=frame.b[:500] + 7))
        graph = graph.remove_edges(frame[["a", "b"]][100:300]).add_nodes([10**6])
        graph = graph.remove_nodes(graph.nodes().vertex.to_list()[5:50])
        matrix = graph.adjacency(True)
        return [matrix.indptr, matrix.indices, matrix.data, graph.edges().w]

    same_for_any_threads(run)


@pytest.mark.parametrize("directed", [True, False])
def test_a_graph_of_twice_the_limit(directed):
    """Vectors of the vertices stay, rows stream: ranks and components have the same bits."""
    edges = hr.graph.rmat(13, 64, seed=1)
    hr.eval(edges)

    def run():
        graph = Graph(edges, directed=directed)
        ranks, parts = graph.pagerank().pagerank, graph.connected_components().component
        return graph, [np.asarray(each).tobytes() for each in (ranks, parts)]

    graph, expected = run()
    limit = 4 * graph.number_of_edges()  # half of its rows by source and by target
    del graph
    for room in (limit, 2 * limit):
        with hr.memory.limit(hr.memory.stats().used_bytes + room):
            assert run()[1] == expected


def test_the_peak_of_a_build():
    """Edges, both their directions, and as much again while these are sorted."""
    edges = hr.graph.rmat(16, 16, seed=2)
    hr.eval(edges)
    count = len(edges)
    for directed, most in ((True, 24), (False, 42)):
        counted = hr.memory.StatisticsAdaptor()
        with hr.memory.use_resource(counted):
            Graph(edges, directed=directed)
        assert 16 * count < counted.read().peak_bytes < most * count
