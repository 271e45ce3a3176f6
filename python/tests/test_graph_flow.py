# SPDX-License-Identifier: Apache-2.0
"""Flows, paths of negative lengths and neighbourhoods against NetworkX."""

import numpy as np
import pytest
from graphs import atlas, by_vertex, networkx, random_graphs

import headrace as hr

Graph = hr.graph.Graph


def with_column(theirs, name, draw):
    for *_, data in theirs.edges(data=True):
        data[name] = draw()
    return theirs


def check_flow(theirs, s, t):
    """The value of NetworkX, conserved at each vertex, within what edges carry; its cut."""
    graph = Graph(theirs, edge_attr=["capacity"])
    value, flow = graph.maximum_flow(s, t)
    expected = networkx.maximum_flow_value(theirs, s, t)
    assert value == pytest.approx(expected)
    balance = dict.fromkeys(theirs, 0.0)
    capacities = graph.edges().capacity.to_list()
    rows = zip(*(flow[name].to_list() for name in flow.columns), capacities, strict=True)
    for u, v, along, capacity in rows:
        assert (0 if theirs.is_directed() else -capacity) <= along <= capacity
        balance[u] -= along
        balance[v] += along
    assert balance.pop(t) == pytest.approx(value) and -balance.pop(s) == pytest.approx(value)
    assert all(abs(left) < 1e-9 for left in balance.values())
    value, sides = graph.minimum_cut(s, t)
    expected, parts = networkx.minimum_cut(theirs, s, t)
    assert value == pytest.approx(expected)
    assert [set(side.vertex.to_list()) for side in sides] == list(parts)


def test_flows_of_random_graphs():
    random = np.random.default_rng(3)
    for theirs in random_graphs(150, 12):
        if len(theirs) < 2 or not theirs.size():
            continue
        whole = bool(random.integers(2))
        with_column(
            theirs,
            "capacity",
            lambda w=whole: float(random.integers(0, 9)) if w else random.random(),
        )
        s, t = random.permutation(len(theirs))[:2].tolist()
        check_flow(theirs, s, t)


def test_flows_of_the_atlas():
    for theirs in atlas():
        if theirs.size():
            with_column(theirs, "capacity", lambda: 1.0)
            check_flow(theirs, 0, len(theirs) - 1)


def test_flow_without_limits():
    edges = hr.DataFrame({"a": [0, 1, 0], "b": [1, 2, 2], "capacity": [np.inf, 2.5, np.inf]})
    graph = Graph(edges, edge_attr="capacity", directed=True)
    with pytest.raises(hr.InvalidArgumentError, match="without a limit"):
        graph.maximum_flow(0, 2)
    value, flow = graph.maximum_flow(1, 2)
    assert value == 2.5 and flow.flow.to_list() == [0, 2.5, 0]
    several = Graph(edges.iloc[[1, 1]], edge_attr="capacity", directed=True, multigraph=True)
    assert several.maximum_flow(1, 2)[1].flow.to_list() == [2.5, 2.5]
    assert several.maximum_flow(2, 1)[0] == 0
    both = graph.edges().assign(flow=flow.flow)
    assert both[both.flow > 0].a.to_list() == [1]
    for call, text in (
        (lambda: graph.maximum_flow(0, 0), "the same: s=0"),
        (lambda: graph.maximum_flow(0, 9), "t=9"),
        (lambda: graph.minimum_cut(0, 2, True), "no capacity"),
        (
            lambda: Graph(edges.assign(capacity=-1.0), weight="capacity").maximum_flow(0, 2, True),
            "negative",
        ),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=text):
            call()
    with pytest.raises(hr.ColumnNotFoundError, match="weight='room'"):
        graph.maximum_flow(0, 2, "room")


def check_bellman_ford(theirs, source):
    graph = Graph(theirs)
    try:
        lengths = networkx.single_source_bellman_ford_path_length(theirs, source)
    except networkx.NetworkXUnbounded:
        with pytest.raises(hr.InvalidArgumentError, match="negative length"):
            graph.bellman_ford(source).distance.to_list()
        return False
    found = graph.bellman_ford(source)
    assert by_vertex(found, "distance") == {v: lengths.get(v) for v in sorted(theirs)}
    before = by_vertex(found, "predecessor")
    for v in lengths:
        steps, at = 0, v
        while at != source:
            last = before[at]
            edge = theirs.get_edge_data(last, at)
            several = edge.values() if theirs.is_multigraph() else [edge]
            assert lengths[at] in [lengths[last] + each["weight"] for each in several]
            at, steps = last, steps + 1
            assert steps < len(theirs)
    assert before[source] is None
    return True


@pytest.mark.parametrize("multigraph", [False, True])
def test_bellman_ford_of_random_graphs(multigraph):
    random = np.random.default_rng(4)
    kept = []
    for theirs in random_graphs(200, 13, multigraph=multigraph):
        if not theirs.size():
            continue
        height = random.integers(0, 9, len(theirs))  # lengths that sum up to 0 along cycles
        least = int(random.integers(-1, 2))
        for u, v, data in theirs.edges(data=True):
            step = float(height[u] - height[v]) if theirs.is_directed() else 0.0
            data["weight"] = step + float(random.integers(least, 5))
        kept.append(check_bellman_ford(theirs, int(random.integers(len(theirs)))))
    assert 0.2 < np.mean(kept) < 0.98


def test_bellman_ford_ends():
    # A long path of negative steps, and a faint cycle between heavy edges.
    n = 3000
    v = np.arange(n)
    path = hr.DataFrame({"a": v[:-1], "b": v[1:], "w": np.full(n - 1, -1.0)})
    found = Graph(path, weight="w", directed=True).bellman_ford(0)
    assert (found.distance.to_numpy() == -v).all()
    faint = hr.DataFrame({"a": [0, 1, 2, 3], "b": [1, 2, 1, 4], "w": [1e6, 1.0, -1.0 - 1e-9, 1.0]})
    graph = Graph(faint, weight="w", directed=True)
    with pytest.raises(hr.InvalidArgumentError, match="negative length"):
        graph.bellman_ford(0).distance.to_list()
    assert graph.bellman_ford(3).distance.to_list() == [None, None, None, 0.0, 1.0]
    with pytest.raises(hr.InvalidArgumentError, match="bellman_ford takes weights of any sign"):
        graph.shortest_path_length(0).distance.to_list()
    with pytest.raises(hr.InvalidArgumentError, match="no weights"):
        graph.bellman_ford(0, None)
    with pytest.raises(hr.InvalidArgumentError, match="source=9"):
        graph.bellman_ford(9)


def test_ego_graphs():
    random = np.random.default_rng(5)
    for theirs in random_graphs(100, 14, weighted=True):
        if not theirs.size():
            continue
        n = int(random.integers(len(theirs)))
        options = {
            "radius": int(random.integers(4)),
            "center": bool(random.integers(2)),
            "undirected": bool(random.integers(2)),
            "distance": ["weight", None][random.integers(2)],
        }
        made = Graph(theirs).ego_graph(n, **options).to_networkx()
        expected = networkx.ego_graph(theirs, n, **options)
        assert set(made) == set(expected)
        assert {frozenset(e) for e in made.edges()} == {frozenset(e) for e in expected.edges()}
    with pytest.raises(hr.InvalidArgumentError, match="source=9"):
        hr.graph.ego_graph([(0, 1)], 9)
