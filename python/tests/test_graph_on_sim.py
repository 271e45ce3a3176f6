# SPDX-License-Identifier: Apache-2.0
"""Graphs of frames on a simulated device: what the host works on is brought to it."""

import numpy as np
import pytest

import headrace as hr
from headrace import _core


@pytest.fixture(autouse=True)
def device(monkeypatch):
    monkeypatch.setenv("HEADRACE_DEVICE", "sim:limit=256MB,latency=0us")
    _core.clear_fallbacks()


WORDS = {
    "approx_weighted_matching": {},
    "bfs": {"source": 1},
    "betweenness_centrality": {},
    "connected_components": {},
    "core_number": {},
    "jaccard": {"weight": "weight", "top_k": 3},
    "k_truss": {"k": 3},
    "leiden": {"weight": "weight"},
    "max_weight_matching": {},
    "maximal_matching": {},
    "maximum_spanning_edges": {},
    "minimum_spanning_edges": {},
    "minimum_spanning_tree": {},
    "pagerank": {},
    "shortest_path_length": {"source": 1, "weight": "weight"},
    "triangle_count": {},
}


@pytest.mark.parametrize("word", sorted(WORDS))
def test_frames_of_a_device(word):
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 40, (2, 300))
    ends = ends[:, ends[0] != ends[1]]
    frame = hr.DataFrame(
        {"source": ends[0], "target": ends[1], "weight": rng.integers(1, 9, ends.shape[1]) / 2}
    )
    expected = _rows(getattr(hr.graph, word)(hr.graph.Graph(frame, weight="weight"), **WORDS[word]))
    graph = hr.graph.Graph(frame.to("sim"), weight="weight")
    moved = hr.graph.Graph(frame, weight="weight").to("sim")
    for each in (graph, moved):
        assert _rows(getattr(hr.graph, word)(each, **WORDS[word])) == expected


def _rows(found):
    frame = found.edges() if isinstance(found, hr.graph.Graph) else found
    return {name: frame[name].to_list() for name in frame.columns}


def test_flow():
    frame = hr.DataFrame({"source": [0, 0, 1, 2], "target": [1, 2, 3, 3], "capacity": [3, 2, 2, 3]})
    for each in (frame, frame.to("sim")):
        graph = hr.graph.Graph(each, directed=True, edge_attr=["capacity"])
        assert hr.graph.maximum_flow(graph, 0, 3, capacity="capacity")[0] == 4
