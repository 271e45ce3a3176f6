# SPDX-License-Identifier: Apache-2.0
"""Layouts: forces against their definition, quality, the same bits."""

import hashlib

import numpy as np
import pytest

import headrace as hr

networkx = pytest.importorskip("networkx")


def planted(vertices, groups, inside=16, between=1, seed=0):
    """Random edges, most of them within groups; and the group of each vertex."""
    rng = np.random.default_rng(seed)
    group = np.arange(vertices) % groups
    source = np.repeat(np.arange(vertices), inside)
    target = group[source] + groups * rng.integers(vertices // groups, size=len(source))
    far = rng.integers(vertices, size=(vertices * between, 2))
    edges = np.concatenate([np.column_stack([source, target]), far])
    return edges[edges[:, 0] != edges[:, 1]], group


def places_of(frame):
    return frame[["x", "y"]].to_numpy().astype(float)


def stress(graph, places):
    """How far distances are from those of shortest paths, at the best scale."""
    found = networkx.all_pairs_shortest_path_length(graph)
    paths = np.array([[far.get(v, np.nan) for v in graph] for _, far in found])
    pairs = np.triu_indices(len(paths), 1)
    apart = np.linalg.norm(places[pairs[0]] - places[pairs[1]], axis=1)
    wanted = paths[pairs]
    scale = (apart / wanted).sum() / ((apart / wanted) ** 2).sum()
    return float(((1 - scale * apart / wanted) ** 2).mean())


@pytest.mark.parametrize("method", ["force_atlas2", "spring"])
def test_two_vertices_settle_where_forces_are_even(method):
    found = hr.graph.layout(
        [(0, 1)], method, pos={0: (0.0, 0.0), 1: (1.0, 0.0)}, gravity=0, scale=None,
        iterations=1000, scaling_ratio=1,
    )  # fmt: skip
    apart = np.linalg.norm(np.diff(places_of(found), axis=0))
    # d = (1 + 1)^2 / d, and d^2 = 1 / d.
    assert apart == pytest.approx(2 if method == "force_atlas2" else 1, rel=1e-3)


def test_linlog_and_weights():
    pos = {0: (0.0, 0.0), 1: (1.0, 0.0)}
    edges = hr.DataFrame({"source": [0], "target": [1], "weight": [4.0]})
    graph = hr.graph.Graph(edges, weight="weight")
    options = {"pos": pos, "gravity": 0, "scale": None, "scaling_ratio": 1, "iterations": 2000}
    apart = np.diff(graph.layout(**options).x.to_numpy())[0]
    assert apart == pytest.approx(1, rel=1e-3)  # 4 d = 4 / d
    apart = np.diff(graph.layout(linlog=True, **options).x.to_numpy())[0]
    assert 4 * np.log1p(apart) == pytest.approx(4 / apart, rel=1e-3)
    apart = np.diff(graph.layout(weight=None, **options).x.to_numpy())[0]
    assert apart == pytest.approx(2, rel=1e-3)


@pytest.mark.parametrize(
    "graph",
    [networkx.path_graph(30), networkx.cycle_graph(40), networkx.grid_2d_graph(9, 9),
     networkx.karate_club_graph(), networkx.balanced_tree(3, 4)],
    ids=["path", "cycle", "grid", "club", "tree"],
)  # fmt: skip
def test_stress_is_as_low_as_networkx(graph):
    graph = networkx.convert_node_labels_to_integers(graph)
    ours = min(
        stress(graph, places_of(hr.graph.layout(graph, weight=None, random_state=s)))
        for s in range(3)
    )
    theirs = min(
        stress(graph, np.array(list(networkx.forceatlas2_layout(graph, seed=s).values())))
        for s in range(3)
    )
    assert ours < theirs * 1.25 + 0.01, (ours, theirs)


def test_planted_groups_separate():
    edges, group = planted(1500, 6)
    places = places_of(hr.graph.layout(edges, linlog=True))
    assert hr.learn.metrics.silhouette_score(places, group) > 0.3


def test_same_bits_for_any_threads():
    edges, _ = planted(3000, 20)
    made = {}
    for threads in (1, 2, 4):
        with hr.threads(threads):
            for method in ("force_atlas2", "spring"):
                found = hr.graph.layout(edges, method, iterations=20, random_state=7)
                digest = hashlib.sha256(places_of(found).tobytes()).hexdigest()
                assert made.setdefault(method, digest) == digest
    other = hr.graph.layout(edges, iterations=20, random_state=8)
    assert hashlib.sha256(places_of(other).tobytes()).hexdigest() != made["force_atlas2"]


@pytest.mark.parametrize("dim", [2, 3])
def test_shapes_scale_and_start(dim):
    edges, _ = planted(200, 4)
    graph = hr.graph.Graph(edges, nodes=205)  # five without edges
    found = graph.layout(dim=dim, scale=3)
    names = ["x", "y", "z"][:dim]
    assert list(found.columns) == ["vertex", *names]
    values = found[names].to_numpy()
    assert str(found.x.dtype) == "float32" and values.shape == (205, dim)
    assert np.abs(values).max() == pytest.approx(3, rel=1e-6)
    assert np.abs(values.mean(axis=0)).max() < 1e-5
    assert len(np.unique(values, axis=0)) == 205
    # Columns of several algorithms are in one row set.
    assert len(found.assign(rank=graph.pagerank().pagerank)) == 205
    kept = graph.layout(dim=dim, pos=found, iterations=0, scale=None)
    assert np.array_equal(kept[names].to_numpy(), values)
    some = graph.layout(dim=dim, scale=3, vertices=[7, 3])
    assert np.array_equal(some[names].to_numpy(), values[[7, 3]])


def test_directions_mean_nothing():
    edges = np.array([(0, 1), (1, 2), (2, 0), (2, 3), (3, 3)])
    one = hr.graph.layout(hr.graph.Graph(edges, directed=True))
    other = hr.graph.layout(hr.graph.Graph(edges))
    assert np.isfinite(places_of(one)).all()
    assert stress(networkx.Graph(edges[:4].tolist()), places_of(one)) == pytest.approx(
        stress(networkx.Graph(edges[:4].tolist()), places_of(other)), abs=0.05
    )
    weights = hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, 2.0]})
    assert len(hr.graph.Graph(weights, weight="w", directed=True).layout()) == 3


def test_few_vertices():
    assert len(hr.graph.layout(hr.graph.Graph())) == 0
    assert places_of(hr.graph.layout(hr.graph.Graph(nodes=1))).tolist() == [[0, 0]]
    alone = places_of(hr.graph.layout(hr.graph.Graph(nodes=50)))
    assert np.isfinite(alone).all() and len(np.unique(alone, axis=0)) == 50
    star = hr.graph.layout([(0, v) for v in range(1, 20_000)], iterations=20)
    assert np.isfinite(places_of(star)).all()


def test_errors():
    graph = hr.graph.Graph(
        hr.DataFrame({"a": [0, 1], "b": [1, 2], "w": [1.0, -1.0]}), weight="w"
    )  # fmt: skip
    for options, words in (
        ({"method": "kamada"}, "no such method: method='kamada'"),
        ({"method": "spring", "linlog": True}, "linlog=True"),
        ({"dim": 4}, "dim=4"),
        ({"iterations": -1}, "iterations=-1"),
        ({"scale": 0}, "scale=0"),
        ({"gravity": float("nan")}, "gravity=nan"),
        ({"random_state": -1}, "seed=-1"),
        ({"weight": None, "pos": {0: (0, 0)}}, "a vertex has no place: missing=2"),
        ({"weight": None, "pos": {9: (0, 0)}}, "no such vertex: pos=9"),
        ({"weight": None, "pos": {0: (0, 0, 0)}}, "expected 2 coordinates"),
    ):
        with pytest.raises(hr.InvalidArgumentError, match=words):
            graph.layout(**options)
    with pytest.raises(hr.InvalidArgumentError, match="negative"):
        hr.eval(graph.layout())
    with pytest.raises(hr.ColumnNotFoundError, match="weight='none'"):
        graph.layout(weight="none")
