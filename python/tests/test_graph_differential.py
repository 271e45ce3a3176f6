# SPDX-License-Identifier: Apache-2.0
"""Random graphs of all kinds: every algorithm that has one answer gives NetworkX's and igraph's.

Run as a program for more graphs: ``python test_graph_differential.py 100000 [seed]``. Each graph is
judged by `JUDGED` of the checks, which chance picks.
"""

from __future__ import annotations

import collections
import itertools
import math
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from graphs import by_vertex, networkx

import headrace as hr

igraph = pytest.importorskip("igraph")

JUDGED = 6  # checks a graph
SECONDS = 8.0  # of the test
CHECKS: dict[str, tuple[Callable[[Any], None], dict[str, bool]]] = {}


def check(**kinds: bool) -> Callable[[Callable[[Any], None]], Callable[[Any], None]]:
    """A check of graphs that are ``directed``, ``several``, ``loops``, ``weighted``, or are not."""

    def put(function: Callable[[Any], None]) -> Callable[[Any], None]:
        CHECKS[function.__name__] = function, kinds
        return function

    return put


# ---- graphs --------------------------------------------------------------------------------------
def _shape(rng: random.Random, n: int) -> list[tuple[int, int]]:
    """Edges of a graph with some structure."""
    every = range(n)
    kind = rng.choice(["chance", "chance", "hubs", "tree", "path", "cycle", "star", "sides", "all"])
    if kind == "tree":
        return [(rng.randrange(v), v) for v in every if v]
    if kind in ("path", "cycle"):
        return [(v, (v + 1) % n) for v in range(n if kind == "cycle" else n - 1)]
    if kind == "star":
        return [(0, v) for v in every if v]
    if kind == "all" and n <= 14:
        return list(itertools.combinations(every, 2))
    count = rng.randrange(3 * n + 1)
    if kind == "sides" and n > 1:
        half = rng.randrange(1, n)
        return [(rng.randrange(half), rng.randrange(half, n)) for _ in range(count)]
    power = 3.0 if kind == "hubs" else 1.0
    return [(int(rng.random() ** power * n), int(rng.random() ** power * n)) for _ in range(count)]


def _names(rng: random.Random, n: int) -> list[Any]:
    """Ids of vertices, in no order."""
    kind = rng.choice(["counted", "wide", "beyond", "text"])
    if kind == "counted":
        return rng.sample(range(n), n)
    if kind == "text":
        length = rng.choice([0, 30])
        return [f"{'a vertex'[: rng.randrange(9)]}{v:0{length}}" for v in rng.sample(range(n), n)]
    least, most = (-(2**62), 2**62) if kind == "wide" else (2**63, 2**64 - 1)
    made: set[int] = set()
    while len(made) < n:
        made.add(rng.randrange(least, most))
    return list(made)


class World:
    """A graph of ours, of NetworkX and of igraph."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = random.Random(seed)
        n = rng.choice([1, 2, 3, 5, rng.randrange(4, 20), rng.randrange(10, 61)])
        self.directed, self.several = rng.random() < 0.5, rng.random() < 0.3
        edges = _shape(rng, n)
        if rng.random() < 0.6:
            edges = [edge for edge in edges if edge[0] != edge[1]]
        elif rng.random() < 0.5:
            edges += [(v, v) for v in rng.sample(range(n), rng.randrange(n + 1))]
        if self.several:
            edges += [rng.choice(edges) for _ in range(rng.randrange(n + 1)) if edges]
        edges = [edge if rng.random() < 0.6 else edge[::-1] for edge in edges]
        rng.shuffle(edges)
        ids = _names(rng, n)
        self.weighted = bool(edges) and rng.random() < 0.6
        draw = rng.choice(
            [lambda: rng.randrange(1, 4), lambda: rng.randrange(0, 400) / 4 + 0.25, rng.random]
        )
        weights = [draw() + 2**-10 for _ in edges]  # sums are exact: ties are ties
        kind = ("Multi" if self.several else "") + ("Di" if self.directed else "")
        self.theirs = getattr(networkx, f"{kind}Graph")()
        self.theirs.add_nodes_from(ids)
        for (u, v), weight in zip(edges, weights, strict=True):
            self.theirs.add_edge(ids[u], ids[v], **({"weight": weight} if self.weighted else {}))
        dtype = "str" if isinstance(ids[0], str) else "uint64" if max(ids) >= 2**63 else "int64"
        columns = {
            "source": hr.Series([ids[u] for u, _ in edges], dtype=dtype),
            "target": hr.Series([ids[v] for _, v in edges], dtype=dtype),
        }
        if self.weighted:
            columns["weight"] = hr.Series(weights, dtype="float64")
        self.frame = hr.DataFrame(columns)
        self.nodes = hr.Series(ids, dtype=dtype)
        self.ours = hr.graph.Graph(
            self.frame,
            weight="weight" if self.weighted else None,
            nodes=self.nodes,
            directed=self.directed,
            multigraph=self.several,
        )
        self.ids = sorted(ids)
        self.numbers = {v: i for i, v in enumerate(self.ids)}
        listed = list(self.theirs.edges(data=True))
        self.ends = [(self.numbers[u], self.numbers[v]) for u, v, _ in listed]
        self.weights = [data.get("weight", 1.0) for *_, data in listed]
        self.igraph = igraph.Graph(n, self.ends, directed=self.directed)
        self.loops = any(u == v for u, v in self.ends)

    @property
    def weight(self) -> str | None:
        return "weight" if self.weighted else None

    @property
    def of_igraph(self) -> list[float] | None:
        return self.weights if self.weighted else None

    def one(self) -> Any:
        return self.rng.choice(self.ids)

    def simple(self) -> Any:
        """NetworkX's graph without directions, weights and repeated edges."""
        return networkx.Graph(self.theirs.edges()) if self.ends else networkx.Graph()

    def suits(self, kinds: dict[str, bool]) -> bool:
        return all(getattr(self, word) == value for word, value in kinds.items())


def near(found: Any, expected: Any, least: float = 1e-12) -> None:
    np.testing.assert_allclose(
        np.array(found, float), np.array(expected, float), rtol=1e-9, atol=least
    )


def listed(frame: Any, column: str) -> list[Any]:
    return list(frame[column].to_list())


def by_ids(world: World, values: dict[Any, Any]) -> list[Any]:
    return [values[v] for v in world.ids]


def groups(labels: list[int]) -> list[int]:
    """Labels numbered by the first vertex that has each."""
    number: dict[int, int] = {}
    return [number.setdefault(label, len(number)) for label in labels]


def ends_of(frame: Any, directed: bool) -> collections.Counter[Any]:
    rows = zip(listed(frame, "source"), listed(frame, "target"), strict=True)
    return collections.Counter((u, v) if directed else frozenset((u, v)) for u, v in rows)


def ends_in(graph: Any) -> collections.Counter[Any]:
    return collections.Counter(
        (u, v) if graph.is_directed() else frozenset((u, v)) for u, v in graph.edges()
    )


# ---- what there is -------------------------------------------------------------------------------
@check()
def structure(w: World) -> None:
    assert listed(w.ours.nodes(), "vertex") == w.ids
    assert w.ours.number_of_edges() == w.theirs.number_of_edges() == len(w.ours.edges())
    assert ends_of(w.ours.edges(), w.directed) == ends_in(w.theirs)
    assert by_vertex(w.ours.degree(), "degree") == dict(w.theirs.degree())
    assert listed(w.ours.degree(), "degree") == w.igraph.degree()
    if w.directed:
        assert listed(w.ours.in_degree(), "in_degree") == w.igraph.indegree()
        assert listed(w.ours.out_degree(), "out_degree") == w.igraph.outdegree()
    u, v = w.one(), w.one()
    assert w.ours.has_edge(u, v) == w.theirs.has_edge(u, v)
    assert w.ours.neighbors(u).to_list() == sorted(set(w.theirs.neighbors(u)))
    expected = by_ids(w, networkx.degree_centrality(w.theirs))
    near(listed(w.ours.degree_centrality(), "degree_centrality"), expected)


@check()
def matrices(w: World) -> None:
    expected = networkx.to_numpy_array(w.theirs, nodelist=w.ids)
    near(w.ours.to_scipy_sparse_array().toarray(), expected)


@check()
def round_trips(w: World) -> None:
    back = w.ours.to_networkx()
    assert set(back) == set(w.theirs) and ends_in(back) == ends_in(w.theirs)
    there = w.ours.to_igraph()
    assert there.vs["name"] == w.ids and there.degree() == w.igraph.degree()
    again = hr.graph.Graph(back)
    assert listed(again.degree(), "degree") == w.igraph.degree()


@check()
def parts(w: World) -> None:
    some = w.rng.sample(w.ids, w.rng.randrange(1, len(w.ids) + 1))
    part = w.ours.subgraph(some)
    assert listed(part.nodes(), "vertex") == sorted(some)
    assert ends_of(part.edges(), w.directed) == ends_in(w.theirs.subgraph(some))
    if w.directed:
        turned = w.ours.reverse().to_networkx()
        assert ends_in(turned) == ends_in(w.theirs.reverse())
        if not w.several:  # NetworkX keeps one of both directions of a multigraph
            assert ends_in(w.ours.to_undirected().to_networkx()) == ends_in(
                w.theirs.to_undirected()
            )
    else:
        assert ends_in(w.ours.to_directed().to_networkx()) == ends_in(w.theirs.to_directed())
    radius = w.rng.randrange(4)
    center = w.one()
    made = w.ours.ego_graph(center, radius).to_networkx()
    expected = networkx.ego_graph(w.theirs, center, radius)
    assert set(made) == set(expected) and ends_in(made) == ends_in(expected)


# ---- changes -------------------------------------------------------------------------------------
class Program:
    """Changes of a graph, done to a list of edges too."""

    def __init__(self, w: World) -> None:
        self.w, self.rng, self.graph = w, w.rng, w.ours
        self.ids = set(w.ids)
        self.edges: list[tuple[Any, ...]] = []
        rows = zip(*(listed(w.frame, name) for name in w.frame.columns), strict=True)
        self.first = not w.several and w.rng.random() < 0.2
        if self.first:
            self.graph = hr.graph.Graph(
                w.frame,
                weight=w.weight,
                nodes=w.nodes,
                directed=w.directed,
                duplicates="first",
            )
        self.add(list(rows))
        self.fresh = [v for v in _names(w.rng, 80) if type(v) is type(w.ids[0])]
        if str(w.nodes.dtype) == "int64":
            self.fresh = [v for v in self.fresh if v < 2**63]
        elif str(w.nodes.dtype) == "uint64":
            self.fresh = [v for v in self.fresh if v >= 0]

    def pair(self, edge: tuple[Any, ...]) -> Any:
        return edge[:2] if self.w.directed else frozenset(edge[:2])

    def one(self) -> Any:
        if self.fresh and self.rng.random() < 0.15:
            return self.rng.choice(self.fresh)
        return self.rng.choice(sorted(self.ids)) if self.ids else self.rng.choice(self.w.ids)

    def frame(self, rows: list[tuple[Any, ...]], names: list[str]) -> Any:
        dtypes = [str(self.w.nodes.dtype)] * 2 + ["float64"]
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        return hr.DataFrame(
            {
                name: hr.Series(list(values), dtype=dtype)
                for name, values, dtype in zip(names, columns, dtypes, strict=False)
            }
        )

    def add(self, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            self.ids |= set(row[:2])
            there = [e for e in self.edges if self.pair(e) == self.pair(row)]
            if there and self.first:
                continue
            if not self.w.several:
                self.edges = [e for e in self.edges if e not in there]
            self.edges.append(row)

    def step(self) -> None:
        kind = self.rng.randrange(7)
        some = range(self.rng.randrange(1, 4))
        if kind < 3:
            weight = [(self.rng.randrange(1, 9) / 4,)] if self.w.weighted else [()]
            rows = [(self.one(), self.one(), *weight[0]) for _ in some]
            self.add(rows)
            self.graph = self.graph.add_edges(self.frame(rows, list(self.w.frame.columns)))
        elif kind < 5:
            pairs = [self.rng.choice(self.edges)[:2] for _ in some if self.edges]
            pairs = [pair if self.rng.random() < 0.5 else pair[::-1] for pair in pairs]
            pairs.append((self.one(), self.one()))
            gone = {self.pair(pair) for pair in pairs}
            self.edges = [e for e in self.edges if self.pair(e) not in gone]
            self.graph = self.graph.remove_edges(self.frame(pairs, ["a", "b"]))
        elif kind == 5:
            more = [self.one() for _ in some]
            self.ids |= set(more)
            self.graph = self.graph.add_nodes(self.frame([(v,) for v in more], ["vertex"]))
        elif self.ids:
            gone = set(self.rng.sample(sorted(self.ids), min(len(self.ids), 1)))
            self.ids -= gone
            self.edges = [e for e in self.edges if not gone & set(e[:2])]
            self.graph = self.graph.remove_nodes(sorted(gone))

    def judge(self) -> None:
        graph, w = self.graph, self.w
        assert listed(graph.nodes(), "vertex") == sorted(self.ids)
        columns = (listed(graph.edges(), name) for name in w.frame.columns)
        assert list(zip(*columns, strict=True)) == self.edges
        anew = hr.graph.Graph(
            self.frame(self.edges, list(w.frame.columns)),
            weight=w.weight,
            nodes=self.frame([(v,) for v in self.ids], ["vertex"]),
            directed=w.directed,
            multigraph=w.several,
        )
        assert graph.number_of_edges() == anew.number_of_edges() == len(self.edges)
        assert graph._graph.num_self_loops == anew._graph.num_self_loops
        ours, theirs = (each.adjacency(w.weight) for each in (graph, anew))
        for name in ("indptr", "indices", "data"):
            assert (np.asarray(getattr(ours, name)) == np.asarray(getattr(theirs, name))).all()
        expected = listed(anew.connected_components(), "component")
        assert listed(graph.connected_components(), "component") == expected


@check()
def changes(w: World) -> None:
    program = Program(w)
    for _ in range(w.rng.randrange(1, 12)):
        program.step()
        if w.rng.random() < 0.3:
            program.judge()
    program.judge()


# ---- searches ------------------------------------------------------------------------------------
@check()
def components(w: World) -> None:
    found = listed(w.ours.connected_components(), "component")
    assert found == groups(w.igraph.connected_components("weak").membership)
    find = networkx.weakly_connected_components if w.directed else networkx.connected_components
    assert max(found) + 1 == sum(1 for _ in find(w.theirs))


@check(directed=True)
def strong_components(w: World) -> None:
    found = listed(w.ours.strongly_connected_components(), "component")
    assert found == groups(w.igraph.connected_components("strong").membership)
    assert max(found) + 1 == networkx.number_strongly_connected_components(w.theirs)
    made = w.ours.condensation()
    expected = networkx.condensation(w.theirs)
    assert made.number_of_nodes() == len(expected)
    assert made.number_of_edges() == expected.number_of_edges()


@check(directed=True)
def order(w: World) -> None:
    is_ordered = networkx.is_directed_acyclic_graph(w.theirs)
    assert w.ours.is_directed_acyclic_graph() == is_ordered == w.igraph.is_dag()
    if not is_ordered:
        return
    found = by_vertex(w.ours.topological_generations(), "generation")
    for number, generation in enumerate(networkx.topological_generations(w.theirs)):
        assert all(found[v] == number for v in generation)
    place = {v: i for i, v in enumerate(listed(w.ours.topological_sort(), "vertex"))}
    assert all(place[u] < place[v] for u, v in w.theirs.edges())


@check()
def searches(w: World) -> None:
    sources = w.rng.sample(w.ids, min(len(w.ids), 3))
    many = np.array(w.ours.bfs(sources).distance.fill_null(-1)).reshape(len(sources), -1)
    rows = w.igraph.distances([w.numbers[v] for v in sources], mode="out")
    assert (many == np.where(np.isinf(rows), -1, rows)).all()
    limit = w.rng.randrange(4)
    found = w.ours.bfs(sources[0], limit)
    levels = networkx.single_source_shortest_path_length(w.theirs, sources[0], limit)
    assert by_vertex(found, "distance") == {v: levels.get(v) for v in w.ids}


@check()
def paths(w: World) -> None:
    source, target = w.one(), w.one()
    found = w.ours.shortest_path_length(source, weight=w.weight)
    lengths = networkx.single_source_dijkstra_path_length(w.theirs, source, weight="weight")
    ours = by_vertex(found, "distance")
    assert {v for v, d in ours.items() if d is not None} == set(lengths)
    near([ours[v] for v in lengths], list(lengths.values()))
    row = w.igraph.distances(w.numbers[source], weights=w.of_igraph, mode="out")[0]
    near([math.inf if d is None else d for d in by_ids(w, ours)], row)
    if target in lengths:
        path = w.ours.shortest_path(source, target, weight=w.weight)
        vertices = listed(path, "vertex")
        assert vertices[0] == source and vertices[-1] == target
        assert networkx.is_path(w.theirs, vertices)
        near(listed(path, "distance")[-1:], [lengths[target]])


@check(weighted=True, directed=True)
def negative_paths(w: World) -> None:
    # Lengths that sum up to what they were along every cycle.
    height = {v: w.rng.randrange(9) for v in w.ids}
    lowered = w.rng.choice([0.0, 0.0, 2.0])
    change = [
        height[u] - height[v] - lowered
        for u, v in zip(listed(w.frame, "source"), listed(w.frame, "target"), strict=True)
    ]
    frame = w.frame.assign(weight=w.frame.weight + hr.Series(change, dtype="float64"))
    theirs = networkx.MultiDiGraph() if w.several else networkx.DiGraph()
    theirs.add_nodes_from(w.theirs)
    columns = (listed(frame, name) for name in ("source", "target", "weight"))
    theirs.add_weighted_edges_from(zip(*columns, strict=True))
    graph = hr.graph.Graph(
        frame, weight="weight", nodes=w.nodes, directed=True, multigraph=w.several
    )
    source = w.one()
    try:
        lengths = networkx.single_source_bellman_ford_path_length(theirs, source)
    except networkx.NetworkXUnbounded:
        with pytest.raises(hr.InvalidArgumentError, match="negative length"):
            graph.bellman_ford(source).distance.to_list()
        return
    ours = by_vertex(graph.bellman_ford(source), "distance")
    assert {v for v, d in ours.items() if d is not None} == set(lengths)
    near([ours[v] for v in lengths], list(lengths.values()), 1e-9)


@check()
def flows(w: World) -> None:
    if len(w.ids) < 2 or w.several:
        return
    s, t = w.rng.sample(w.ids, 2)
    theirs = w.theirs
    networkx.set_edge_attributes(theirs, 1.0, "weight") if not w.weighted else None
    edges = w.ours.edges()
    if not w.weighted:
        edges = edges.assign(weight=hr.Series([1.0] * len(edges), dtype="float64"))
    graph = hr.graph.Graph(edges, weight="weight", nodes=w.nodes, directed=w.directed)
    value, _ = graph.maximum_flow(s, t, "weight")
    near([value], [networkx.maximum_flow_value(theirs, s, t, "weight")])
    if not w.weighted:
        networkx.remove_edge_attributes(theirs, "weight")
    near([value], [w.igraph.maxflow_value(w.numbers[s], w.numbers[t], w.weights)])
    cut, sides = graph.minimum_cut(s, t, "weight")
    near([cut], [value])
    assert sorted(listed(sides[0], "vertex") + listed(sides[1], "vertex")) == w.ids


# ---- density -------------------------------------------------------------------------------------
@check(loops=False, several=False)
def cores(w: World) -> None:
    found = listed(w.ours.core_number(), "core")
    assert found == by_ids(w, networkx.core_number(w.theirs)) == w.igraph.coreness()
    if w.directed:
        return
    k = w.rng.randrange(5)
    assert set(w.ours.k_core(k).to_networkx()) == set(networkx.k_core(w.theirs, k))
    for k in (3, w.rng.randrange(6)):
        ours, theirs = w.ours.k_truss(k), networkx.k_truss(w.theirs, k)
        assert listed(ours.nodes(), "vertex") == sorted(theirs)
        assert ends_of(ours.edges(), False) == ends_in(theirs)


@check(directed=False, several=False)
def triangles(w: World) -> None:
    found = listed(w.ours.triangle_count(), "count")
    assert found == by_ids(w, networkx.triangles(w.theirs))
    near(listed(w.ours.clustering(), "clustering"), by_ids(w, networkx.clustering(w.theirs)))
    near([w.ours.transitivity()], [networkx.transitivity(w.theirs)])
    near([w.ours.average_clustering()], [networkx.average_clustering(w.theirs)])
    if not w.loops:
        assert sum(found) == 3 * len(w.igraph.cliques(3, 3))
        near([w.ours.transitivity()], [w.igraph.transitivity_undirected("zero")])
        support = w.ours.edge_support()
        rows = zip(*(listed(support, n) for n in ("source", "target", "support")), strict=True)
        for u, v, common in rows:
            assert common == len(set(w.theirs[u]) & set(w.theirs[v]))


@check(directed=False, several=False, loops=False)
def similarity(w: World) -> None:
    pairs = [(w.one(), w.one()) for _ in range(10)]
    frame = hr.DataFrame({"a": [u for u, _ in pairs], "b": [v for _, v in pairs]})
    frame = frame.assign(**{n: frame[n].astype(str(w.nodes.dtype)) for n in ("a", "b")})
    found = listed(w.ours.jaccard(frame), "jaccard")
    near(found, [p for *_, p in networkx.jaccard_coefficient(w.theirs, pairs)])
    numbered = [(w.numbers[u], w.numbers[v]) for u, v in pairs]
    theirs = w.igraph.similarity_jaccard(pairs=numbered, loops=False)
    lonely = [u == v and not w.theirs[u] for u, v in pairs]  # 1 in igraph
    near(found, [0.0 if alone else each for each, alone in zip(theirs, lonely, strict=True)])
    theirs = w.igraph.similarity_dice(pairs=numbered, loops=False)
    found = listed(w.ours.sorensen(frame), "sorensen")
    near(found, [0.0 if alone else each for each, alone in zip(theirs, lonely, strict=True)])
    near_of = {v: set(w.theirs[v]) for v in w.ids}
    least = [min(len(near_of[u]), len(near_of[v])) for u, v in pairs]
    common = [len(near_of[u] & near_of[v]) for u, v in pairs]
    wanted = [n / d if d else 0.0 for n, d in zip(common, least, strict=True)]
    near(listed(w.ours.overlap(frame), "overlap"), wanted)
    two = w.ours.two_hop_neighbors()
    rows = list(zip(*(listed(two, n) for n in ("first", "second", "common")), strict=True))
    assert rows == [
        (u, v, len(near_of[u] & near_of[v]))
        for u, v in itertools.combinations(w.ids, 2)
        if near_of[u] & near_of[v]
    ]


# ---- trees, matchings ----------------------------------------------------------------------------
@check(directed=False)
def spanning(w: World) -> None:
    for way in ("minimum", "maximum"):
        found = getattr(w.ours, f"{way}_spanning_edges")(weight=w.weight)
        theirs = getattr(networkx, f"{way}_spanning_tree")(w.theirs)
        assert len(found) == theirs.number_of_edges()
        if w.weighted:
            near([sum(listed(found, "weight"))], [theirs.size("weight")])
    least = w.ours.minimum_spanning_edges(weight=w.weight)
    tree = w.igraph.spanning_tree(w.weights, return_tree=False)
    assert len(least) == len(tree)
    if w.weighted:
        near([sum(listed(least, "weight"))], [sum(w.weights[e] for e in tree)])


def _is_matching(w: World, frame: Any) -> int:
    ends = [*listed(frame, "source"), *listed(frame, "target")]
    assert len(ends) == len(set(ends))
    assert all(each in ends_in(w.theirs) for each in ends_of(frame, False))
    return len(frame)


@check(directed=False, several=False)
def matchings(w: World) -> None:
    greedy = w.ours.maximal_matching()
    most = networkx.max_weight_matching(w.simple(), maxcardinality=True)
    count = _is_matching(w, greedy)
    assert len(most) / 2 <= count <= len(most)
    taken = {*listed(greedy, "source"), *listed(greedy, "target")}
    assert all(u == v or u in taken or v in taken for u, v in w.theirs.edges())
    is_bipartite = w.ours.is_bipartite()
    assert is_bipartite == networkx.is_bipartite(w.theirs)
    assert is_bipartite == w.igraph.is_bipartite()
    if is_bipartite:
        assert _is_matching(w, w.ours.hopcroft_karp_matching()) == len(most)
        color = by_vertex(w.ours.bipartite_color(), "color")
        assert all(color[u] != color[v] for u, v in w.theirs.edges())
    if w.weighted:
        for most in (True, False):
            heavy = networkx.max_weight_matching(w.theirs, most)
            total = sum(w.theirs[u][v]["weight"] for u, v in heavy)
            best = w.ours.max_weight_matching(most)
            assert _is_matching(w, best) == len(heavy) or not most
            near([sum(listed(best, "weight"))], [total])
        found = sum(listed(w.ours.approx_weighted_matching(), "weight"))
        _is_matching(w, w.ours.approx_weighted_matching())
        assert total / 2 - 1e-9 <= found <= total + 1e-9


@check(directed=False, several=False)
def projections(w: World) -> None:
    if not networkx.is_bipartite(w.theirs):
        return
    color = networkx.bipartite.color(w.theirs)
    side = [v for v in w.ids if color[v] == 1]
    if not side or len(side) == len(w.ids):
        return
    ours = w.ours.weighted_projected_graph(side)
    theirs = networkx.bipartite.weighted_projected_graph(w.theirs, side)
    assert set(listed(ours.nodes(), "vertex")) == set(theirs)
    assert ends_of(ours.edges(), False) == ends_in(theirs)
    near([sum(listed(ours.edges(), "weight"))], [theirs.size("weight")])


# ---- ranks ---------------------------------------------------------------------------------------
@check()
def ranks(w: World) -> None:
    alpha = w.rng.choice([0.1, 0.85])
    personal = {w.one(): 2.0, w.one(): 1.0} if w.rng.random() < 0.4 else None
    found = w.ours.pagerank(alpha, personal, 2000, 1e-14, weight=w.weight)
    ours = listed(found, "pagerank")
    theirs = networkx.pagerank(w.theirs, alpha, personal, 2000, 1e-14)
    near(ours, by_ids(w, theirs), 1e-11)
    if personal is None and (w.directed or not w.loops):
        near(ours, w.igraph.pagerank(damping=alpha, weights=w.of_igraph), 1e-9)


@check()
def powers(w: World) -> None:
    matrix = networkx.to_numpy_array(w.theirs, nodelist=w.ids)
    alpha = 0.5 / max(np.abs(matrix).sum(axis=0).max(), 1e-3)
    solved = np.linalg.solve(np.eye(len(matrix)) - alpha * matrix.T, np.ones(len(matrix)))
    found = w.ours.katz_centrality(alpha, 1.0, 5000, 1e-14, weight=w.weight)
    near(listed(found, "katz_centrality"), solved / np.linalg.norm(solved), 1e-9)


@check()
def between(w: World) -> None:
    ends = w.rng.random() < 0.5
    found = listed(w.ours.betweenness_centrality(endpoints=ends, weight=w.weight), "betweenness")
    theirs = networkx.betweenness_centrality(w.theirs, endpoints=ends, weight=w.weight)
    near(found, by_ids(w, theirs), 1e-11)
    if not w.several:
        plain = w.ours.betweenness_centrality(normalized=False, weight=w.weight)
        near(
            listed(plain, "betweenness"),
            w.igraph.betweenness(directed=w.directed, weights=w.of_igraph),
            1e-9,
        )
        edges = w.ours.edge_betweenness_centrality(weight=w.weight)
        rows = zip(*(listed(edges, n) for n in ("source", "target", "betweenness")), strict=True)
        theirs = networkx.edge_betweenness_centrality(w.theirs, weight=w.weight)
        for u, v, value in rows:
            near([value], [theirs[u, v] if (u, v) in theirs else theirs[v, u]], 1e-11)


@check()
def closeness(w: World) -> None:
    found = w.ours.closeness_centrality(distance=w.weight)
    theirs = networkx.closeness_centrality(w.theirs, distance=w.weight)
    near(listed(found, "closeness_centrality"), by_ids(w, theirs))
    found = w.ours.harmonic_centrality(distance=w.weight)
    theirs = networkx.harmonic_centrality(w.theirs, distance=w.weight)
    near(listed(found, "harmonic_centrality"), by_ids(w, theirs))
    mean = w.igraph.harmonic_centrality(mode="in", weights=w.of_igraph)
    if len(w.ids) > 1:
        near(listed(found, "harmonic_centrality"), np.array(mean) * (len(w.ids) - 1))


# ---- communities ---------------------------------------------------------------------------------
@check(directed=False)
def communities(w: World) -> None:
    if not w.ends:
        return
    label = {v: w.rng.randrange(3) for v in w.ids}
    given = [{v for v in w.ids if label[v] == k} for k in sorted(set(label.values()))]
    resolution = w.rng.choice([1, 0.5])
    found = w.ours.modularity([sorted(g) for g in given], w.weight, resolution)
    theirs = networkx.community.modularity(w.theirs, given, resolution=resolution)
    near([found], [theirs])
    numbers = groups([label[v] for v in w.ids])
    near([found], [w.igraph.modularity(numbers, weights=w.of_igraph, resolution=resolution)], 1e-11)
    for way in ("louvain", "leiden"):
        labels = listed(getattr(w.ours, way)(weight=w.weight), "community")
        assert labels == groups(labels)
        parts = [[v for v, k in zip(w.ids, labels, strict=True) if k == c] for c in set(labels)]
        if way == "leiden":
            assert all(networkx.is_connected(w.theirs.subgraph(part)) for part in parts)


# ---- running -------------------------------------------------------------------------------------
def judge(seed: int, names: list[str] | None = None) -> int:
    """Judge one graph; how many checks it was."""
    world = World(seed)
    suited = [n for n in names or CHECKS if world.suits(CHECKS[n][1])]
    chosen = suited if names else world.rng.sample(suited, min(JUDGED, len(suited)))
    for name in chosen:
        try:
            CHECKS[name][0](world)
        except Exception as error:
            told = " ".join(str(error).split())[:600]
            raise AssertionError(f"{name}: {type(error).__name__}: {told}") from error
    return len(chosen)


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_each_check(name: str) -> None:
    assert sum(judge(seed, [name]) for seed in range(25))


def test_random_graphs() -> None:
    end = time.perf_counter() + SECONDS
    for seed in itertools.count(10**6):
        judge(seed)
        if time.perf_counter() > end:
            break


def main() -> None:
    rounds, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    start, judged, different = time.perf_counter(), 0, 0
    for at in range(seed, seed + rounds):
        try:
            judged += judge(at)
        except AssertionError as error:
            different += 1
            print(f"graph {at}: {error}", flush=True)
        if (at + 1 - seed) % 1000 == 0 or at + 1 == seed + rounds:
            took = time.perf_counter() - start
            print(
                f"graphs {seed} to {at}: {judged} results of {len(CHECKS)} checks compared, "
                f"{different} graphs differ, {took:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
