# SPDX-License-Identifier: Apache-2.0
"""NetworkX's own tests through the backend: those of the functions that are ours pass."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("networkx")
RUNNER = Path(__file__).resolve().parents[2] / "tools/run_networkx_tests.py"
TESTS = """
    centrality/tests/test_betweenness_centrality.py centrality/tests/test_closeness_centrality.py
    centrality/tests/test_degree_centrality.py centrality/tests/test_eigenvector_centrality.py
    centrality/tests/test_harmonic_centrality.py centrality/tests/test_katz_centrality.py
    community/tests/test_louvain.py community/tests/test_quality.py components/tests
    shortest_paths/tests
    bipartite/tests/test_matrix.py link_analysis/tests tests/test_link_prediction.py
    tests/test_lowest_common_ancestors.py tests/test_matching.py tree/tests/test_mst.py
    tests/test_cluster.py tests/test_core.py tests/test_isolate.py tests/test_reciprocity.py
    traversal/tests/test_bfs.py tree/tests/test_recognition.py
"""


def test_networkx_tests_pass_through_the_backend():
    targets = [f"algorithms/{each}" for each in TESTS.split()]
    run = subprocess.run(
        [sys.executable, str(RUNNER), *targets], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "open 0" in run.stdout and "'pagerank':" in run.stdout
