# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's own tests under the accelerator: a sample of them passes."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
RUNNER = Path(__file__).resolve().parents[2] / "tools/run_sklearn_tests.py"


def test_a_sample_of_scikit_learns_tests_passes():
    targets = ["cluster/tests/test_dbscan.py"]
    run = subprocess.run(
        [sys.executable, str(RUNNER), *targets], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "100.00%" in run.stdout and "'dbscan':" in run.stdout
